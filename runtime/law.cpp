#include "runtime/law.hpp"

#include <cassert>

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

double sample(const Law& law, Stream& stream, ClientId who) {
  if (law.kind == Law::Kind::gamma) return stream.gamma(law.first) / law.second;
  if (law.kind == Law::Kind::beta) return stream.beta(law.first, law.second);
  if (law.kind == Law::Kind::list) return law.values.at(who.value);
  return sample_at(law, stream.next());
}

}  // namespace rubato
