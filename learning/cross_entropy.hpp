// The last layer of a classifier: logits to losses, and to what flows back from them.
#pragma once

#include <span>

#include "learning/types.hpp"

namespace rubato {

/// Every row becomes its softmax. Returns nothing else; rows keep their order.
template <class Real>
void softmax_rows(MatrixRef<Real> logits);

/// Returns the mean cross-entropy and turns the logits into its gradient: (softmax - truth) / rows. The truth is 1 at
/// the label; `smoothing` (in [0, 1)) takes this share of it and spreads it over all classes alike.
template <class Real>
Real cross_entropy_gradient(MatrixRef<Real> logits, std::span<const Label> labels, Real smoothing = 0);

/// -log softmax(logits)[label] of one row.
template <class Real>
double cross_entropy(const Real* logits, Index classes, Label label);

}  // namespace rubato
