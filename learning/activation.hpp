// What a layer does to each of its numbers: activation and dropout.
#pragma once

#include "learning/choices.hpp"
#include "learning/types.hpp"
#include "runtime/random.hpp"

namespace rubato {

/// Every number z becomes max(0, z), 1 / (1 + e^-z) or tanh z.
template <class Real>
void activate(Activation kind, MatrixRef<Real> numbers);

/// Multiplies every number of `delta` by the slope of the activation where it gave `activated`.
template <class Real>
void multiply_by_slope(Activation kind, ConstMatrixRef<Real> activated, MatrixRef<Real> delta);

/// Writes a factor for every number: 0 with this chance (in [0, 1)), else 1 / (1 - chance), so that means stay.
/// Every draw of the stream serves two numbers.
template <class Real>
void write_dropout(double chance, Stream stream, MatrixRef<Real> factors);

}  // namespace rubato
