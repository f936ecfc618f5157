// Topologies: named families of graphs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/choices.hpp"
#include "runtime/world/graph.hpp"
#include "runtime/world/points.hpp"

namespace rubato {

struct TopologyOptions {
  std::string kind = "ring";
  /// grid, torus. 0: follows from the other; both 0: the most square shape.
  std::size_t rows = 0, columns = 0;
  std::size_t center = 0;                      ///< star
  std::size_t k = 3;                           ///< knn: neighbours of each client, 1 .. clients - 1
  std::size_t step = 0;                        ///< one_peer_exponential: which graph of the sequence
  double probability = 0;                      ///< erdos_renyi: of each edge, in (0, 1]
  double radius = 0;                           ///< rgg: in the unit of the points, > 0
  Symmetrise symmetrise = Symmetrise::either;  ///< knn
  std::size_t degree = 0;                      ///< random_regular: of every client; small_world: even, of the circle
  double rewire = 0;                           ///< small_world: of each edge, in [0, 1]
  std::size_t attach = 2;                      ///< scale_free: edges of each client to earlier ones, 1 .. clients - 1
  std::string file;                            ///< file: the path of an edge list
  bool is_directed = false;                    ///< file: what its edges mean
  /// rgg, knn: a place for each client; empty: drawn in the unit square.
  std::vector<Point> points;
  /// Random kinds: take the first graph drawn. Others are made as they are; see require_connected.
  bool allow_disconnected = false;
};

/// The graph that the options name. Kinds with chance are drawn from Purpose::topology of this seed, again and again
/// until strongly connected, at most 1000 times. Throws std::invalid_argument for bad options and for 1000 draws in
/// vain. Anything else may come out disconnected: one_peer_exponential often is, and is meant to be.
Graph make_topology(const TopologyOptions& options, std::size_t clients, std::uint64_t seed);

/// So many graphs of a random kind, each drawn by itself; connected or not. The n-th is the same however many are
/// drawn.
std::vector<Graph> draw_topologies(const TopologyOptions& options, std::size_t clients, std::uint64_t seed, std::size_t graphs);

/// Nothing if every client has a path to every other; else a sentence with the number of parts and a client that cannot be
/// reached.
std::optional<std::string> connection_fault(const Graph& graph);
/// Throws that sentence as std::invalid_argument.
void require_connected(const Graph& graph);

struct TopologyKind {
  std::string_view name, meaning;
  /// The fields of TopologyOptions that this kind reads, with a blank between.
  std::string_view keys;
};

std::span<const TopologyKind> topology_kinds();

/// The families themselves. Sizes are at least 1; a family that needs more than max_links links throws
/// std::invalid_argument before it allocates them.
namespace topologies {

/// Numbers in [0, 1), one a call.
using Uniforms = std::function<double()>;

Graph ring(std::size_t clients);
Graph directed_ring(std::size_t clients);
Graph complete(std::size_t clients);
Graph star(std::size_t clients, ClientId center);
Graph path(std::size_t clients);
/// Every client of the first half (rounded up) with every one of the rest.
Graph bipartite(std::size_t clients);
/// i -> i + 2^k mod m for every 2^k < m.
Graph exponential(std::size_t clients);
/// i -> i + 2^(step mod ceil(log2 m)) mod m.
Graph one_peer_exponential(std::size_t clients, std::size_t step);
/// Client row * columns + column; wraps that are 2 wide are one edge.
Graph torus(std::size_t rows, std::size_t columns);
Graph grid(std::size_t rows, std::size_t columns);

/// One number for each of (0, 1), (0, 2), ... (m-2, m-1); an edge where it is below the probability. Time grows with
/// the square of the clients.
Graph erdos_renyi(std::size_t clients, double probability, const Uniforms& uniforms);
/// An edge where the distance is at most the radius.
Graph random_geometric(std::span<const Point> points, double radius);

/// Each client sends to its k nearest, ties by lower number. `none` stays directed; `either` (union) and `both`
/// (mutual) make an undirected edge where one or both have chosen the other.
Graph nearest_neighbours(std::span<const Point> points, std::size_t k, Symmetrise symmetrise);

/// Every client has so many neighbours: below clients, and clients * degree is even. Two free ends of edges are joined at a time,
/// drawn among all pairs that are no self loop and no edge twice, and all begins anew where no pair is left (Steger and Wormald:
/// nearly all such graphs are alike). Above half of all other clients the edges that are not there are drawn so.
Graph random_regular(std::size_t clients, std::size_t degree, const Uniforms& uniforms);
/// A circle in which each client knows the nearest `degree` (even, below clients), and each edge leads with this chance from its
/// first end to any client that this end does not know yet (Watts and Strogatz).
Graph small_world(std::size_t clients, std::size_t degree, double rewire, const Uniforms& uniforms);
/// The first attach + 1 clients all know each other; each further one is joined to `attach` earlier ones, drawn with chances
/// that are their degrees (Barabasi and Albert). Connected.
Graph scale_free(std::size_t clients, std::size_t attach, const Uniforms& uniforms);

}  // namespace topologies
}  // namespace rubato
