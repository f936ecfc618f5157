// Weights of links: from the rules of the file, or those that the algorithm is made for.
#pragma once

#include <vector>

#include "experiment/build/resolved_algorithm.hpp"
#include "experiment/experiment.hpp"
#include "runtime/world/graph.hpp"

namespace rubato {

/// What every link of the whole graph weighs while this part of it is there, in publish steps (`is_share`) or in merges;
/// links that are not there weigh nothing. Throws std::invalid_argument where a rule does not suit the graph.
std::vector<double> weights_of(const Graph& part, const Graph& graph, const config::Experiment& experiment,
                               const ResolvedAlgorithm& resolved, bool is_share);

}  // namespace rubato
