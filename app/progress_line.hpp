// How far a run has come, on standard error.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "actors/run.hpp"
#include "app/status_line.hpp"

namespace rubato::app {

class ProgressLine {
 public:
  ProgressLine(const config::Experiment& experiment, bool is_quiet, Colour colour);
  void show(const Progress& progress);
  /// What it says of that, on a terminal of this kind. Time left is that of the pace since this process began.
  std::vector<LinePart> parts_of(const Progress& progress, const Terminal& terminal);
  /// Clears the terminal's line.
  void finish() { line_.finish(); }

 private:
  void remember(double accuracy);

  std::string name_;
  double until_;
  std::optional<Progress> begin_;   // where this process has begun: after walking again, and after waiting for others
  std::vector<double> accuracies_;  // of samples so far, evenly thinned
  std::size_t every_ = 1, skipped_ = 0;
  StatusLine line_;
};

}  // namespace rubato::app
