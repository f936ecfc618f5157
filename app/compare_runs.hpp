// Several settings under the same clocks, links, data and start: every setting with every seed, as many runs at a time
// as there are threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

#include "actors/run.hpp"
#include "results/comparison.hpp"
#include "results/kept_runs.hpp"

namespace rubato {

struct ComparisonProgress {
  std::size_t runs = 0;
  std::size_t finished = 0;
  double share = 0;  ///< of all runs together, 0 to 1, in what ends them: time or budget
  double wall_seconds = 0;
};

/// Every parts-th run, from part on, counted from 0 over all runs in the order in which they are begun.
struct Share {
  std::size_t part = 0;
  std::size_t parts = 1;
};

struct ComparisonOptions {
  unsigned threads = 1;                     ///< runs at a time, each on one thread
  std::filesystem::path data_dir;           ///< as in RunOptions
  const std::atomic<bool>* stop = nullptr;  ///< becomes true: ends early with the runs that have come to their end
  Share share{};                            ///< what is run
  const KeptRuns* kept = nullptr;           ///< has finished runs, which are not run again, and is given the others
  bool runs_missing = true;                 ///< false: what is not kept is missing, as after an early end

  /// Called on the thread of each run before it begins: brings the program's own parts. Throws RunFailed where it cannot.
  std::function<void(const config::Experiment&, RunOptions&)> bring;
  /// Called by one thread at a time, not always the same. Notes of runs are said once for a setting.
  std::function<void(const std::string&)> on_note;
  std::function<void(const ComparisonProgress&)> on_progress;
};

/// "I/N", I from 1 to N. Throws std::invalid_argument.
Share parse_share(const std::string& text);

/// All settings with the first seed, then with the next, and so on. A setting that cannot be run has
/// a refusal and does not keep the others; a run that fails later is a failure of its outcome. Throws std::invalid_argument where
/// none can be run, unless it is a share of several.
Comparison compare(const ComparisonPlan& plan, const ComparisonOptions& options = {});

}  // namespace rubato
