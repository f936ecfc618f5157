// How far a run has come, on standard error: one line that is drawn again on a terminal, plain lines in a pipe.
#pragma once

#include <chrono>

#include "actors/experiment.hpp"

namespace rubato::app {

class ProgressLine {
 public:
  ProgressLine(double until_seconds, bool is_quiet);
  ~ProgressLine() { finish(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void show(const Progress& progress);
  /// Clears the terminal's line.
  void finish();

 private:
  double until_;
  bool is_quiet_;
  bool is_terminal_;
  bool has_drawn_ = false;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace rubato::app
