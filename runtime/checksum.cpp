#include "runtime/checksum.hpp"

#include <bit>
#include <cstring>

namespace rubato {

namespace {

static_assert(std::endian::native == std::endian::little, "words are read as they lie in memory");

constexpr std::size_t stripe = 64;
constexpr std::uint64_t odd = 0x9E37'79B9'7F4A'7C15;

// Eight words that are worked on side by side.
using Lanes [[gnu::vector_size(stripe)]] = std::uint64_t;

std::uint64_t mixed(std::uint64_t state, std::uint64_t word) {
  state = (std::rotl(state, 27) ^ word) * odd;
  return state ^ state >> 31;
}

// `sums` sees every change of a word, `products` also where it stands: the key of the k-th word is k times odd.
struct Stripes {
  Lanes keys = {1 * odd, 2 * odd, 3 * odd, 4 * odd, 5 * odd, 6 * odd, 7 * odd, 8 * odd};
  Lanes sums = {};
  Lanes products = {};

  void add(const Lanes& words) {
    const Lanes mix = words ^ keys;
    sums += words;
    products += (mix & 0xFFFF'FFFF) * (mix >> 32);
    keys += 8 * odd;
  }

  std::uint64_t end(std::size_t size) const {
    std::uint64_t state = mixed(0, size);
    for (int i = 0; i < 8; ++i) state = mixed(mixed(state, sums[i]), products[i]);
    return mixed(state, odd);
  }
};

template <bool is_copied>
std::uint64_t walk(std::byte* target, std::span<const std::byte> bytes) {
  Stripes stripes;
  const std::size_t whole = bytes.size() / stripe * stripe;
  for (std::size_t at = 0; at < whole; at += stripe) {
    Lanes words;
    std::memcpy(&words, bytes.data() + at, stripe);
    if constexpr (is_copied) std::memcpy(target + at, &words, stripe);
    stripes.add(words);
  }
  if (const std::size_t rest = bytes.size() - whole; rest > 0) {
    Lanes last = {};
    std::memcpy(&last, bytes.data() + whole, rest);
    if constexpr (is_copied) std::memcpy(target + whole, &last, rest);
    stripes.add(last);
  }
  return stripes.end(bytes.size());
}

}  // namespace

std::uint64_t checksum(std::span<const std::byte> bytes) { return walk<false>(nullptr, bytes); }

std::uint64_t copy_with_checksum(std::byte* target, std::span<const std::byte> bytes) { return walk<true>(target, bytes); }

std::uint64_t joined_checksum(std::uint64_t before, std::uint64_t next) { return mixed(before, next); }

}  // namespace rubato
