// Place: which host of the roster this process is, and the keys by which the others know it.
#pragma once

#include "app/commands.hpp"
#include "experiment/experiment.hpp"
#include "runtime/ids.hpp"
#include "transports/zmq_identity.hpp"

namespace rubato::app {

/// The host that the command line names, or else the launcher. Fills in what the experiment file leaves to others: the
/// roster from the launcher, public keys from the folder of keys. Throws std::invalid_argument if there is no such
/// place.
HostId select_host(const NodeArguments& arguments, config::Experiment& experiment);

/// The secret key of that host; none if it has no public one. Throws std::invalid_argument if it is not the other half.
SecretKey secret_of(const NodeArguments& arguments, const config::Host& host);

}  // namespace rubato::app
