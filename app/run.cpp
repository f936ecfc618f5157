#include <algorithm>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "actors/virtual/run_checkpoint.hpp"
#include "app/outcome.hpp"
#include "app/serving.hpp"
#include "experiment/file/experiment_file.hpp"

namespace rubato::app {

namespace {

namespace fs = std::filesystem;

// The name of a .partial folder stands for the run that it will be.
fs::path place_of(fs::path folder) {
  folder = fs::absolute(folder).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  return folder.extension() == ".partial" ? folder.replace_extension() : folder;
}

void refuse_real_time(const config::Experiment& experiment, const fs::path& place) {
  if (experiment.clock == config::ClockKind::virtual_time) return;
  throw std::invalid_argument(place.string() +
                              " is a run in real time, which goes on by itself: its hosts continue from "
                              "their checkpoints when `rubato node` is started again with the same --out");
}

// What was measured before the checkpoint stays; what came after it will come again.
void go_on_from(const RunCheckpointFile& checkpoint, RunFolder& folder, RunOptions& options) {
  options.resume_from = checkpoint.file;
  fs::resize_file(folder.metrics(), checkpoint.head.samples_bytes);
  std::cerr << "note: going on from " << checkpoint.file.string() << ", at " << to_seconds(checkpoint.head.at)
            << " s of the experiment\n";
}

void begin_again(RunFolder& folder) {
  folder.write("metrics.csv", metrics_csv_head());
  std::cerr << "note: there is no checkpoint to go on from: the run starts from the beginning\n";
}

}  // namespace

unsigned all_threads() { return std::max(1u, std::thread::hardware_concurrency()); }

int run(const RunArguments& arguments) {
  ResolvedExperiment resolved = resolve(arguments.file, overrides_of(arguments), std::cerr);
  const config::Experiment& experiment = resolved.experiment;
  const bool was_interrupted = !arguments.out.empty() && remains_at(arguments.out) == Remains::interrupted;
  const auto folder = arguments.out.empty() ? nullptr : std::make_unique<RunFolder>(arguments.out);
  if (was_interrupted)
    std::cerr << "note: --out held a run that was interrupted; it is now in the folder that ends with .failed, and rubato "
                 "resume goes on with it when that is renamed to .partial\n";
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
  serving.finish(code, folder ? arguments.out : fs::path{});
  return code;
}

int resume(RunArguments arguments) {
  const fs::path place = place_of(arguments.out);
  const Remains remains = remains_at(place);
  if (remains == Remains::nothing)
    throw std::invalid_argument(arguments.out.string() + " is not the folder of a run, and no run was interrupted there");
  if (remains == Remains::finished) return say_finished(place, arguments.json);
  ResolvedExperiment resolved = resolve(experiment_of_remains(place), {}, std::cerr);
  const config::Experiment& experiment = resolved.experiment;
  refuse_real_time(experiment, place);
  const auto folder = RunFolder::reopen(place);
  arguments.out = place;
  ProgressLine line(experiment, arguments.quiet, arguments.colour);
  Notes notes = Notes::plain();
  RunOptions options = options_for(arguments, experiment, folder.get(), line, notes);
  const FoundCheckpoint<RunCheckpointFile> found = find_run_checkpoint(folder->checkpoints(), folder->metrics());
  for (const std::string& note : found.notes) std::cerr << "note: " << note << "\n";
  if (found.newest)
    go_on_from(*found.newest, *folder, options);
  else
    begin_again(*folder);
  RunResult result = rubato::run(resolved, options);
  line.finish();
  return leave(arguments, resolved, std::move(result), folder.get(), notes);
}

}  // namespace rubato::app
