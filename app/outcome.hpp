// What `rubato run` and `rubato node` have in common: from the command line to the options, from the result to its
// folder.
#pragma once

#include <string>
#include <vector>

#include "actors/run.hpp"
#include "app/commands.hpp"
#include "app/progress_line.hpp"
#include "experiment/file/resolve.hpp"
#include "results/run_folder.hpp"

namespace rubato::app {

/// --set and --seed.
std::vector<std::string> overrides_of(const RunArguments& arguments);

/// `folder` may be null; folder and line outlive the run.
RunOptions options_for(const RunArguments& arguments, const config::Experiment& experiment, RunFolder* folder, ProgressLine& line);

/// Says that the run at this place is complete, or prints its summary; the exit code of a success.
int say_finished(const std::filesystem::path& place, bool json);

/// Completes the folder, prints the result, and returns the exit code.
int leave(const RunArguments& arguments, const ResolvedExperiment& resolved, RunResult result, RunFolder* folder);

}  // namespace rubato::app
