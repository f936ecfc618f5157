// How far a run has come, on standard error.
#pragma once

#include <optional>
#include <string>

#include "actors/run.hpp"
#include "app/status_line.hpp"

namespace rubato::app {

class ProgressLine {
 public:
  ProgressLine(double until_seconds, bool is_quiet) : until_{until_seconds}, line_{is_quiet} {}
  void show(const Progress& progress);
  /// What it says of that. Time left is that of the pace since this process began.
  std::string text_of(const Progress& progress);
  /// Clears the terminal's line.
  void finish() { line_.finish(); }

 private:
  double until_;
  std::optional<Progress> begin_;  // where this process has begun: after walking again, and after waiting for others
  StatusLine line_;
};

}  // namespace rubato::app
