// From the experiment to its graphs, and where clients are.
#pragma once

#include <span>
#include <vector>

#include "experiment/experiment.hpp"
#include "runtime/world/graph.hpp"
#include "runtime/world/points.hpp"

namespace rubato {

/// The graphs of an experiment in their order, each as long as topology.change_every says; a single one if it stays.
/// Throws std::invalid_argument if they cannot be made.
std::vector<Graph> make_graphs(const config::Experiment& experiment);
/// All links that are there at some time.
Graph make_graph(const config::Experiment& experiment);
/// The same of graphs that were made.
Graph whole_of(std::span<const Graph> graphs);

/// Each change draws the graph from where moving clients are then.
bool follows_wanderers(const config::Topology& topology);

/// Where the clients of a wireless channel are at the start, in metres.
std::vector<Point> places_of(const config::Experiment& experiment);

}  // namespace rubato
