#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <thread>

#include "app/outcome.hpp"
#include "app/serving.hpp"
#include "experiment/file/experiment_file.hpp"

namespace rubato::app {

unsigned all_threads() { return std::max(1u, std::thread::hardware_concurrency()); }

int run(const RunArguments& arguments) {
  ResolvedExperiment resolved = resolve(arguments.file, overrides_of(arguments), std::cerr);
  const config::Experiment& experiment = resolved.experiment;
  const bool was_interrupted = !arguments.out.empty() && remains_at(arguments.out) == Remains::interrupted;
  const std::string command = was_interrupted ? command_to_go_on(experiment_of_remains(arguments.out).parent_path()) : "";
  const auto folder = arguments.out.empty() ? nullptr : std::make_unique<RunFolder>(arguments.out);
  if (was_interrupted)
    std::cerr << "note: --out held a run that was interrupted; it is now in the folder that ends with .failed"
              << (command.empty() ? "" : ", and " + command + " goes on with it when that is renamed to .partial") << "\n";
  if (folder && !arguments.dry_run) folder->write("experiment.toml", config::write_experiment(experiment));
  if (!folder && experiment.checkpoint_every > 0) std::cerr << "note: checkpoint_every: without --out no checkpoints are written\n";
  ProgressLine line(experiment, arguments.quiet, arguments.colour);
  Notes notes = Notes::plain();
  RunOptions options = options_for(arguments, experiment, folder.get(), line, notes);  // signals are watched from here on
  Serving serving(arguments.serve, experiment, {"run", "", arguments.out.string(), arguments.origin});
  serving.watch(options);
  if (folder) folder->write("metrics.csv", metrics_csv_head());
  RunResult result = rubato::run(resolved, options);
  line.finish();
  result.origin = arguments.origin;
  serving.conclude(experiment, result);
  const int code = leave(arguments, resolved, std::move(result), folder.get(), notes);
  serving.finish(code, folder ? arguments.out : std::filesystem::path{});
  return code;
}

int resume(RunArguments arguments) {
  const std::filesystem::path place = place_of_run(arguments.out);
  if (remains_of_run(place, arguments.out) == Remains::finished) return say_finished(place, arguments.json);
  ResolvedExperiment resolved = resolve(experiment_of_remains(place), {}, std::cerr);
  const config::Experiment& experiment = resolved.experiment;
  refuse_real_time(experiment, place);
  const auto folder = RunFolder::reopen(place);
  arguments.out = place;
  ProgressLine line(experiment, arguments.quiet, arguments.colour);
  Notes notes = Notes::plain();
  RunOptions options = options_for(arguments, experiment, folder.get(), line, notes);
  go_on(*folder, options, [](const std::string& note) { std::cerr << "note: " << note << "\n"; });
  RunResult result = rubato::run(resolved, options);
  line.finish();
  return leave(arguments, resolved, std::move(result), folder.get(), notes);
}

}  // namespace rubato::app
