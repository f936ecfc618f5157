// Comparison: what several settings have come to under the same clocks, links, data and start.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results/comparison_plan.hpp"
#include "results/curve.hpp"
#include "results/result_text.hpp"
#include "results/run_result.hpp"

namespace rubato {

/// One run that has come to its end.
struct ComparedRun {
  std::int64_t seed = 0;
  Curve curve;                          ///< within the budget
  Digests digests;                      ///< empty where the budget ended the run
  bool has_spent = false;               ///< the budget ended it, not until
  bool met_rule = false;                ///< metrics.stop ended it
  std::optional<double> diverged_at{};  ///< seconds of the experiment; absent: every model was finite
  ResultJson came_to{};                 ///< beside its curve: results/came_to.hpp; null: that is not known
};

struct ComparedOutcome {
  ComparedSetting setting;
  std::vector<ComparedRun> runs;      ///< in the order of their seeds
  std::vector<std::string> failures;  ///< a sentence for each run that failed or was refused, unless all were: setting.refusal
};

struct Comparison {
  std::vector<ComparedOutcome> outcomes;  ///< in the order of the plan
  Provenance origin{};                    ///< as the program says
  std::int64_t first_seed = 1;
  std::size_t seeds = 1;
  bool was_stopped = false;  ///< runs are missing that were not at their end
};

}  // namespace rubato
