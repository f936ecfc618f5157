#include <cstdio>
#include <string>

#include "actors/run.hpp"
#include "algos/arithmetic.hpp"
#include "app/commands.hpp"
#include "learning/data/named_sets.hpp"
#include "results/summary.hpp"

namespace rubato::app {

namespace {

bool say(bool is_fine, const char* what, const std::string& detail) {
  std::printf("%-5s %-22s %s\n", is_fine ? "ok" : "FAULT", what, detail.c_str());
  return is_fine;
}

// A tiny experiment from end to end, on one thread and on all: equal digests or something is wrong with this machine.
bool runs_agree() {
  config::Experiment experiment;
  experiment.until = 20;
  experiment.clients.count = 8;
  experiment.algorithm.name = "draco";
  experiment.algorithm.options.set("self_apply", true);
  experiment.data.name = experiment.model.name = "quadratic";
  experiment.data.dimension = 50;
  RunOptions options;
  const std::string one = run(experiment, options).digests.model;
  options.threads = all_threads();
  return run(experiment, options).digests.model == one;
}

}  // namespace

int doctor() {
  std::printf("rubato %s, %s, %u threads\n", version().c_str(), arithmetic().c_str(), all_threads());
  const std::string missing = missing_instructions();
  if (!say(missing.empty(), "processor", missing.empty() ? "runs this build" : missing)) return failed;
  bool is_fine = say(!find_dataset("digits").empty(), "digits", find_dataset("digits").string());
  is_fine = say(runs_agree(), "determinism", "a small run on 1 thread and on all threads, compared") && is_fine;
  for (const std::string& name : dataset_names())
    if (name != "digits") {
      const auto folder = find_dataset(name);
      std::printf("%-5s %-22s %s\n", "info", name.c_str(), folder.empty() ? "not here (see rubato list datasets)" : folder.c_str());
    }
  return is_fine ? ok : failed;
}

}  // namespace rubato::app
