// How often two clients meet, as their timers and the chances of partners lead to expect, and what A2CiD2 makes of it.
#pragma once

#include <vector>

#include "algos/acid.hpp"
#include "experiment/experiment.hpp"
#include "runtime/world/graph.hpp"

namespace rubato {

/// Meetings per second of every edge that has any, none of them left out because a client is busy. Throws std::invalid_argument.
std::vector<MeetingRate> meeting_rates(const Graph& graph, const config::Experiment& experiment);

/// Those of algorithm.constants = "graph". Throws std::invalid_argument, also beyond 5,000 clients, and with more than 1,000 beyond
/// 10,000 edges: those of graphs that are drawn take seconds.
AcidConstants acid_constants_of(const config::Experiment& experiment);

}  // namespace rubato
