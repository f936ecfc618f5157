// What `rubato run` and `rubato node` have in common: from the command line to the options, from the result to its
// folder.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actors/run.hpp"
#include "app/commands.hpp"
#include "app/progress_line.hpp"
#include "experiment/file/resolve.hpp"
#include "results/run_folder.hpp"

namespace rubato::app {

/// Says each note of a run once: those of the beginning as they come, the others at its end.
class Notes {
 public:
  explicit Notes(std::function<void(const std::string&)> say) : say_{std::move(say)} {}
  void say(const std::string& note) {
    if (said_.insert(note).second) say_(note);
  }
  void say_all(const std::vector<std::string>& notes) {
    for (const std::string& note : notes) say(note);
  }
  /// On standard error.
  static Notes plain();

 private:
  std::function<void(const std::string&)> say_;
  std::set<std::string> said_;
};

/// --set and --seed.
std::vector<std::string> overrides_of(const RunArguments& arguments);

/// `folder` may be null; folder, line and notes outlive the run.
RunOptions options_for(const RunArguments& arguments, const config::Experiment& experiment, RunFolder* folder, ProgressLine& line,
                       Notes& notes);

/// What the run keeps goes into the folder; what `options` is told already, it is told after that. The folder outlives the run.
void keep_in(RunFolder& folder, const config::Experiment& experiment, RunOptions& options);

/// The run that is to fill a folder again goes on from its newest intact checkpoint, or begins again; `say` hears which.
void go_on(RunFolder& folder, RunOptions& options, const std::function<void(const std::string&)>& say);

/// The name of a .partial folder stands for the run that it will be.
std::filesystem::path place_of_run(std::filesystem::path folder);

/// What there is of the run at `place`, which `given` stands for. Throws std::invalid_argument where there is none.
Remains remains_of_run(const std::filesystem::path& place, const std::filesystem::path& given);

/// Throws std::invalid_argument for a run in real time, which is not resumed so.
void refuse_real_time(const config::Experiment& experiment, const std::filesystem::path& place);

/// Says that the run at this place is complete, or prints its summary; the exit code of a success.
int say_finished(const std::filesystem::path& place, bool json);

/// Fills the folder and puts it in its place. `write_last` writes what says that everything else is there; `has_results`: all but
/// the report is.
void complete(const RunArguments& arguments, const ResolvedExperiment& resolved, RunResult& result, RunFolder& folder,
              const std::function<void()>& write_last = {}, bool has_results = false);

/// Prints the result, and returns the exit code.
int tell_result(const RunArguments& arguments, const config::Experiment& experiment, RunResult& result,
                std::uintmax_t record_bytes = 0);

/// Completes the folder, says what was not said yet, prints the result, and returns the exit code.
int leave(const RunArguments& arguments, const ResolvedExperiment& resolved, RunResult result, RunFolder* folder, Notes& notes);

}  // namespace rubato::app
