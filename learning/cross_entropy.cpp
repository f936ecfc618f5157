#include "learning/cross_entropy.hpp"

#include <algorithm>
#include <cmath>

namespace rubato {

namespace {

template <class Real>
using Array = Eigen::Map<Eigen::Array<Real, Eigen::Dynamic, 1>, Eigen::Aligned64>;

// One exponential over the whole block: rows of ten would leave most of a wide register idle.
template <class Real>
void exponential(MatrixRef<Real> numbers) {
  Array<Real> all{numbers.data(), numbers.size()};
  all = all.exp();
}

// The largest logit of a row becomes 0, so that no exponential overflows.
template <class Real>
void shift_rows(MatrixRef<Real> logits) {
  for (Index row = 0; row < logits.rows(); ++row) {
    Real* const numbers = logits.row(row).data();
    const Real largest = *std::max_element(numbers, numbers + logits.cols());
    for (Index c = 0; c < logits.cols(); ++c) numbers[c] -= largest;
  }
}

template <class Real>
Real sum(const Real* numbers, Index count) {
  Real total = 0;
  for (Index c = 0; c < count; ++c) total += numbers[c];
  return total;
}

template <class Real>
void scale(Real* numbers, Index count, Real factor) {
  for (Index c = 0; c < count; ++c) numbers[c] *= factor;
}

template <class Real>
void subtract(Real* numbers, Index count, Real number) {
  for (Index c = 0; c < count; ++c) numbers[c] -= number;
}

}  // namespace

template <class Real>
void softmax_rows(MatrixRef<Real> logits) {
  shift_rows(logits);
  exponential(logits);
  for (Index row = 0; row < logits.rows(); ++row) {
    Real* const numbers = logits.row(row).data();
    scale(numbers, logits.cols(), 1 / sum(numbers, logits.cols()));
  }
}

template <class Real>
Real cross_entropy_gradient(MatrixRef<Real> logits, std::span<const Label> labels, Real smoothing) {
  const Index classes = logits.cols();
  const Real share = Real{1} / static_cast<Real>(logits.rows());
  const Real of_label = 1 - smoothing, of_each = smoothing / static_cast<Real>(classes);
  shift_rows(logits);
  double loss = 0;
  for (Index row = 0; row < logits.rows(); ++row) {
    loss -= static_cast<double>(of_label * logits(row, labels[static_cast<std::size_t>(row)]));
    if (smoothing > 0) loss -= static_cast<double>(of_each * sum(logits.row(row).data(), classes));
  }
  exponential(logits);
  for (Index row = 0; row < logits.rows(); ++row) {
    Real* const numbers = logits.row(row).data();
    const Real total = sum(numbers, classes);
    loss += std::log(static_cast<double>(total));
    scale(numbers, classes, share / total);
    numbers[labels[static_cast<std::size_t>(row)]] -= share * of_label;
    if (smoothing > 0) subtract(numbers, classes, share * of_each);
  }
  return static_cast<Real>(loss / static_cast<double>(logits.rows()));
}

template <class Real>
double cross_entropy(const Real* logits, Index classes, Label label) {
  const double largest = static_cast<double>(*std::max_element(logits, logits + classes));
  double total = 0;
  for (Index c = 0; c < classes; ++c) total += std::exp(static_cast<double>(logits[c]) - largest);
  return std::log(total) + largest - static_cast<double>(logits[label]);
}

template void softmax_rows(MatrixRef<float>);
template void softmax_rows(MatrixRef<double>);
template float cross_entropy_gradient(MatrixRef<float>, std::span<const Label>, float);
template double cross_entropy_gradient(MatrixRef<double>, std::span<const Label>, double);
template double cross_entropy(const float*, Index, Label);
template double cross_entropy(const double*, Index, Label);

}  // namespace rubato
