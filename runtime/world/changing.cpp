#include "runtime/world/changing.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "runtime/random.hpp"
#include "runtime/sentence.hpp"
#include "runtime/world/edge_list.hpp"
#include "runtime/world/spectrum.hpp"

namespace rubato {

namespace {

// A number in [0, 1) for this client, or for its edge to the other one, in the k-th graph.
double chance_of(std::uint64_t seed, ClientId client, std::uint64_t k, std::optional<ClientId> other) {
  return uniform01(draw(seed, client, Purpose::topology, k, other ? other->value + 1 : 0).first);
}

template <class IsThere>
std::vector<Graph> thinned(const Graph& whole, std::size_t graphs, IsThere is_there) {
  std::vector<Graph> parts;
  const std::vector<Edge> edges = whole.edges();
  for (std::size_t k = 0; k < graphs; ++k) {
    std::vector<Edge> here;
    std::ranges::copy_if(edges, std::back_inserter(here), [&](const Edge& edge) { return is_there(edge, k); });
    parts.emplace_back(whole.clients(), whole.is_directed(), std::move(here));
  }
  return parts;
}

std::vector<Graph> steps_of(const TopologyOptions& options, std::size_t clients) {
  if (options.kind != "one_peer_exponential")
    refuse("topology.change = \"steps\": topology.kind = \"", options.kind, "\" has no steps; only one_peer_exponential does");
  std::vector<Graph> parts;
  for (std::size_t far = 1, k = 0; k == 0 || far < clients; far *= 2, ++k)
    parts.push_back(topologies::one_peer_exponential(clients, options.step + k));
  return parts;
}

void check_chance(const GraphChange& change) {
  if (change.chance > 0 && change.chance <= 1) return;
  throw std::invalid_argument("topology.activation = " + std::to_string(change.chance) + ": must be greater than 0 and at most 1");
}

bool is_connected(std::span<const Graph> graphs, std::size_t first, std::size_t count) {
  std::vector<Graph> some;
  for (std::size_t k = 0; k < count; ++k) some.push_back(graphs[(first + k) % graphs.size()]);
  return joined(some).is_strongly_connected();
}

}  // namespace

std::vector<Graph> make_changing(const TopologyOptions& options, const GraphChange& change, std::size_t clients,
                                 std::uint64_t seed) {
  using Kind = GraphChange::Kind;
  if (change.graphs == 0) refuse("topology.graphs = 0: must be at least 1");
  switch (change.kind) {
    case Kind::none:
      return {make_topology(options, clients, seed)};
    case Kind::edges:
      check_chance(change);
      return thinned(make_topology(options, clients, seed), change.graphs,
                     [&](const Edge& edge, std::size_t k) { return chance_of(seed, edge.source, k, edge.target) < change.chance; });
    case Kind::clients:
      check_chance(change);
      return thinned(make_topology(options, clients, seed), change.graphs, [&](const Edge& edge, std::size_t k) {
        return chance_of(seed, edge.source, k, {}) < change.chance && chance_of(seed, edge.target, k, {}) < change.chance;
      });
    case Kind::redraw:
      return draw_topologies(options, clients, seed, change.graphs);
    case Kind::steps:
      return steps_of(options, clients);
    case Kind::file:
      return load_edge_lists(options.file, clients, options.is_directed);
  }
  return {};
}

Graph joined(std::span<const Graph> graphs) {
  const bool is_directed = std::ranges::any_of(graphs, &Graph::is_directed);
  std::vector<Edge> all;
  for (const Graph& graph : graphs) {
    const std::vector<Edge> edges = graph.edges();
    all.insert(all.end(), edges.begin(), edges.end());
    if (is_directed && !graph.is_directed())
      for (const Edge& edge : edges) all.push_back({edge.target, edge.source});
    std::ranges::sort(all);
    all.erase(std::ranges::unique(all).begin(), all.end());
  }
  return Graph(graphs.front().clients(), is_directed, std::move(all));
}

std::optional<std::size_t> joint_period(std::span<const Graph> graphs) {
  const auto connects = [&](std::size_t count) {
    for (std::size_t first = 0; first < graphs.size(); ++first)
      if (!is_connected(graphs, first, count)) return false;
    return true;
  };
  std::size_t low = 1, high = graphs.size();  // more graphs never connect less
  if (!is_connected(graphs, 0, high)) return std::nullopt;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (connects(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

double pass_rate(std::span<const MixingMatrix> matrices) {
  const std::size_t clients = matrices.front().graph().clients();
  DenseMatrix product = matrices.front().dense();
  for (const MixingMatrix& matrix : matrices.subspan(1)) product = product_of(matrix.dense(), product);
  return consensus_rate(weights::from_dense(topologies::complete(clients), product));
}

std::string describe_changes(std::span<const Graph> graphs) {
  const auto [least, most] = std::ranges::minmax(graphs, {}, &Graph::links);
  std::ostringstream text;
  text << "changes: " << graphs.size() << " graphs, one after the other, again and again; " << least.links() << " to "
       << most.links() << " directed links each\n";
  if (const auto period = joint_period(graphs))
    text << "  any " << *period << " in a row connect all clients\n";
  else
    text << "  not even all of them together connect all clients\n";
  return text.str();
}

}  // namespace rubato
