#include "learning/models/synthetic.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "learning/models/problems.hpp"
#include "runtime/random.hpp"
#include "runtime/sentence.hpp"

namespace rubato {

namespace {

constexpr std::uint32_t detail = 1, test_detail = 3;  // 0 is where training starts, 2 where each client does

// `count` of the numbers below `bound`, all choices alike.
std::vector<std::uint32_t> draw_places(Stream& stream, std::uint32_t bound, std::uint32_t count) {
  std::vector<std::uint32_t> places(bound);
  std::iota(places.begin(), places.end(), 0u);
  for (std::uint32_t i = 0; i < count; ++i) std::swap(places[i], places[i + stream.below(bound - i)]);
  places.resize(count);
  return places;
}

// Rows of standard normal numbers, and for each what target(stream, <a, w>) says. In double: both precisions see the
// same samples to rounding.
template <class Real, class Target>
Examples<Real> draw_samples(std::uint64_t seed, ClientId client, std::uint32_t part, const Vector<Real>& solution,
                            std::uint32_t samples, const Target& target) {
  Stream stream(seed, client, Purpose::init, part);
  Matrix<Real> inputs(static_cast<Index>(samples), solution.size());
  Vector<Real> targets(inputs.rows());
  for (Index row = 0; row < inputs.rows(); ++row) {
    double product = 0;
    for (Index i = 0; i < inputs.cols(); ++i) {
      const double number = stream.normal();
      inputs(row, i) = static_cast<Real>(number);
      product += number * static_cast<double>(solution[i]);
    }
    targets[row] = static_cast<Real>(target(stream, product));
  }
  return {std::move(inputs), std::move(targets)};
}

}  // namespace

template <class Real>
Vector<Real> sparse_solution(std::uint64_t seed, Index dimension, double support) {
  if (dimension < 1 || !(support > 0 && support <= 1))
    refuse("data.dimension is ", dimension, " and data.support is ", std::to_string(support),
           "; allowed are whole numbers from 1 and shares in (0, 1]");
  const double wanted = std::round(support * static_cast<double>(dimension));
  Stream stream(seed, no_client, Purpose::init, detail);
  Vector<Real> solution = Vector<Real>::Zero(dimension);
  const auto count = static_cast<std::uint32_t>(std::max(wanted, 1.0));
  for (const std::uint32_t place : draw_places(stream, static_cast<std::uint32_t>(dimension), count)) {
    const double size = 0.5 + 1.5 * stream.uniform();
    solution[place] = static_cast<Real>(stream.below(2) == 0 ? size : -size);
  }
  return solution;
}

template <class Real>
std::unique_ptr<Learner<Real>> make_sparse_regression(std::uint64_t seed, ClientId client, const Vector<Real>& solution,
                                                      std::uint32_t samples, double noise, Real l2, std::uint32_t tests) {
  const auto target = [&](Stream& stream, double product) { return product + noise * stream.normal(); };
  Examples<Real> own = draw_samples(seed, client, detail, solution, samples, target);
  return make_least_squares<Real>(std::move(own.inputs), std::move(own.targets), l2,
                                  draw_samples(seed, client, test_detail, solution, tests, target));
}

template <class Real>
std::unique_ptr<Learner<Real>> make_sparse_classification(std::uint64_t seed, ClientId client, const Vector<Real>& solution,
                                                          std::uint32_t samples, Real l2, std::uint32_t tests) {
  const auto target = [](Stream& stream, double product) { return stream.uniform() < 1 / (1 + std::exp(-product)) ? 1.0 : 0.0; };
  Examples<Real> own = draw_samples(seed, client, detail, solution, samples, target);
  return make_logistic<Real>(std::move(own.inputs), std::move(own.targets), l2,
                             draw_samples(seed, client, test_detail, solution, tests, target));
}

#define RUBATO_INSTANTIATE(Real)                                                                                                  \
  template Vector<Real> sparse_solution(std::uint64_t, Index, double);                                                            \
  template std::unique_ptr<Learner<Real>> make_sparse_regression(std::uint64_t, ClientId, const Vector<Real>&, std::uint32_t,     \
                                                                 double, Real, std::uint32_t);                                    \
  template std::unique_ptr<Learner<Real>> make_sparse_classification(std::uint64_t, ClientId, const Vector<Real>&, std::uint32_t, \
                                                                     Real, std::uint32_t);
RUBATO_INSTANTIATE(float)
RUBATO_INSTANTIATE(double)
#undef RUBATO_INSTANTIATE

}  // namespace rubato
