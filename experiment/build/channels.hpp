// From the experiment file to the links between clients, and to where the clients are.
#pragma once

#include <memory>
#include <vector>

#include "experiment/experiment.hpp"
#include "runtime/world/channel.hpp"
#include "runtime/world/fading_links.hpp"
#include "runtime/world/graph.hpp"
#include "runtime/world/places.hpp"
#include "runtime/world/points.hpp"
#include "runtime/world/topology.hpp"

namespace rubato {

/// The file's channel between clients at these places; only a wireless one looks at them. None for aircomp, which needs
/// the graph. Throws std::invalid_argument.
std::unique_ptr<Channel> make_channel(const config::Experiment& experiment, std::vector<Point> places, bool in_rounds);

/// How links fade under rayleigh_threshold and aircomp.
Fading fading_of(const config::Experiment& experiment);

/// What the file says of single links must be about links of the graph; a table or a trace must name them all.
void check_links(const config::Channel& channel, const Channel* made, const Graph& graph);

/// The hub of a unification by the best channel needs a channel that can tell.
void require_hub(const config::Experiment& experiment);

/// The clients' places in metres, read or drawn; none where the channel has none.
std::vector<Point> usual_places(const config::Experiment& experiment);

/// Places with which the graph of these options is connected: drawn again and again, at most 1000 times; those of a
/// file are taken as they are. Throws std::invalid_argument.
std::vector<Point> connected_places(const config::Experiment& experiment, TopologyOptions options);

/// The clients on their ways from these places, as the channel sees them.
Places wanderers(const config::Experiment& experiment, std::vector<Point> places);

}  // namespace rubato
