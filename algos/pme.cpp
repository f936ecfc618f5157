#include "algos/pme.hpp"

#include <algorithm>

namespace rubato {

template <class Real>
PartialMean<Real>::PartialMean(Index dimension, Scratch<Real>& scratch)
    : sum_{scratch.vector(dimension)}, lambda_{scratch.indices(dimension)} {
  sum_.setZero();
  std::fill(lambda_.begin(), lambda_.end(), 0u);
}

template <class Real>
void PartialMean<Real>::add(Picks coordinates, ConstVectorRef<Real> values) {
  for (std::size_t i = 0; i < coordinates.size(); ++i) {
    sum_[coordinates[i]] += values[static_cast<Index>(i)];
    ++lambda_[coordinates[i]];
  }
}

template <class Real>
void PartialMean<Real>::fill(ConstVectorRef<Real> own, VectorRef<Real> result) const {
  for (Index l = 0; l < own.size(); ++l) {
    const std::uint32_t arrived = lambda_[static_cast<std::size_t>(l)];
    result[l] = arrived > 0 ? sum_[l] / static_cast<Real>(arrived) : own[l];
  }
}

double pme_message_bits(Index dimension, Index count, std::uint32_t value_bits) {
  return static_cast<double>(value_bits) * static_cast<double>(count) + static_cast<double>(dimension - count);
}

template class PartialMean<float>;
template class PartialMean<double>;

}  // namespace rubato
