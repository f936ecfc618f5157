// Several settings under the same clocks, links, data and start: every setting with every seed, as many runs at a time
// as there are threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

#include "results/comparison.hpp"

namespace rubato {

struct ComparisonProgress {
  std::size_t runs = 0;
  std::size_t finished = 0;
  double share = 0;  ///< of all runs together, 0 to 1, in what ends them: time or budget
  double wall_seconds = 0;
};

struct ComparisonOptions {
  unsigned threads = 1;                     ///< runs at a time, each on one thread
  std::filesystem::path data_dir;           ///< as in RunOptions
  const std::atomic<bool>* stop = nullptr;  ///< becomes true: ends early with the runs that have come to their end

  /// Called by one thread at a time, not always the same. Notes of runs are said once for a setting.
  std::function<void(const std::string&)> on_note;
  std::function<void(const ComparisonProgress&)> on_progress;
};

/// All settings with the first seed, then with the next, and so on. A setting that cannot be run has
/// a refusal and does not keep the others; a run that fails later is a failure of its outcome. Throws std::invalid_argument where
/// none can be run.
Comparison compare(const ComparisonPlan& plan, const ComparisonOptions& options = {});

}  // namespace rubato
