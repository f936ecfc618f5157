// The timing alone, as `rubato run --dry-run` walks it, with the events by kind.
//
//   timing_alone FILE [--set key=value] [--always-send] [--json]
//
// DRACO sends only if something was computed since it last sent. With --always-send every transmit tick sends, as in
// rivals/heap_limit.cpp and rivals/simgrid_gossip.cpp: then the traffic is theirs, event by event.
#include "actors/run.hpp"
#include "bench/command.hpp"

namespace {

using namespace rubato;

RunOptions timing_only(bool always_sends) {
  RunOptions options;
  options.dry_run = true;
  if (!always_sends) return options;
  // An algorithm that is never asked for anything stands for its needs: none.
  options.own_float.algorithm = [](const ClientView&, ConstVectorRef<float>, TensorPool&) { return nullptr; };
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("The timing of an experiment, without its arithmetic.", "timing_alone");
  bench::Command command;
  bool always_sends = false;
  bench::add_options(app, command);
  app.add_flag("--always-send", always_sends, "every transmit tick sends");
  return bench::run_main(app, argc, argv, [&] {
    const Experiment experiment = bench::read(command);
    const RunResult result = run(experiment, timing_only(always_sends));
    const MessageCounts& counts = result.messages;
    const std::uint64_t received = counts.kept + counts.late + counts.capped;
    bench::print({{"program", "timing_alone"},
                  {"experiment", experiment.name},
                  {"always_sends", always_sends},
                  {"clients", result.clients},
                  {"events", result.events},
                  {"compute_ticks", counts.computations},
                  {"transmit_ticks", result.events - counts.computations - received},
                  {"received", received},
                  {"publications", counts.publications},
                  {"steps", result.steps},
                  {"seconds", result.wall_seconds},
                  {"events_per_second", static_cast<double>(result.events) / result.wall_seconds},
                  {"timeline_digest", result.digests.timeline}},
                 command);
  });
}
