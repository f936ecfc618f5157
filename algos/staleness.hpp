// Staleness: how the step of an answer, or its weight, falls with the versions since its model (tau).
//
//   steps     constant      gamma                            mishchenko  gamma n / max(n, tau)
//             inverse       gamma / max(1, tau)              koloskova   gamma if tau <= concurrency, else min(gamma, 1/(4 L tau))
//   weights   constant      1                                polynomial  (1 + tau + offset)^-a
//             hinge         1 if tau + offset <= b, else 1 / (a (tau + offset - b) + 1)
//
// Sources: docs/references.md#asgd, docs/references.md#fedasync, docs/references.md#fedbuff.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "algos/option_table.hpp"

namespace rubato {

/// How a step size follows the delay.
enum class DelayLaw : std::uint8_t { constant, mishchenko, koloskova, inverse };
constexpr std::string_view word_list(DelayLaw) { return "constant|mishchenko|koloskova|inverse"; }

/// The step size of one answer.
struct DelayStep {
  double gamma = 0;
  DelayLaw law = DelayLaw::constant;
  double workers = 1;      ///< of mishchenko
  double concurrency = 1;  ///< of koloskova, like the next
  double smoothness = 1;

  double operator()(std::uint64_t delay) const {
    const auto tau = static_cast<double>(delay);
    switch (law) {
      case DelayLaw::mishchenko:
        return gamma * workers / std::max(workers, tau);
      case DelayLaw::koloskova:
        return tau <= concurrency ? gamma : std::min(gamma, 1 / (4 * smoothness * tau));
      case DelayLaw::inverse:
        return gamma / std::max(1.0, tau);
      case DelayLaw::constant:
        break;
    }
    return gamma;
  }
};

/// How a weight follows the delay.
enum class StalenessLaw : std::uint8_t { constant, polynomial, hinge };
constexpr std::string_view word_list(StalenessLaw) { return "constant|polynomial|hinge"; }

/// The weight of one answer.
struct StalenessWeight {
  StalenessLaw law = StalenessLaw::constant;
  double a = 0.5, b = 4;
  double offset = 0;  ///< 1: a fresh answer counts as one version old

  double operator()(std::uint64_t delay) const {
    const double tau = static_cast<double>(delay) + offset;
    switch (law) {
      case StalenessLaw::polynomial:
        return std::pow(1 + tau, -a);
      case StalenessLaw::hinge:
        return tau <= b ? 1 : 1 / (a * (tau - b) + 1);
      case StalenessLaw::constant:
        break;
    }
    return 1;
  }
};

/// What read_staleness reads.
constexpr std::array<OptionSpec, 4> staleness_options(std::string_view fallback) {
  return {
      word_option("staleness", fallback, "how the weight of an answer falls with its delay tau in versions",
                  word_list(StalenessLaw{})),
      OptionSpec{"a", OptionType::number, "0.5", "of staleness: the exponent of polynomial, the slope of hinge", 0, 1e6},
      OptionSpec{"b", OptionType::number, "4", "of staleness = \"hinge\": up to this delay the weight is 1", 0, 1e9},
      OptionSpec{"offset", OptionType::number, "0", "of staleness: added to the delay; 1 counts a fresh answer as old", 0, 1e9}};
}
inline StalenessWeight read_staleness(const OptionReader& options) {
  return {options.choice<StalenessLaw>("staleness"), options.number("a"), options.number("b"), options.number("offset")};
}

}  // namespace rubato
