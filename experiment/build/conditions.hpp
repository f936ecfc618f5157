// Conditions: what the theorems of the papers ask for, with the numbers of one experiment.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiment/build/resolved_algorithm.hpp"
#include "experiment/experiment.hpp"
#include "runtime/world/graph.hpp"

namespace rubato {

/// Whether an experiment satisfies a condition, as far as it says.
enum class Verdict { holds, fails, unknown };

struct Condition {
  std::string_view name;  ///< in the paper: "(12)"
  Verdict verdict = Verdict::unknown;
  std::string numbers;  ///< what was compared, or why that is not known
};

/// One of which nothing is known, with the reason: what stands behind "because".
inline Condition unknown(std::string_view name, const std::string& reason) { return {name, Verdict::unknown, "because " + reason}; }

/// One that holds or does not, with the numbers that were compared.
template <class... Parts>
Condition judged(std::string_view name, bool holds, fmt::format_string<Parts...> numbers, Parts&&... parts) {
  return {name, holds ? Verdict::holds : Verdict::fails, fmt::format(numbers, std::forward<Parts>(parts)...)};
}

/// Everything that the conditions of an algorithm follow from.
struct TheoryInput {
  const config::Experiment& experiment;
  const ResolvedAlgorithm& resolved;
  const std::vector<Graph>& graphs;                ///< in their order; one if the graph stays
  const std::vector<double>& compute_chances;      ///< by client; empty: 1
  const std::vector<double>& link_chances;         ///< by link of the whole graph; empty: 1
  const std::vector<std::uint32_t>& absorb_every;  ///< kappa by client; empty: 1
};

/// Those of the paper that the experiment's algorithm is from; none for other algorithms. What only the losses can tell is unknown
/// unless metrics.smoothness and [theory] say it.
std::vector<Condition> conditions_of(const TheoryInput& input);

/// A line each: "(12)  does not hold: ...".
std::string describe(const std::vector<Condition>& conditions);

/// The conditions of Spod-GT and its special cases, with the constants of table 2 of their paper.
std::vector<Condition> spodgt_conditions(const TheoryInput& input);

}  // namespace rubato
