// Allocations per event in steady state: of the conductor alone, which promises none, and of whole runs.
//
//   allocations FILE [--set key=value] [--data DIR] [--threads N] [--json]
//
// Every allocation of the program and its libraries is counted. The conductor walks the first half of the experiment
// uncounted. A run is compared with one twice as long: what the second half adds.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <sstream>

#include "actors/run.hpp"
#include "bench/command.hpp"
#include "experiment/build/timing.hpp"

namespace {

std::atomic<std::uint64_t> allocations{0};

}  // namespace

// In place of glibc's own, for this program and all its libraries: operator new ends up here too.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_realloc(memory, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  *memory = aligned_alloc(alignment, size);
  return *memory ? 0 : ENOMEM;
}
}

namespace {

using namespace rubato;
using bench::Json;

constexpr std::uint64_t slice = 64;  // steps at a time: halves are halves in short runs too

struct Count {
  std::uint64_t events = 0;
  std::uint64_t allocations = 0;

  Json json() const {
    return {{"events", events},
            {"allocations", allocations},
            {"per_event", static_cast<double>(allocations) / static_cast<double>(events)}};
  }
};

Count of_conductor(const Experiment& experiment) {
  std::ostringstream notes;
  Timing timing(experiment, resolve_algorithm(experiment), notes);
  NoSteps no_steps;
  Conductor conductor(timing.conductor, timing.make_protocols(), no_steps);
  while (conductor.now() < Time{from_seconds(experiment.until / 2)} && conductor.walk(slice)) {
  }
  const Count before{conductor.events(), allocations.load()};
  while (conductor.walk(slice)) {
  }
  return {conductor.events() - before.events, allocations.load() - before.allocations};
}

Count of_run(const Experiment& experiment, const bench::Command& command) {
  RunOptions options;
  options.threads = command.threads;
  options.data_dir = command.data;
  const std::uint64_t before = allocations.load();
  const RunResult result = run(experiment, options);
  return {result.events, allocations.load() - before};
}

Count of_second_half(Experiment experiment, const bench::Command& command) {
  const Count whole = of_run(experiment, command);
  experiment.until /= 2;
  const Count half = of_run(experiment, command);
  return {whole.events - half.events, whole.allocations - std::min(whole.allocations, half.allocations)};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Allocations per event in steady state.", "allocations");
  bench::Command command;
  bench::add_options(app, command);
  return bench::run_main(app, argc, argv, [&] {
    const Experiment experiment = bench::read(command);
    bench::print({{"program", "allocations"},
                  {"experiment", experiment.name},
                  {"threads", command.threads},
                  {"conductor", of_conductor(experiment).json()},
                  {"run", of_second_half(experiment, command).json()}},
                 command);
  });
}
