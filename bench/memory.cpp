// Resident memory of the parts of a run.
//
//   memory FILE --part protocol|state|run [--set key=value] [--data DIR] [--threads N] [--json]
//
// protocol   graph, protocols with their timers and mailboxes, event queue, after half of the run's timing
// state      learners and algorithms, after one computation each
// run        a whole run, looked at ten times a second: at one third of its time and at its end
//
// One part a process. What a client costs is the difference between 2N and N clients over N; what is left of a run
// without protocol, state and payloads is its actors.
#include <sstream>
#include <stdexcept>

#include "actors/core/task.hpp"
#include "actors/run.hpp"
#include "bench/command.hpp"
#include "experiment/build/timing.hpp"

namespace {

using namespace rubato;
using bench::Json;
using bench::resident_bytes;

constexpr std::uint64_t slice = 4096;  // steps at a time

Json of_protocol(const Experiment& experiment) {
  const std::uint64_t before = resident_bytes();
  std::ostringstream notes;
  Timing timing(experiment, resolve_algorithm(experiment), notes);
  NoSteps no_steps;
  Conductor conductor(timing.conductor, timing.make_protocols(), no_steps);
  while (conductor.now() < Time{from_seconds(experiment.until / 2)} && conductor.walk(slice)) {
  }
  return {{"clients", conductor.clients()}, {"bytes", resident_bytes() - before}};
}

Json of_state(const Experiment& experiment, const bench::Command& command) {
  const ClientViews views{.graph = make_graph(experiment)};
  const std::uint64_t before = resident_bytes();
  const auto task = make_task<float>(experiment, command.data, {});
  TensorPool pool;
  ThreadMemory memory;
  std::vector<std::unique_ptr<Performer>> performers;
  performers.reserve(static_cast<std::size_t>(experiment.clients.count));
  for (std::uint32_t i = 0; i < performers.capacity(); ++i) {
    performers.push_back(task->make_performer(views.of(ClientId{i}, task->samples()), pool));
    performers.back()->perform({.kind = StepKind::compute, .client = ClientId{i}, .entries = {}}, {}, memory);
  }
  return {{"clients", performers.size()},
          {"bytes", resident_bytes() - before},
          {"vector_bytes", task->dimension() * task->scalar_bytes()}};
}

// Resident memory over a run's own time.
class Watch {
 public:
  explicit Watch(double until) : until_{until} {}

  void look(const Progress& progress) {
    const std::uint64_t now = resident_bytes();
    if (at_third_ == 0 && progress.virtual_seconds >= until_ / 3) at_third_ = now;
    at_end_ = now;
    ++looks_;
  }
  Json result() const { return {{"looks", looks_}, {"bytes_at_third", at_third_}, {"bytes_at_end", at_end_}}; }

 private:
  double until_;
  std::uint64_t at_third_ = 0, at_end_ = 0, looks_ = 0;
};

Json of_run(const Experiment& experiment, const bench::Command& command) {
  const std::uint64_t before = resident_bytes();
  Watch watch(experiment.until);
  RunOptions options;
  options.threads = command.threads;
  options.data_dir = command.data;
  options.on_progress = [&](const Progress& progress) { watch.look(progress); };
  const RunResult result = run(experiment, options);
  Json json = {{"clients", result.clients}, {"bytes_before", before}};
  json.update(watch.result());
  json.update(Json{{"peak_bytes", bench::peak_resident_bytes()},
                   {"peak_payload_bytes", result.peak_payload_bytes},
                   {"wall_seconds", result.wall_seconds},
                   {"events", result.events},
                   {"ticks", result.events - result.messages.kept - result.messages.late - result.messages.capped}});
  return json;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Resident memory of the parts of a run.", "memory");
  bench::Command command;
  std::string part = "run";
  bench::add_options(app, command);
  app.add_option("--part", part, "what to measure")->check(CLI::IsMember({"protocol", "state", "run"}));
  return bench::run_main(app, argc, argv, [&] {
    const Experiment experiment = bench::read(command);
    if (experiment.precision != Scalar::float32) throw std::invalid_argument("memory needs float32");
    fix_eigen_blocking();
    if (part == "protocol") return bench::print(of_protocol(experiment), command);
    if (part == "state") return bench::print(of_state(experiment, command), command);
    bench::print(of_run(experiment, command), command);
  });
}
