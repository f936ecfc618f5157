// VirtualHost: a virtual run over several hosts, at one of them.
#pragma once

#include "actors/core/run_parts.hpp"
#include "actors/hosts/membership.hpp"

namespace rubato {

/// Performs this host's clients. The assembly is started here and stopped at the end. The first host's result is that
/// of a run in one process; the others know the digests and what their own clients did. Throws RunFailed with the same
/// sentence on all hosts when one of them fails, or is gone.
RunResult perform_virtual_host(const config::Experiment& experiment, Preparation parts, const RunOptions& options,
                               Membership& membership, Transport& transport);

}  // namespace rubato
