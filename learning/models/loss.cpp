#include "learning/models/loss.hpp"

#include <algorithm>
#include <limits>

#include "learning/cross_entropy.hpp"
#include "learning/models/logistic_function.hpp"

namespace rubato {

namespace {

template <class Real>
Label label_of(const Batch<Real>& batch, Index row) {
  return batch.labels[static_cast<std::size_t>(row)];
}

// What each of these does with one row: the loss, and its gradient times `share` in place of the numbers.

template <class Real>
Real logistic_row(const Batch<Real>& batch, Index row, Real share, Real* z) {
  const Real truth = static_cast<Real>(label_of(batch, row));
  const Real loss = softplus(*z) - truth * *z;
  *z = share * (sigmoid(*z) - truth);
  return loss;
}

template <class Real>
Real squared_row(const Batch<Real>& batch, Index row, Real share, Real* z, Index columns) {
  if (batch.targets.empty())
    z[label_of(batch, row)] -= 1;
  else
    z[0] -= batch.targets[static_cast<std::size_t>(row)];
  Real squares = 0;
  for (Index c = 0; c < columns; ++c) squares += z[c] * z[c];
  for (Index c = 0; c < columns; ++c) z[c] *= share;
  return squares / 2;
}

// The label's own column has no margin: it is put out of reach before the loop and takes its part after it. `cost` and
// `slope`: of a margin above 0, the slope times `part`.
template <class Real, class Cost, class Slope>
Real hinge_row(Label label, Real part, Real* z, Index columns, const Cost& cost, const Slope& slope) {
  const Real own = z[label];
  z[label] = -std::numeric_limits<Real>::infinity();
  Real loss = 0, taken = 0;
  for (Index c = 0; c < columns; ++c) {
    const Real margin = std::max(1 - own + z[c], Real{0});
    loss += cost(margin);
    z[c] = slope(margin, part);
    taken += z[c];
  }
  z[label] -= taken;
  return loss / static_cast<Real>(columns);
}

template <class Real>
Real loss_of(Loss loss, const Batch<Real>& batch, Index row, Real share, Real* z, Index columns) {
  switch (loss) {
    case Loss::logistic:
      return logistic_row(batch, row, share, z);
    case Loss::hinge:
      return hinge_row(
          label_of(batch, row), share / static_cast<Real>(columns), z, columns, [](Real margin) { return margin; },
          [](Real margin, Real part) { return margin > 0 ? part : 0; });
    case Loss::squared_hinge:
      return hinge_row(
          label_of(batch, row), 2 * share / static_cast<Real>(columns), z, columns, [](Real margin) { return margin * margin; },
          [](Real margin, Real part) { return part * margin; });
    case Loss::squared:
      return squared_row(batch, row, share, z, columns);
    case Loss::cross_entropy:
      break;  // is not taken row by row
  }
  return 0;
}

}  // namespace

template <class Real>
Real loss_gradient(Loss loss, Real smoothing, const Batch<Real>& batch, MatrixRef<Real> numbers) {
  if (loss == Loss::cross_entropy) return cross_entropy_gradient(numbers, batch.labels, smoothing);
  const Real share = Real{1} / static_cast<Real>(numbers.rows());
  double sum = 0;
  for (Index row = 0; row < numbers.rows(); ++row)
    sum += static_cast<double>(loss_of(loss, batch, row, share, numbers.row(row).data(), numbers.cols()));
  return static_cast<Real>(sum / static_cast<double>(numbers.rows()));
}

template <class Real>
double loss_of_row(Loss loss, const Batch<Real>& batch, Index row, Real* numbers, Index columns) {
  if (loss == Loss::cross_entropy) return cross_entropy(numbers, columns, label_of(batch, row));
  return static_cast<double>(loss_of(loss, batch, row, Real{1}, numbers, columns));
}

template float loss_gradient(Loss, float, const Batch<float>&, MatrixRef<float>);
template double loss_gradient(Loss, double, const Batch<double>&, MatrixRef<double>);
template double loss_of_row(Loss, const Batch<float>&, Index, float*, Index);
template double loss_of_row(Loss, const Batch<double>&, Index, double*, Index);

}  // namespace rubato
