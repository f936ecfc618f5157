#include "transports/known_sums.hpp"

#include "runtime/checksum.hpp"

namespace rubato {

namespace {

// Below, summing is as fast as remembering.
constexpr std::size_t least = 4096;

}  // namespace

std::uint64_t KnownSums::of(const Tensor& tensor, std::size_t first, std::size_t bytes) {
  const std::byte* const data = tensor.data<std::byte>();
  if (bytes < least) return checksum({data + first, bytes});
  for (const Known& known : known_)
    if (known.tensor && known.tensor.data<std::byte>() == data && known.first == first && known.bytes == bytes) return known.sum;
  const std::uint64_t sum = checksum({data + first, bytes});
  known_[next_] = {tensor, first, bytes, sum};
  next_ = (next_ + 1) % known_.size();
  return sum;
}

void KnownSums::forget() { known_ = {}; }

}  // namespace rubato
