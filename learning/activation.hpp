// Activation: what a layer does to each of its numbers.
#pragma once

#include "learning/choices.hpp"
#include "learning/types.hpp"

namespace rubato {

/// Every number z becomes max(0, z), 1 / (1 + e^-z) or tanh z.
template <class Real>
void activate(Activation kind, MatrixRef<Real> numbers);

/// Multiplies every number of `delta` by the slope of the activation where it gave `activated`.
template <class Real>
void multiply_by_slope(Activation kind, ConstMatrixRef<Real> activated, MatrixRef<Real> delta);

}  // namespace rubato
