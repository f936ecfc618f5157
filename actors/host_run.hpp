// One host of a run over several: the door for programs that bring their own transport.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "actors/run.hpp"
#include "transports/transport.hpp"

namespace rubato {

/// What a host of a run is told beside the experiment.
struct HostOptions {
  std::uint64_t life = 0;         ///< grows with every start of this host
  std::filesystem::path folder;   ///< real time: where its checkpoints are kept; empty: nowhere
  bool has_earlier_life = false;  ///< real time: goes on with the record, and with a checkpoint if there is one
  /// Called about once a second with the hosts that are missing at the start, on the thread that called run_host().
  std::function<void(const std::vector<std::string>& names)> on_missing;
};

/// Performs the clients that the roster gives to the transport's host. The transport is not started yet and is stopped
/// afterwards; what it delivers lives no longer than it. Throws std::invalid_argument where hosts do not run the same
/// experiment, and RunFailed for what goes wrong later, on all hosts in virtual time.
RunResult run_host(const config::Experiment& experiment, const RunOptions& options, const HostOptions& host, Transport& transport);

}  // namespace rubato
