// Dropout: numbers that are left out of one gradient, by chance.
#pragma once

#include "learning/types.hpp"
#include "runtime/random.hpp"

namespace rubato {

/// Writes a factor for every number: 0 with this chance (in [0, 1)), else 1 / (1 - chance), so that means stay.
/// Every draw of the stream serves two numbers.
template <class Real>
void write_dropout(double chance, Stream stream, MatrixRef<Real> factors);

}  // namespace rubato
