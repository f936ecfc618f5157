// Launcher: which host of a run this process is, and which the others are, where Slurm, Open MPI or Kubernetes started
// it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/experiment.hpp"

namespace rubato {

/// The value of a variable; nothing if it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// That of this process.
Environment own_environment();

/// What a launcher says of this process.
struct Launch {
  std::string launcher;             ///< its name
  std::uint32_t rank = 0;           ///< of this process, from 0
  std::vector<config::Host> hosts;  ///< by rank, with names and addresses; empty where the launcher does not know
};

/// Nothing if no launcher has left a trace. Hosts that share a machine get ports from `port` on. Throws
/// std::invalid_argument if what it says cannot be understood.
std::optional<Launch> launch_of(const Environment& environment, std::uint16_t port);

/// Takes the launch's hosts as the roster, unless the experiment has one of its own. Returns the name of this process's
/// host: that of its rank. Throws std::invalid_argument if there is no roster anywhere, or no such rank in it.
std::string join_roster(config::Experiment& experiment, const Launch& launch);

/// Slurm's short form of many names: "n[01-03,7],gpu" is n01, n02, n03, n7, gpu. Throws std::invalid_argument.
std::vector<std::string> names_in(std::string_view list);

}  // namespace rubato
