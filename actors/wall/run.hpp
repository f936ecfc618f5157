// WallRun: an experiment in real time, in this process alone or as one host among others.
#pragma once

#include "actors/core/run_options.hpp"
#include "actors/core/run_parts.hpp"
#include "actors/hosts/membership.hpp"
#include "actors/wall/host.hpp"

namespace rubato {

/// All clients in this process. Throws RunFailed.
RunResult perform_wall(Preparation& parts, const config::Experiment& experiment, const RunOptions& options);

/// As one host among others. The membership is started here and stopped at the end. The result of the first host alive at
/// the end is that of all clients that are there; those of the others name it. Throws RunFailed.
RunResult perform_wall_host(Preparation& parts, const config::Experiment& experiment, const RunOptions& options,
                            Membership& membership, Transport& transport, const HostOptions& home);

}  // namespace rubato
