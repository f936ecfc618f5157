// What `rubato run` and `rubato node` have in common: from the command line to the options, from the result to its
// folder.
#pragma once

#include <string>
#include <vector>

#include "actors/run.hpp"
#include "app/commands.hpp"
#include "app/status_line.hpp"
#include "experiment/file/resolve.hpp"
#include "results/run_folder.hpp"

namespace rubato::app {

/// How far a run has come, on standard error.
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

/// --set and --seed.
std::vector<std::string> overrides_of(const RunArguments& arguments);

/// `folder` may be null; folder and line outlive the run.
RunOptions options_for(const RunArguments& arguments, const config::Experiment& experiment, RunFolder* folder, ProgressLine& line);

/// Says that the run at this place is complete, or prints its summary; the exit code of a success.
int say_finished(const std::filesystem::path& place, bool json);

/// Completes the folder, prints the result, and returns the exit code.
int leave(const RunArguments& arguments, const ResolvedExperiment& resolved, const RunResult& result, RunFolder* folder);

}  // namespace rubato::app
