#include "experiment/build/world.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "runtime/world/changing.hpp"
#include "runtime/world/topology.hpp"

namespace rubato {

namespace {

using config::Experiment;

TopologyOptions to_options(const Experiment& experiment) {
  const config::Topology& topology = experiment.topology;
  TopologyOptions options;
  options.kind = std::string(word_of(topology.kind));
  options.rows = static_cast<std::size_t>(topology.rows);
  options.columns = static_cast<std::size_t>(topology.columns);
  options.center = static_cast<std::size_t>(topology.center);
  options.k = static_cast<std::size_t>(topology.k);
  options.step = static_cast<std::size_t>(topology.step);
  options.probability = topology.probability;
  options.radius = topology.radius;
  options.symmetrise = topology.symmetrise;
  options.degree = static_cast<std::size_t>(topology.degree);
  options.rewire = topology.rewire;
  options.attach = static_cast<std::size_t>(topology.attach);
  options.file = topology.file.string();
  options.is_directed = topology.directed;
  if (topology.points == config::PointsKind::channel) options.points = connected_places(experiment, options);
  return options;
}

Graph graph_of(const std::vector<std::pair<std::int64_t, std::int64_t>>& edges, bool is_directed, std::size_t clients) {
  std::vector<Edge> all;
  for (const auto& [source, target] : edges)
    all.push_back({ClientId{static_cast<std::uint32_t>(source)}, ClientId{static_cast<std::uint32_t>(target)}});
  return Graph(clients, is_directed, std::move(all));
}

// A graph of the cycle may only have edges of the whole one, and each stays as long as it says.
std::vector<Graph> graphs_of_edges(const config::Topology& topology, std::size_t clients) {
  const Graph whole = graph_of(topology.edges, topology.directed, clients);
  if (topology.cycle.empty()) return {whole};
  if (!topology.cycle_rounds.empty() && topology.cycle_rounds.size() != topology.cycle.size())
    throw std::invalid_argument(fmt::format("topology.cycle_rounds has {} numbers, must have one for each of the {} graphs",
                                            topology.cycle_rounds.size(), topology.cycle.size()));
  std::vector<Graph> graphs;
  for (std::size_t k = 0; k < topology.cycle.size(); ++k) {
    const Graph part = graph_of(topology.cycle[k], topology.directed, clients);
    for (LinkIndex link = 0; link < part.links(); ++link)
      if (const Edge ends = part.ends_of(link); !whole.find_link(ends.source, ends.target))
        throw std::invalid_argument(
            fmt::format("topology.cycle[{}]: topology.edges has no edge from {} to {}", k, ends.source.value, ends.target.value));
    graphs.insert(graphs.end(), topology.cycle_rounds.empty() ? 1 : static_cast<std::size_t>(topology.cycle_rounds[k]), part);
  }
  return graphs;
}

// Of the clients that are near each other at each change; after the end of the run the first one would come again.
std::vector<Graph> graphs_of_wanderers(const Experiment& experiment) {
  const config::Topology& topology = experiment.topology;
  TopologyOptions options = to_options(experiment);
  const Places places = wanderers(experiment, options.points);
  if (places.is_still())
    throw std::invalid_argument(
        "topology.change = \"redraw\" with topology.points = \"channel\": clients stay where they are; set "
        "channel.speed_high");
  const double changes = experiment.until / topology.change_every;
  if (changes > 1e6) throw std::invalid_argument("topology.change_every: a million changes in the course of a run are too many");
  options.allow_disconnected = true;
  std::vector<Graph> graphs;
  for (std::int64_t k = 0; static_cast<double>(k) <= changes; ++k) {
    const Time at{from_seconds(static_cast<double>(k) * topology.change_every)};
    for (std::uint32_t i = 0; i < options.points.size(); ++i) options.points[i] = places.of({i}, at);
    graphs.push_back(make_topology(options, options.points.size(), static_cast<std::uint64_t>(experiment.seed)));
  }
  return graphs;
}

}  // namespace

Graph whole_of(std::span<const Graph> graphs) { return graphs.size() > 1 ? joined(graphs) : graphs.front(); }

bool follows_wanderers(const config::Topology& topology) {
  return topology.change == ChangeKind::redraw && topology.points == config::PointsKind::channel;
}

std::vector<Point> places_of(const Experiment& experiment) {
  if (experiment.topology.points == config::PointsKind::channel) return to_options(experiment).points;
  return usual_places(experiment);
}

std::vector<Graph> make_graphs(const Experiment& experiment) {
  const auto clients = static_cast<std::size_t>(experiment.clients.count);
  const config::Topology& topology = experiment.topology;
  if (topology.kind == config::TopologyKind::edges) return graphs_of_edges(topology, clients);
  if (follows_wanderers(topology)) return graphs_of_wanderers(experiment);
  const GraphChange change{topology.change, topology.activation, static_cast<std::size_t>(topology.graphs)};
  return make_changing(to_options(experiment), change, clients, static_cast<std::uint64_t>(experiment.seed));
}

Graph make_graph(const Experiment& experiment) { return whole_of(make_graphs(experiment)); }

}  // namespace rubato
