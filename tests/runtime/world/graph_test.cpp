#include "runtime/world/graph.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "tests/runtime/world/graphs.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

// Tries all colourings with two colours.
bool has_two_colouring(const Graph& graph) {
  const auto edges = graph.edges();
  for (unsigned colours = 0; colours < (1u << graph.clients()); ++colours)
    if (std::ranges::all_of(edges, [&](Edge e) { return ((colours >> e.source.value) ^ (colours >> e.target.value)) & 1u; }))
      return true;
  return false;
}

std::size_t count_parts(const std::vector<std::vector<bool>>& can) {
  return std::set<std::vector<bool>>(can.begin(), can.end()).size();
}

std::vector<ClientId> to_vector(std::span<const ClientId> clients) { return {clients.begin(), clients.end()}; }

}  // namespace

TEST_CASE("an undirected edge is listed once, from the lower client, and is a link both ways") {
  const Graph graph(4, false, {{{3}, {1}}, {{0}, {1}}});
  CHECK(graph.edges() == std::vector<Edge>{{{0}, {1}}, {{1}, {3}}});
  CHECK(graph.links() == 4);
  CHECK(to_vector(graph.receivers_of({1})) == std::vector<ClientId>{{0}, {3}});
  CHECK(to_vector(graph.senders_to({1})) == std::vector<ClientId>{{0}, {3}});
  CHECK(graph.receivers_of({2}).empty());
}

TEST_CASE("a directed edge leads one way only") {
  const Graph graph(3, true, {{{2}, {0}}, {{0}, {1}}});
  CHECK(graph.edges() == std::vector<Edge>{{{0}, {1}}, {{2}, {0}}});
  CHECK(graph.out_degree({0}) == 1);
  CHECK(graph.in_degree({0}) == 1);
  CHECK(graph.find_link({2}, {0}) == LinkIndex{1});
  CHECK_FALSE(graph.find_link({0}, {2}).has_value());
}

TEST_CASE("links are numbered by source and then by target, and every view of them agrees") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    const Graph graph = random_graph(seed, 12, seed % 2 == 0, 0.3);
    LinkIndex link = 0;
    for (ClientId source; source.value < 12; ++source.value)
      for (ClientId target; target.value < 12; ++target.value) {
        const auto found = graph.find_link(source, target);
        if (!found) continue;
        REQUIRE(*found == link);
        REQUIRE(graph.ends_of(link) == Edge{source, target});
        const auto receivers = graph.receivers_of(source), senders = graph.senders_to(target);
        REQUIRE(receivers[link - graph.first_link(source)] == target);
        const auto k = static_cast<std::size_t>(std::ranges::find(senders, source) - senders.begin());
        REQUIRE(graph.in_link(target, k) == link);
        ++link;
      }
    REQUIRE(link == graph.links());
    for (ClientId i; i.value < 12; ++i.value) {
      REQUIRE(std::ranges::is_sorted(graph.receivers_of(i)));
      REQUIRE(std::ranges::is_sorted(graph.senders_to(i)));
    }
  }
}

TEST_CASE("connection and bipartiteness agree with brute force") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    const Graph graph = random_graph(seed, 2 + seed % 7, seed % 2 == 0, 0.15 + 0.1 * static_cast<double>(seed % 4));
    const auto can = paths(graph);
    bool all = true;
    for (std::uint32_t start = 0; start < graph.clients(); ++start) {
      std::vector<ClientId> missing, cut_off;
      for (std::uint32_t i = 0; i < graph.clients(); ++i) {
        if (!can[start][i]) missing.push_back({i});
        if (!can[i][start]) cut_off.push_back({i});
      }
      REQUIRE(graph.not_reachable_from({start}) == missing);
      REQUIRE(graph.not_reaching({start}) == cut_off);
      all = all && missing.empty();
    }
    REQUIRE(graph.is_strongly_connected() == all);
    REQUIRE(graph.connected_components() == count_parts(paths(graph, true)));
    REQUIRE(graph.is_bipartite() == has_two_colouring(graph));
  }
}

TEST_CASE("one client alone is connected") {
  const Graph graph(1, false, {});
  CHECK(graph.is_strongly_connected());
  CHECK(graph.connected_components() == 1);
  CHECK(graph.edges().empty());
}

TEST_CASE("bad edges are refused with the edge and the reason") {
  CHECK(refusal([] {
          Graph(3, true, {{{1}, {1}}});
        }) == "topology.edges: 1 -> 1 is a self loop; a client hears itself without one");
  CHECK(refusal([] {
          Graph(3, true, {{{1}, {3}}});
        }) == "topology.edges: 1 -> 3 names a client that does not exist; clients are 0 .. 2");
  CHECK(refusal([] { Graph(3, true, {{{1}, {2}}, {{0}, {1}}, {{1}, {2}}}); }) == "topology.edges: 1 -> 2 is listed twice");
  CHECK(refusal([] {
          Graph(3, false, {{{1}, {2}}, {{2}, {1}}});
        }) == "topology.edges: 1 -> 2 is listed twice; an undirected edge is listed once");
  CHECK(refusal([] { Graph(0, false, {}); }) == "clients.count: 0 clients make no graph; allowed are 1 and more");
  CHECK(refusal([] { Graph(3, true, {{{1}, {2}}, {{2}, {1}}}); }).empty());
}
