#include <algorithm>
#include <iostream>
#include <memory>
#include <thread>

#include "app/outcome.hpp"
#include "experiment/file/experiment_file.hpp"

namespace rubato::app {

unsigned all_threads() { return std::max(1u, std::thread::hardware_concurrency()); }

int run(const RunArguments& arguments) {
  const config::Experiment experiment = config::read_experiment(arguments.file, overrides_of(arguments), std::cerr);
  const bool was_interrupted = !arguments.out.empty() && remains_at(arguments.out) == Remains::interrupted;
  const auto folder = arguments.out.empty() ? nullptr : std::make_unique<RunFolder>(arguments.out);
  if (was_interrupted)
    std::cerr << "note: --out held a run that was interrupted; it is now in the folder that ends with .failed, and rubato "
                 "resume goes on with it when that is renamed to .partial\n";
  if (folder && !arguments.dry_run) folder->write("experiment.toml", config::write_experiment(experiment));
  if (!folder && experiment.checkpoint_every > 0) std::cerr << "note: checkpoint_every: without --out no checkpoints are written\n";
  ProgressLine line(experiment.until, arguments.quiet);
  const RunResult result = rubato::run(experiment, options_for(arguments, experiment, folder.get(), line));
  line.finish();
  return leave(arguments, experiment, result, folder.get());
}

}  // namespace rubato::app
