// Successive halving: the best point of every file's, found on short runs and on seeds that are not reported.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "app/compare_runs.hpp"

namespace rubato {

struct TuningRule {
  std::size_t factor = 3;  ///< after each rung every factor-th is kept, and runs become so many times longer; at least 2
  std::size_t seeds = 2;   ///< runs of a point and rung
};

/// A point in a rung.
struct TuningLine {
  std::string file, setting;
  std::size_t rung = 0;  ///< from 1
  double until = 0;
  std::size_t runs = 0;  ///< that came to their end
  double score = 0;      ///< mean accuracy at the end, or minus the mean loss where nothing is classified; -inf: failed, diverged
  bool is_kept = false;
};

struct Tuned {
  ComparisonPlan plan;  ///< of every file the best point
  std::vector<TuningLine> lines;
  bool was_stopped = false;  ///< the plan is not tuned
};

/// The first seed of tuning, so far behind those of `plan` that no comparison reports it.
std::int64_t first_tuning_seed(const ComparisonPlan& plan);

/// In the last rung runs have the length of `plan`, in each before it a factor-th of the next; of equal scores the earlier point is
/// kept. Notes of runs are not said. Throws as compare does.
Tuned tune(const ComparisonPlan& plan, const TuningRule& rule, ComparisonOptions options);

/// tuning.csv: a line for every line.
std::string tuning_csv(const std::vector<TuningLine>& lines);

}  // namespace rubato
