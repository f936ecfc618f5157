// Tridiagonal quadratic losses, a worst case of gradient methods (docs/references.md#tridiagonal).  u_i: of client i, their sum is
// 0.
//   f_i(x) = 1/2 x^T A x + x_1/4 + <u_i, x>,  A = tridiag(-1, 2, -1)/4      gradient: A x + e_1/4 + u_i + noise e, e standard
//   normal
// Largest eigenvalue of A below 1. The gradient without noise is of the loss; the mean of all losses is least at x_j = j/(d + 1)
// - 1.
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "learning/models/problems.hpp"

namespace rubato {

namespace {

template <class Real>
class Tridiagonal final : public Learner<Real> {
 public:
  Tridiagonal(Index dimension, std::shared_ptr<const Shifts<Real>> shifts, std::uint32_t client, Real noise)
      : dimension_{dimension}, shifts_{std::move(shifts)}, client_{client}, noise_{noise} {}

  Index dimension() const override { return dimension_; }
  std::uint32_t samples() const override { return 1; }

  void initialise(VectorRef<Real> x, Stream&) const override {
    x.setZero();
    x[0] = std::sqrt(static_cast<Real>(dimension_));
  }

  Real gradient(ConstVectorRef<Real> x, Picks picks, VectorRef<Real> g, Scratch<Real>&) const override {
    const Index last = dimension_ - 1;
    for (Index j = 0; j <= last; ++j) {
      const Real before = j > 0 ? x[j - 1] : Real{0}, behind = j < last ? x[j + 1] : Real{0};
      g[j] = (2 * x[j] - before - behind) / 4;
    }
    Real loss = x.dot(g) / 2 + x[0] / 4;
    g[0] += Real{1} / 4;
    if (shifts_) {
      loss += (*shifts_)[client_].dot(x);
      g += (*shifts_)[client_];
    }
    if (noise_ > 0 && picks.chance()) {
      Stream numbers = picks.chance()->stream(0);
      for (Index j = 0; j <= last; ++j) g[j] += noise_ * static_cast<Real>(numbers.normal());
    }
    return loss;
  }

 private:
  Index dimension_;
  std::shared_ptr<const Shifts<Real>> shifts_;  // none: all losses are equal
  std::uint32_t client_;
  Real noise_;
};

}  // namespace

template <class Real>
Shifts<Real>::Shifts(std::uint64_t seed, std::uint32_t clients, Index dimension, double deviation)
    : Centres<Real>(seed, clients, dimension, deviation) {
  auto numbers = this->numbers_.leftCols(dimension);
  const auto mean = (numbers.colwise().sum() / static_cast<Real>(clients)).eval();
  numbers.rowwise() -= mean;
}

template <class Real>
std::unique_ptr<Learner<Real>> make_tridiagonal(Index dimension, std::shared_ptr<const Shifts<Real>> shifts, std::uint32_t client,
                                                Real noise) {
  if (dimension < 1 || (shifts && client >= shifts->clients()))
    throw std::invalid_argument("a tridiagonal loss needs a number at least, and shifts for its client " + std::to_string(client));
  return std::make_unique<Tridiagonal<Real>>(dimension, std::move(shifts), client, noise);
}

template class Shifts<float>;
template class Shifts<double>;
template std::unique_ptr<Learner<float>> make_tridiagonal(Index, std::shared_ptr<const Shifts<float>>, std::uint32_t, float);
template std::unique_ptr<Learner<double>> make_tridiagonal(Index, std::shared_ptr<const Shifts<double>>, std::uint32_t, double);

}  // namespace rubato
