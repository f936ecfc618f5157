// StopRule: metrics.stop, asked about the samples of a run one after the other.
#pragma once

#include <utility>
#include <vector>

#include "experiment/experiment.hpp"
#include "results/sample.hpp"

namespace rubato {

struct SampleColumn;

/// Whether an experiment with these metrics asks for the column.
bool is_measured_by(const SampleColumn& column, const config::Metrics& metrics);

class StopRule {
 public:
  /// Without metrics.stop.metric it never holds. Throws std::invalid_argument where the metric is no column of metrics.csv that may
  /// end a run, or where nothing measures it.
  explicit StopRule(const config::Metrics& metrics);

  bool is_there() const { return column_ != nullptr; }
  /// Takes the values of this sample in; true where the rule holds for the newest `window` of them. A value that is not known
  /// counts as above any bound.
  bool holds_at(const Sample& sample);
  /// The values that later samples are judged with, the oldest first; a run that goes on from a checkpoint gives them back.
  const std::vector<double>& newest() const { return newest_; }
  void recall(std::vector<double> newest) { newest_ = std::move(newest); }

 private:
  const SampleColumn* column_ = nullptr;
  config::Stop rule_;
  std::vector<double> newest_;  // at most `window`, the oldest first
};

}  // namespace rubato
