// What a user of the installed library writes: vectors made here are read, written and kept there, and the other way
// round.
#include <rubato/results/run_folder.hpp>
#include <rubato/results/summary.hpp>
#include <rubato/run.hpp>

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <utility>

int main(int, char** arguments) {
  using namespace rubato;
  std::printf("draw %016" PRIx64 "\n", draw(1, ClientId{0}, Purpose::init, 0).first);

  // The library allocates the mean; its memory is given back here.
  const Vector<double> x = Vector<double>::LinSpaced(33, -1, 1);
  MeanModel mean;
  for (int i = 0; i < 3; ++i) mean.add<double>(view(x));
  const Vector<float> rounded = mean.mean_as<float>();
  std::printf("mean %s\n", rounded == x.cast<float>() ? "equal" : "different");

  Experiment experiment;
  experiment.until = 20.5;
  experiment.clients.count = 6;
  experiment.algorithm.name = "draco";
  experiment.algorithm.options.set("self_apply", true);
  experiment.data.name = experiment.model.name = "quadratic";
  experiment.data.dimension = 33;
  RunOptions threads;
  threads.threads = 2;
  threads.keeps_models = true;
  const RunResult one = run(experiment), two = run(experiment, threads);
  std::printf("%zu clients, %s models\n", one.clients, one.digests.model == two.digests.model ? "equal" : "different");

  // The folder of a run, and its experiment read back.
  const std::filesystem::path place = std::filesystem::path{arguments[1]} / "run";
  RunFolder folder(place);
  write_results(folder, experiment, two);
  folder.complete();
  std::ostringstream notes;
  const bool is_same = write_experiment(read_experiment(place / "experiment.toml", {}, notes)) == write_experiment(experiment);
  std::ifstream stream(place / "summary.json");
  std::ostringstream summary;
  summary << stream.rdbuf();
  const bool has_digest = end_of_summary(summary.str()).digests.model == one.digests.model;
  std::printf("folder: %s experiment, %s digest\n", is_same ? "equal" : "another", has_digest ? "equal" : "another");
}
