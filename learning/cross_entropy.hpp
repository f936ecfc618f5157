// The last layer of a classifier: logits to losses, and to what flows back from them.
#pragma once

#include <span>

#include "learning/types.hpp"

namespace rubato {

/// Every row becomes its softmax. Returns nothing else; rows keep their order.
template <class Real>
void softmax_rows(MatrixRef<Real> logits);

/// Returns the mean cross-entropy and turns the logits into its gradient: (softmax - one at the label) / rows.
template <class Real>
Real cross_entropy_gradient(MatrixRef<Real> logits, std::span<const Label> labels);

/// -log softmax(logits)[label] of one row.
template <class Real>
double cross_entropy(const Real* logits, Index classes, Label label);

}  // namespace rubato
