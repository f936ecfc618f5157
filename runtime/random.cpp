#include "runtime/random.hpp"

#include <Random123/philox.h>

#include <cmath>

#include "runtime/elementary.hpp"

namespace rubato {

namespace {
constexpr std::uint64_t high_word = 32;
__extension__ using Wide = unsigned __int128;
}  // namespace

DrawnPair draw(std::uint64_t seed, ClientId client, Purpose purpose, std::uint64_t index, std::uint32_t detail) {
  // 40 bits of index, 56 of (client, purpose), 32 of detail share the 128-bit counter; the seed is the key.
  const r123::Philox4x32::ctr_type counter{
      {static_cast<std::uint32_t>(index),
       static_cast<std::uint32_t>(index >> high_word) ^ (static_cast<std::uint32_t>(purpose) << 16), client.value, detail}};
  const r123::Philox4x32::key_type key{{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> high_word)}};
  const auto words = r123::Philox4x32()(counter, key);
  return {static_cast<std::uint64_t>(words[0]) << high_word | words[1],
          static_cast<std::uint64_t>(words[2]) << high_word | words[3]};
}

double exponential(std::uint64_t bits) { return -elementary::log1p(-uniform01(bits)); }

double normal(std::uint64_t bits) { return elementary::normal_quantile(open_uniform01(bits)); }

std::uint64_t Stream::next() {
  if (position_++ % 2 == 1) return spare_;
  const DrawnPair pair = draw(seed_, client_, purpose_, (position_ - 1) / 2, detail_);
  spare_ = pair.second;
  return pair.first;
}

void Stream::seek(std::uint64_t position) {
  position_ = position;
  if (position % 2 == 1) spare_ = draw(seed_, client_, purpose_, position / 2, detail_).second;
}

double Stream::gamma(double shape) {
  if (shape < 1.0) {  // Gamma(a) = Gamma(a + 1) U^(1/a)
    const double larger = gamma(shape + 1.0);
    return larger * elementary::exp(-exponential() / shape);
  }
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  while (true) {
    const double x = normal();
    const double v = 1.0 + c * x;
    if (v <= 0.0) continue;
    const double cube = v * v * v;
    const double u = open_uniform01(next());
    if (elementary::log(u) < 0.5 * x * x + d - d * cube + d * elementary::log(cube)) return d * cube;
  }
}

double Stream::beta(double a, double b) {
  const double x = gamma(a);
  const double y = gamma(b);
  return x + y > 0 ? x / (x + y) : 0.5;
}

std::uint64_t Stream::below(std::uint64_t bound) {
  // Lemire's multiplication; the first (2^64 mod bound) products are rejected.
  const std::uint64_t rejected = (0 - bound) % bound;
  while (true) {
    const auto product = static_cast<Wide>(next()) * bound;
    if (static_cast<std::uint64_t>(product) >= rejected) return static_cast<std::uint64_t>(product >> 64);
  }
}

}  // namespace rubato
