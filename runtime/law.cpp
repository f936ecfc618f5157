#include "runtime/law.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

#include "runtime/elementary.hpp"

namespace rubato {

bool needs_one_draw(const Law& law) {
  return law.kind != Law::Kind::gamma && law.kind != Law::Kind::beta && law.kind != Law::Kind::list;
}

double sample_at(const Law& law, std::uint64_t bits) {
  switch (law.kind) {
    case Law::Kind::constant:
      return law.first;
    case Law::Kind::exponential:
      return law.first * exponential(bits);
    case Law::Kind::uniform:
      return law.first + (law.second - law.first) * uniform01(bits);
    case Law::Kind::lognormal:
      return law.first * elementary::exp(law.second * normal(bits) - 0.5 * law.second * law.second);
    case Law::Kind::shifted_exponential:
      return law.first + exponential(bits) / law.second;
    case Law::Kind::gamma:
    case Law::Kind::beta:
    case Law::Kind::list:
      break;
  }
  assert(false && "this law needs a stream");
  return 0;
}

// What is drawn grows, or falls, with the bits.
double largest(const Law& law) {
  if (law.kind == Law::Kind::gamma) return std::numeric_limits<double>::infinity();
  if (law.kind == Law::Kind::beta) return 1;
  if (law.kind == Law::Kind::list) return law.values.empty() ? 0 : *std::ranges::max_element(law.values);
  return std::max(sample_at(law, 0), sample_at(law, std::numeric_limits<std::uint64_t>::max()));
}

double sample(const Law& law, Stream& stream, ClientId who) {
  if (law.kind == Law::Kind::gamma) return stream.gamma(law.first) / law.second;
  if (law.kind == Law::Kind::beta) return stream.beta(law.first, law.second);
  if (law.kind == Law::Kind::list) return law.values.at(who.value);
  return sample_at(law, stream.next());
}

}  // namespace rubato
