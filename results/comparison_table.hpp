// A comparison in numbers: what each setting came to, and what it took to reach the target accuracies.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "results/comparison.hpp"

namespace rubato {

/// When the mean accuracy of clients was first at least `accuracy`, over the seeds that reached it.
struct TargetReached {
  double accuracy = 0;
  std::size_t reached = 0;
  PerColumn<Spread> costs;  ///< what they had spent then
};

struct ComparedRow {
  const ComparedOutcome* outcome = nullptr;
  PerColumn<Spread> ends;  ///< of the curves
  std::vector<TargetReached> targets{};
};

/// A row for every setting; all spreads are over its seeds. The comparison must outlive it.
std::vector<ComparedRow> rows_of(const Comparison& comparison, std::span<const double> targets);

/// Target accuracies from a list "0.5,0.7". Throws std::invalid_argument.
std::vector<double> parse_targets(const std::string& text);

/// For people: the rows, the course of accuracy (of loss, where nothing is classified) along the axis, the targets, and at the ends
/// the differences to the first setting under the same seeds. A table that is
/// wider than so many columns says in a sentence what is the same in all rows; one that is still too wide is a block a row.
std::string table_text(const Comparison& comparison, std::span<const double> targets, const SampleColumn& axis,
                       std::size_t columns = std::string::npos);

/// table.csv and table.json: a line or an object for each setting. What is not known is nan or null.
std::string table_csv(const Comparison& comparison, std::span<const double> targets);
std::string table_json(const Comparison& comparison, std::span<const double> targets, const SampleColumn& axis);

/// Where the folder of a comparison has the experiment of a run, as it was run.
std::string experiment_file(std::size_t setting, std::int64_t seed);

/// curves.csv: a line for every sample within the budget of every run.
std::string curves_csv(const Comparison& comparison);

}  // namespace rubato
