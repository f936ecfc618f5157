// Expected weights: what clients give to each other in the mean, where links and gradients are there with chances.
#pragma once

#include <vector>

#include "experiment/build/resolved_algorithm.hpp"
#include "experiment/experiment.hpp"
#include "runtime/world/graph.hpp"
#include "runtime/world/mixing.hpp"

namespace rubato {

/// Chance of a gradient of each client, as protocol.compute_chance and protocol.least_chance say; empty without a chance.
std::vector<double> compute_chances(const config::Experiment& experiment);
/// Chance of each link of the graph to be up, by protocol.link_chance; empty without one.
std::vector<double> link_chances(const config::Experiment& experiment, const Graph& graph);

/// The smallest whole number that is not below the mean of 1 / p over clients: K of algorithm.local_steps = "mean_inverse_p".
/// Throws std::invalid_argument where clients have no chances.
std::int64_t mean_inverse_chance(const config::Experiment& experiment);

/// Weights of merges (or of what is given away: `is_share`) times the chances of their links, which must be one for each link or
/// none. What is left of a row (a column) stays with the client itself.
MixingMatrix expected_weights(const Graph& graph, const config::Experiment& experiment, const ResolvedAlgorithm& resolved,
                              const std::vector<double>& link_chances, bool is_share);

/// Of metrics.mean_weights: one number for each client, all together 1; empty for none. Throws std::invalid_argument where the
/// algorithm or the graph has no such weights.
std::vector<double> mean_weights(const config::Experiment& experiment, const std::vector<std::uint32_t>& samples);

}  // namespace rubato
