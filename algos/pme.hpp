// Pme: the partial message exchange operator, a mean of vectors of which only some coordinates have arrived.
// Source: algorithm 2 of PaME (docs/references.md#pame).
#pragma once

#include <cstdint>
#include <span>

#include "algos/algorithm.hpp"

namespace rubato {

/// PME(own, messages): coordinate l is the mean of the values that arrived for l, or own[l] where none did. What has
/// arrived is what a message lists, whatever the value; the own value only fills in. Lies in scratch memory: valid
/// until the innermost frame ends.
template <class Real>
class PartialMean {
 public:
  PartialMean(Index dimension, Scratch<Real>& scratch);

  /// A message: some coordinates, below the dimension, and as many values.
  void add(Picks coordinates, ConstVectorRef<Real> values);

  /// How many values have arrived for each coordinate.
  std::span<const std::uint32_t> lambda() const { return lambda_; }

  void fill(ConstVectorRef<Real> own, VectorRef<Real> result) const;

 private:
  VectorRef<Real> sum_;
  std::span<std::uint32_t> lambda_;
};

/// What the paper counts for one message: s values, and a bit for each of the other n - s coordinates.
double pme_message_bits(Index dimension, Index count, std::uint32_t value_bits);

extern template class PartialMean<float>;
extern template class PartialMean<double>;

}  // namespace rubato
