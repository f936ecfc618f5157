// Parts: sums over long vectors that go through them in pieces of the nearest cache, so that all terms cost one pass over memory.
#pragma once

#ifdef __SSE2__
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>

#include "learning/types.hpp"
#include "runtime/payload.hpp"

namespace rubato {

/// Numbers in a part; all parts of an aligned vector are aligned. So few that the next ones are already on their way from memory
/// while these are computed with.
inline constexpr Index part_size = 512;

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

/// From so many bytes on what is written to a vector has left the caches before anything reads it.
inline constexpr std::size_t beyond_caches = std::size_t{8} << 20;

/// Copies a part to its place past the caches, so that this need not be read before it is overwritten. Both are aligned. A fence
/// follows, because another thread may read it next.
template <class Real>
void write_past_caches(Real* place, const Real* part, Index length) {
#ifdef __SSE2__
  constexpr Index at_once = sizeof(__m128i) / sizeof(Real);
  Index i = 0;
  for (; i + at_once <= length; i += at_once)
    _mm_stream_si128(reinterpret_cast<__m128i*>(place + i), _mm_load_si128(reinterpret_cast<const __m128i*>(part + i)));
  std::copy(part + i, part + length, place + i);
  _mm_sfence();
#else
  std::copy_n(part, length, place);
#endif
}

/// Has write(part) compute these numbers of a tensor, all of them, before they take their place, and says whether they are finite.
/// `is_read`: they are computed from those that are there, which are in a cache then.
template <class Real, class Write>
bool write_part(Tensor& tensor, bool is_read, Index first, Index length, Write write) {
  alignas(buffer_alignment) Real buffer[part_size];
  const VectorRef<Real> part(buffer, length);
  write(part);
  Real* const place = tensor.writable<Real>() + first;
  if (!is_read && tensor.bytes() >= beyond_caches)
    write_past_caches(place, buffer, length);
  else
    std::copy_n(buffer, length, place);
  return is_finite(part);
}

/// Calls act(N), N a constant, with a count of at most 4, so that a loop over so many vectors takes one pass; false elsewhere.
template <class Act>
bool with_few(std::size_t count, Act act) {
  switch (count) {
    case 0:
      act(std::integral_constant<std::size_t, 0>{});
      return true;
    case 1:
      act(std::integral_constant<std::size_t, 1>{});
      return true;
    case 2:
      act(std::integral_constant<std::size_t, 2>{});
      return true;
    case 3:
      act(std::integral_constant<std::size_t, 3>{});
      return true;
    case 4:
      act(std::integral_constant<std::size_t, 4>{});
      return true;
    default:
      return false;
  }
}

}  // namespace rubato
