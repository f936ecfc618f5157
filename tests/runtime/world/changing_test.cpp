// Graphs that change: how they are drawn, that none moves another, and how many in a row connect everybody.
#include "runtime/world/changing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "runtime/world/edge_list.hpp"

using namespace rubato;

namespace {

using Kind = GraphChange::Kind;

std::string refused(const TopologyOptions& options, const GraphChange& change) {
  try {
    make_changing(options, change, 8, 1);
  } catch (const std::invalid_argument& fault) {
    return fault.what();
  }
  return "";
}

bool are_equal(const Graph& one, const Graph& other) {
  return one.is_directed() == other.is_directed() && one.edges() == other.edges();
}

Graph undirected(std::size_t clients, std::vector<Edge> edges) { return Graph(clients, false, std::move(edges)); }

/// The paths 3-4-6-7, 1-8-6-7, 1-8-5-2 of DeceFL's paper and back, clients from 0.
std::vector<Graph> paths_of_the_paper() {
  const Graph first = undirected(8, {{{2}, {3}}, {{3}, {5}}, {{5}, {6}}}),
              second = undirected(8, {{{0}, {7}}, {{5}, {7}}, {{5}, {6}}}),
              third = undirected(8, {{{0}, {7}}, {{4}, {7}}, {{1}, {4}}});
  return {first, second, third, second, first};
}

}  // namespace

TEST_CASE("each edge is there with its chance, in both directions, and as often as it should") {
  const auto graphs = make_changing({.kind = "ring"}, {Kind::edges, 0.3, 5000}, 10, 7);
  REQUIRE(graphs.size() == 5000);
  std::size_t links = 0;
  for (const Graph& graph : graphs) {
    CHECK_FALSE(graph.is_directed());
    links += graph.links();
  }
  const double share = static_cast<double>(links) / (5000.0 * 20);
  CHECK(share == doctest::Approx(0.3).epsilon(0.02));  // 50,000 draws: the standard error is 0.002
}

TEST_CASE("a client that is not there has no edge, and the others have all of theirs") {
  const auto graphs = make_changing({.kind = "complete"}, {Kind::clients, 0.6, 2000}, 6, 7);
  std::size_t present = 0;
  for (const Graph& graph : graphs) {
    std::size_t here = 0;
    for (std::uint32_t i = 0; i < 6; ++i) here += graph.out_degree({i}) > 0;
    CHECK(graph.links() == here * (here - (here > 0)));
    present += here;
  }
  CHECK(static_cast<double>(present) / 12'000 == doctest::Approx(0.6).epsilon(0.03));
}

TEST_CASE("a graph of a sequence is the same however many are drawn, and another seed draws others") {
  for (const TopologyOptions& options : {TopologyOptions{.kind = "erdos_renyi", .probability = 0.3}, TopologyOptions{.kind = "knn"},
                                         TopologyOptions{.kind = "random_geometric", .radius = 0.4}})
    for (const Kind kind : {Kind::redraw, Kind::edges, Kind::clients}) {
      const auto few = make_changing(options, {kind, 0.5, 5}, 12, 3), many = make_changing(options, {kind, 0.5, 50}, 12, 3),
                 others = make_changing(options, {kind, 0.5, 50}, 12, 4);
      for (std::size_t k = 0; k < few.size(); ++k) CHECK(are_equal(few[k], many[k]));
      CHECK_FALSE(std::ranges::equal(many, others, are_equal));
      CHECK_FALSE(are_equal(many[0], many[1]));
    }
}

TEST_CASE("the steps of the one-peer graph are the links of the exponential one, each once") {
  for (const std::size_t clients : {2u, 3u, 8u, 13u}) {
    const auto graphs = make_changing({.kind = "one_peer_exponential"}, {.kind = Kind::steps}, clients, 1);
    CHECK(are_equal(joined(graphs), topologies::exponential(clients)));
    std::size_t links = 0;
    for (const Graph& graph : graphs) links += graph.links();
    CHECK(links == topologies::exponential(clients).links());
  }
}

TEST_CASE("a file may number the graph of each edge") {
  std::istringstream lines("0 1 0 # first\n1 2 1\n\n2 3 1\n0 3 0\n");
  const auto graphs = read_edge_lists(lines, "cycle.txt", 4, false);
  REQUIRE(graphs.size() == 2);
  CHECK(graphs[0].edges() == std::vector<Edge>{{{0}, {1}}, {{0}, {3}}});
  CHECK(graphs[1].edges() == std::vector<Edge>{{{1}, {2}}, {{2}, {3}}});
  const auto fault = [](const std::string& text) -> std::string {
    std::istringstream damaged(text);
    try {
      read_edge_lists(damaged, "cycle.txt", 4, false);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  CHECK(fault("0 1\n").starts_with("cycle.txt, line 1: \"0\" is no edge"));
  CHECK(fault("0 1 0\n0 1 x\n").starts_with("cycle.txt, line 2: \"0 1 x\" is no edge of a graph"));
  CHECK(fault("0 1 0\n1 2 2\n") == "cycle.txt: graph 1 has no edge");
  CHECK(fault("0 1 4000000000\n").starts_with("cycle.txt, line 1"));
  CHECK(fault("0 1 0\n1 0 0\n").starts_with("cycle.txt, line 2: the edge between 0 and 1 stands on line 1"));
  CHECK(fault("# nothing\n") == "cycle.txt: there is no edge");
}

TEST_CASE("what cannot change so is refused with a sentence") {
  CHECK(refused({.kind = "ring"}, {.kind = Kind::redraw}) ==
        "topology.change = \"redraw\": topology.kind = \"ring\" is not drawn; erdos_renyi, random_geometric, knn, "
        "random_regular, small_world and scale_free are");
  CHECK(refused({.kind = "ring"}, {.kind = Kind::steps}).starts_with("topology.change = \"steps\": topology.kind = \"ring\""));
  CHECK(refused({.kind = "ring"}, {Kind::edges, 0.0, 5}).starts_with("topology.activation = 0"));
  CHECK(refused({.kind = "ring"}, {Kind::edges, 0.5, 0}).starts_with("topology.graphs = 0"));
}

TEST_CASE("the joint period is the one that trying every stretch finds") {
  const auto by_trying = [](const std::vector<Graph>& graphs) -> std::optional<std::size_t> {
    for (std::size_t count = 1; count <= graphs.size(); ++count) {
      bool all = true;
      for (std::size_t first = 0; first < graphs.size(); ++first) {
        std::vector<Graph> stretch;
        for (std::size_t k = 0; k < count; ++k) stretch.push_back(graphs[(first + k) % graphs.size()]);
        all = all && joined(stretch).is_strongly_connected();
      }
      if (all) return count;
    }
    return std::nullopt;
  };
  CHECK(joint_period(paths_of_the_paper()) == 5);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto graphs = make_changing({.kind = "complete"}, {Kind::edges, 0.15, 12}, 7, seed);
    CHECK(joint_period(graphs) == by_trying(graphs));
  }
  CHECK_FALSE(joint_period(std::vector{undirected(3, {{{0}, {1}}}), undirected(3, {{{0}, {1}}})}));
}

TEST_CASE("a pass through the paths of DeceFL's paper brings clients closer by the printed factor") {
  std::vector<MixingMatrix> matrices;
  for (const Graph& graph : paths_of_the_paper()) matrices.push_back(weights::metropolis(graph));
  CHECK(pass_rate(matrices) == doctest::Approx(0.857).epsilon(0.001));
}
