// How far a run has come, on standard error.
#pragma once

#include "actors/run.hpp"
#include "app/status_line.hpp"

namespace rubato::app {

class ProgressLine {
 public:
  ProgressLine(double until_seconds, bool is_quiet) : until_{until_seconds}, line_{is_quiet} {}
  void show(const Progress& progress);
  /// Clears the terminal's line.
  void finish() { line_.finish(); }

 private:
  double until_;
  StatusLine line_;
};

}  // namespace rubato::app
