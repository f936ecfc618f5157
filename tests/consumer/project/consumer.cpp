// What a user of the installed library writes: vectors made here are read, written and kept there, and the other way
// round.
#include <rubato/app/plugin.hpp>
#include <rubato/results/run_folder.hpp>
#include <rubato/results/summary.hpp>
#include <rubato/run.hpp>

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <span>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace {

// A law of timers: every so many seconds, give or take a half. Files name it: clients.compute.law = "jitter".
double jitter(std::span<const double> numbers, rubato::Stream& stream) { return numbers[0] * (0.5 + stream.uniform()); }
double jitter_rate(std::span<const double> numbers) { return 1 / numbers[0]; }
void check_jitter(std::span<const double> numbers) {
  if (numbers.size() != 1 || !(numbers[0] > 0))
    throw std::invalid_argument("clients.compute.numbers: jitter has one number, greater than 0");
}
constexpr rubato::OwnTimerLaw jitter_law{"jitter", jitter, jitter_rate, check_jitter};
constexpr const rubato::OwnTimerLaw* laws[] = {&jitter_law};

}  // namespace

// With more arguments than a folder: the command, whose files may name the law.
int main(int argc, char** arguments) {
  using namespace rubato;
  if (argc > 2) return rubato_main(argc, arguments, {.laws = laws});
  extend_timer_laws(laws);
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

  Experiment jittering = experiment;
  jittering.clients.compute = config::TimerLaw::own("jitter", {0.25});
  const RunResult once = run(jittering), again = run(jittering, threads);
  std::printf("own law: %s of 480 computations, %s timelines\n",
              once.messages.computations > 470 && once.messages.computations < 500 ? "about all" : "others than",
              once.digests.timeline == again.digests.timeline ? "equal" : "different");

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
