// Graphs that change: which links are there, one graph after the other, again and again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/choices.hpp"
#include "runtime/world/graph.hpp"
#include "runtime/world/mixing.hpp"
#include "runtime/world/topology.hpp"

namespace rubato {

struct GraphChange {
  using Kind = ChangeKind;
  Kind kind = Kind::none;
  double chance = 0.5;       ///< edges, clients: in (0, 1]
  std::size_t graphs = 100;  ///< edges, clients, redraw: after so many the first one comes again
};

/// The graphs in their order; a single one if nothing changes. Chance is addressed by (seed, number of the graph, edge
/// or client), so no graph moves another. Throws std::invalid_argument where the kind cannot change so.
std::vector<Graph> make_changing(const TopologyOptions& options, const GraphChange& change, std::size_t clients,
                                 std::uint64_t seed);

/// Every link that is there at some time. The graphs have the same clients.
Graph joined(std::span<const Graph> graphs);

/// The smallest number of successive graphs, wherever one begins, that together connect all clients with each other; the
/// sequence begins again at its end. Nothing if not even all of them do.
std::optional<std::size_t> joint_period(std::span<const Graph> graphs);

/// ||W(B-1) ... W(0) - J||_2 over the matrices in their order: below 1, a pass through all of them brings clients
/// closer. Time grows with the cube of the clients.
double pass_rate(std::span<const MixingMatrix> matrices);

/// What `rubato topology` says of them: how many, how many edges, how many of them connect all clients. Lines end with '\n'.
std::string describe_changes(std::span<const Graph> graphs);

}  // namespace rubato
