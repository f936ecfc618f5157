// From the experiment to the world between its clients: where they are, their graphs and links, when they come and go.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "experiment/experiment.hpp"
#include "runtime/world/channel.hpp"
#include "runtime/world/churn.hpp"
#include "runtime/world/fading_links.hpp"
#include "runtime/world/graph.hpp"
#include "runtime/world/places.hpp"
#include "runtime/world/points.hpp"
#include "runtime/world/topology.hpp"

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
/// The same where the graph is made without them: read or drawn; none where the channel has none.
std::vector<Point> usual_places(const config::Experiment& experiment);
/// Places with which the graph of these options is connected: drawn again and again, at most 1000 times; those of a
/// file are taken as they are. Throws std::invalid_argument.
std::vector<Point> connected_places(const config::Experiment& experiment, TopologyOptions options);
/// The clients on their ways from these places, as the channel sees them.
Places wanderers(const config::Experiment& experiment, std::vector<Point> places);

/// The file's channel between clients at these places; only a wireless one looks at them. None for aircomp, which needs
/// the graph. Throws std::invalid_argument.
std::unique_ptr<Channel> make_channel(const config::Experiment& experiment, std::vector<Point> places, bool in_rounds);

/// How links fade under rayleigh_threshold and aircomp.
Fading fading_of(const config::Experiment& experiment);

/// What the file says of single links must be about links of the graph; a table or a trace must name them all.
void check_links(const config::Channel& channel, const Channel* made, const Graph& graph);

/// The hub of a unification by the best channel needs a channel that can tell.
void require_hub(const config::Experiment& experiment);

/// Throws std::invalid_argument where the script contradicts itself or a trace cannot be read.
ChurnPlan make_churn_plan(const config::Experiment& experiment);

}  // namespace rubato
