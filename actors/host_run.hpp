// One host of a run over several: the door for programs that bring their own transport.
#pragma once

#include "actors/run.hpp"
#include "transports/transport.hpp"

namespace rubato {

/// Performs the clients that the roster gives to the transport's host. The transport is not started yet and is stopped
/// afterwards; what it delivers lives no longer than it. Throws std::invalid_argument where hosts do not run the same
/// experiment, and RunFailed for what goes wrong later, on all hosts in virtual time.
RunResult run_host(const config::Experiment& experiment, const RunOptions& options, const HostOptions& host, Transport& transport);
/// The same of one that is resolved already, as a file is by `resolve`; once.
RunResult run_host(ResolvedExperiment& experiment, const RunOptions& options, const HostOptions& host, Transport& transport);

}  // namespace rubato
