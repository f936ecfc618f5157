// Pme: the partial message exchange operator, a mean of vectors of which only some coordinates have arrived.
// Source: algorithm 2 of PaME (docs/references.md#pame).
#pragma once

#include <algorithm>
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
  PartialMean(Index dimension, Scratch<Real>& scratch) : sum_{scratch.vector(dimension)}, lambda_{scratch.indices(dimension)} {
    sum_.setZero();
    std::ranges::fill(lambda_, 0u);
  }

  /// A message: some coordinates, below the dimension, and as many values.
  void add(Picks coordinates, ConstVectorRef<Real> values) {
    for (std::size_t i = 0; i < coordinates.size(); ++i) {
      sum_[coordinates[i]] += values[static_cast<Index>(i)];
      ++lambda_[coordinates[i]];
    }
  }

  /// How many values have arrived for each coordinate.
  std::span<const std::uint32_t> lambda() const { return lambda_; }

  void fill(ConstVectorRef<Real> own, VectorRef<Real> result) const {
    for (Index l = 0; l < own.size(); ++l) {
      const std::uint32_t arrived = lambda_[static_cast<std::size_t>(l)];
      result[l] = arrived > 0 ? sum_[l] / static_cast<Real>(arrived) : own[l];
    }
  }

 private:
  VectorRef<Real> sum_;
  std::span<std::uint32_t> lambda_;
};

/// What the paper counts for one message: s values, and a bit for each of the other n - s coordinates.
inline double pme_message_bits(Index dimension, Index count, std::uint32_t value_bits) {
  return static_cast<double>(value_bits) * static_cast<double>(count) + static_cast<double>(dimension - count);
}

}  // namespace rubato
