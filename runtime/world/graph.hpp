// Graph: an immutable directed graph over clients 0 .. m-1: which of them can send to which.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/ids.hpp"

namespace rubato {

/// source can send to target.
struct Edge {
  ClientId source;  ///< sends
  ClientId target;  ///< receives
  constexpr auto operator<=>(const Edge&) const = default;
};

/// A directed link, numbered from 0 in the order of (source, target).
using LinkIndex = std::uint32_t;

/// In the place of a link: the message takes none, such as a unification's model or a request.
inline constexpr LinkIndex outside_graph = 0xFFFF'FFFF;

/// Copies are cheap: they share one immutable table, so a graph may be kept by value and read from any thread.
/// A ring of 1,000,000 clients takes 32 MB. Client and link numbers handed in must exist.
class Graph {
 public:
  /// More links than this are refused: building them would need more than 3 GB.
  static constexpr std::size_t max_links = std::size_t{1} << 27;

  /// Undirected edges are listed once, either way round, and become a link in both directions.
  /// Throws std::invalid_argument for a self loop, an edge listed twice, or a client that does not exist.
  Graph(std::size_t clients, bool is_directed, std::vector<Edge> edges);

  /// How many there are.
  std::size_t clients() const { return table_->first_out.size() - 1; }
  /// How many directed links there are.
  std::size_t links() const { return table_->receivers.size(); }
  /// As declared: a directed graph stays directed when every link happens to have its reverse.
  bool is_directed() const { return table_->is_directed; }
  /// Sorted; undirected edges once, with source < target.
  std::vector<Edge> edges() const;

  /// Ascending; valid as long as any copy of this graph.
  std::span<const ClientId> receivers_of(ClientId source) const;
  /// The other direction.
  std::span<const ClientId> senders_to(ClientId target) const;
  /// How many clients hear it.
  std::size_t out_degree(ClientId source) const { return receivers_of(source).size(); }
  /// How many clients it hears.
  std::size_t in_degree(ClientId target) const { return senders_to(target).size(); }

  /// The link to receivers_of(source)[k] is first_link(source) + k.
  LinkIndex first_link(ClientId source) const { return table_->first_out[source.value]; }
  /// The link from senders_to(target)[k].
  LinkIndex in_link(ClientId target, std::size_t k) const { return table_->in_links[table_->first_in[target.value] + k]; }
  /// The link between these clients, if there is one.
  std::optional<LinkIndex> find_link(ClientId source, ClientId target) const;
  /// Its sender and its receiver.
  Edge ends_of(LinkIndex link) const;

  /// There is a path from every client to every other.
  bool is_strongly_connected() const;
  /// Ascending: the clients that no path from `start` arrives at.
  std::vector<ClientId> not_reachable_from(ClientId start) const;
  /// Ascending: the clients from which no path leads to `goal`.
  std::vector<ClientId> not_reaching(ClientId goal) const;
  /// Of the graph without directions.
  std::size_t connected_components() const;
  /// Whether the graph without directions has no cycle of odd length.
  bool is_bipartite() const { return colours().has_value(); }
  /// Two colours of clients, so that no link is between two of one: whether a client has the one that client 0 has not. Nothing if
  /// there is such a cycle.
  std::optional<std::vector<bool>> colours() const;

 private:
  struct Table {
    bool is_directed;
    std::vector<LinkIndex> first_out, first_in;  // a row a client, and the end
    std::vector<ClientId> receivers, senders;
    std::vector<LinkIndex> in_links;  // beside senders: the number of each link
  };
  static Table tabulate(std::size_t clients, bool is_directed, std::vector<Edge> links);

  std::shared_ptr<const Table> table_;
};

}  // namespace rubato
