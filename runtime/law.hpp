// A law for one number: a delay, or a rate that every client draws for itself.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/choices.hpp"
#include "runtime/random.hpp"

namespace rubato {

struct Law {
  using Kind = LawKind;

  Kind kind = Kind::constant;
  double first = 0;              // constant: the value; exponential: mean; uniform: low; lognormal: mean; gamma: shape; beta: a;
                                 // shifted_exponential: minimum
  double second = 0;             // uniform: high; lognormal: sigma of the logarithm; gamma: rate; beta: b; shifted: rate
  std::vector<double> values{};  // list: one per client

  static Law constant(double value) { return {.kind = Kind::constant, .first = value, .values = {}}; }
  bool is_constant() const { return kind == Kind::constant; }
};

/// One number of the law. `who` picks from a list; all other laws read the stream.
double sample(const Law& law, Stream& stream, ClientId who);

/// The same number as a fresh stream at `position` would give, for laws of one draw at the cost of one draw.
double sample_at(const Law& law, std::uint64_t bits);

/// No number of the law is larger; infinity where there is no such bound.
double largest(const Law& law);

/// True where sample_at is enough: the law needs exactly one draw, or none.
bool needs_one_draw(const Law& law);

}  // namespace rubato
