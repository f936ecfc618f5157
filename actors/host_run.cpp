#include "actors/host_run.hpp"

#include <stdexcept>
#include <utility>

#include "actors/core/run_parts.hpp"
#include "actors/hosts/membership.hpp"
#include "actors/hosts/virtual_host.hpp"
#include "actors/wall/run.hpp"
#include "algos/arithmetic.hpp"
#include "experiment/digest.hpp"
#include "experiment/file/fingerprint.hpp"
#include "experiment/roster.hpp"
#include "results/summary.hpp"

namespace rubato {

namespace {

// Who watches the invariants takes more samples: all do or none.
std::string run_of(const config::Experiment& experiment, const RunOptions& options) {
  if (!options.checks) return fingerprint(experiment);
  const std::string checked = fingerprint(experiment) + " checked";
  Sha256 sum;
  sum.add(std::as_bytes(std::span{checked}));
  return sum.hex();
}

Membership::Settings assembly_of(const config::Experiment& experiment, const RunOptions& options, const HostOptions& host) {
  Membership::Settings settings;
  settings.names = host_names(experiment);
  settings.self = {run_of(experiment, options),
                   arithmetic(),
                   version(),
                   host.life,
                   experiment.clock == config::ClockKind::virtual_time,
                   std::nullopt};
  settings.lost_after = from_seconds(experiment.hosts.lost_after);
  return settings;
}

}  // namespace

RunResult run_host(const config::Experiment& given, const RunOptions& options, const HostOptions& host, Transport& transport) {
  if (options.threads == 0) throw std::invalid_argument("threads must be at least 1");
  const config::Experiment experiment = validate(given, options);
  if (options.dry_run) throw std::invalid_argument("a dry run needs no other hosts: use rubato run --dry-run");
  if (experiment.clock == config::ClockKind::virtual_time && experiment.checkpoint_every > 0)
    throw std::invalid_argument(
        "checkpoint_every: a virtual run over several hosts writes no checkpoints; leave it out, "
        "or use rubato run");
  Preparation parts(experiment, options);
  Membership membership(transport, assembly_of(experiment, options, host));
  if (experiment.clock == config::ClockKind::wall_time) {
    parts.read_data(experiment, options);
    return perform_wall_host(parts, experiment, options, membership, transport, {host.folder, host.has_earlier_life},
                             host.on_missing);
  }
  return perform_virtual_host(experiment, std::move(parts), options, membership, transport, host.on_missing);
}

}  // namespace rubato
