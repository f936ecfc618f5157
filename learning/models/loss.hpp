// Loss: what a model's last numbers cost, and what flows back from them.
#pragma once

#include "learning/model.hpp"

namespace rubato {

/// Mean over the rows of a batch; z: the numbers of a row, y: its label, t: its target, C: the columns.
enum class Loss {
  cross_entropy,  ///< -log softmax(z)_y
  logistic,       ///< one column, y is 0 or 1: ln(1 + e^z) - y z
  squared,        ///< 1/2 ||z - t||^2, where t is 1 in column y and 0 elsewhere unless the batch has targets
  hinge,          ///< sum over j != y of max(0, 1 - z_y + z_j), divided by C
  squared_hinge   ///< the same with the squares of what is summed
};

/// Returns the mean loss and turns the numbers into its gradient. `smoothing` is for the cross-entropy alone.
template <class Real>
Real loss_gradient(Loss loss, Real smoothing, const Batch<Real>& batch, MatrixRef<Real> numbers);

/// What one row costs: as above, without smoothing. It may overwrite the numbers.
template <class Real>
double loss_of_row(Loss loss, const Batch<Real>& batch, Index row, Real* numbers, Index columns);

}  // namespace rubato
