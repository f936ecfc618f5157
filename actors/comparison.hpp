// Several settings under the same clocks, links, data and start: every setting with every seed, as many runs at a time
// as there are threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "actors/comparison_plan.hpp"
#include "actors/curve.hpp"
#include "actors/experiment.hpp"

namespace rubato {

/// One run that has come to its end.
struct ComparedRun {
  std::int64_t seed = 0;
  Curve curve;             ///< within the budget
  Digests digests;         ///< empty where the budget ended the run
  bool has_spent = false;  ///< the budget ended it, not until
};

struct ComparedOutcome {
  ComparedSetting setting;
  std::vector<ComparedRun> runs;      ///< in the order of their seeds
  std::vector<std::string> failures;  ///< a sentence for each run that failed
};

struct Comparison {
  std::vector<ComparedOutcome> outcomes;  ///< in the order of the plan
  std::int64_t first_seed = 1;
  std::size_t seeds = 1;
  bool was_stopped = false;  ///< runs are missing that were not at their end
};

struct ComparisonProgress {
  std::size_t runs = 0;
  std::size_t finished = 0;
  double share = 0;  ///< of all runs together, 0 to 1, in what ends them: time or budget
  double wall_seconds = 0;
};

struct ComparisonOptions {
  unsigned threads = 1;            ///< runs at a time, each on one thread
  std::filesystem::path data_dir;  ///< as in RunOptions
  const std::atomic<bool>* stop = nullptr;  ///< becomes true: ends early with the runs that have come to their end

  /// Called by one thread at a time, not always the same. Notes of runs are said once for a setting.
  std::function<void(const std::string&)> on_note;
  std::function<void(const ComparisonProgress&)> on_progress;
};

/// All settings with the first seed, then with the next, and so on. Throws std::invalid_argument for the first setting
/// that cannot be run; a run that fails later is a failure of its outcome.
Comparison compare(const ComparisonPlan& plan, const ComparisonOptions& options = {});

}  // namespace rubato
