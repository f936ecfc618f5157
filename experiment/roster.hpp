// The roster of a run over several hosts: their names and addresses, and which clients each of them has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiment/experiment.hpp"
#include "runtime/ids.hpp"

namespace rubato {

/// By client: the host that has it. Where the roster names no clients they are dealt in a row, in equal shares; the
/// first hosts have one more where it does not divide. Throws std::invalid_argument unless every client has exactly one
/// host.
std::vector<HostId> hosts_of_clients(const config::Experiment& experiment);

/// The host of this name. Throws std::invalid_argument with the names there are.
HostId host_named(const config::Experiment& experiment, std::string_view name);

/// Of all hosts, in the order of the roster.
std::vector<std::string> host_names(const config::Experiment& experiment);

}  // namespace rubato
