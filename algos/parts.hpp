// Parts: sums over long vectors that go through them in pieces of the nearest cache, so that all terms cost one pass over memory.
#pragma once

#include <algorithm>
#include <span>

#include "learning/types.hpp"
#include "runtime/payload.hpp"

namespace rubato {

/// Numbers in a part; all parts of an aligned vector are aligned.
inline constexpr Index part_size = 2048;

/// Calls visit(first, length) for every part of a vector of this size, in order.
template <class Visit>
void for_each_part(Index size, Visit visit) {
  for (Index first = 0; first < size; first += part_size) visit(first, std::min(part_size, size - first));
}

/// The numbers from `first` on, which begins a part; valid like the vector.
template <class Real>
VectorRef<Real> part_of(VectorRef<Real> vector, Index first, Index length) {
  return {vector.data() + first, length};
}
/// The same, for reading.
template <class Real>
ConstVectorRef<Real> part_of(ConstVectorRef<Real> vector, Index first, Index length) {
  return {vector.data() + first, length};
}

/// No number of this part is infinite or NaN.
template <class Real>
bool is_finite(VectorRef<Real> part) {
  return are_finite(std::as_bytes(std::span{part.data(), static_cast<std::size_t>(part.size())}), scalar_of<Real>);
}

}  // namespace rubato
