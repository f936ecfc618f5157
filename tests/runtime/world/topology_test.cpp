#include "runtime/world/topology.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <random>

#include "tests/runtime/world/graphs.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

std::vector<Point> points_of(const Json& list) {
  std::vector<Point> points;
  for (const Json& p : list) points.push_back({p[0].get<double>(), p[1].get<double>()});
  return points;
}

topologies::Uniforms replay(const std::vector<double>& uniforms) {
  return [uniforms, next = std::size_t{0}]() mutable { return uniforms.at(next++); };
}

void check_same(const Graph& graph, const Json& expected) {
  CHECK(graph.clients() == expected.at("m").get<std::size_t>());
  CHECK(graph.is_directed() == expected.at("directed").get<bool>());
  CHECK(graph.edges() == edges_of(expected.at("edges")));
}

TopologyOptions of_kind(const std::string& kind) {
  TopologyOptions options;
  options.kind = kind;
  return options;
}

std::string refusal_of(const TopologyOptions& options, std::size_t clients) {
  return refusal([&] { make_topology(options, clients, 1); });
}

}  // namespace

TEST_CASE("the generators give the golden graphs") {
  const Json golden_case = golden("topologies_a");
  const auto points = points_of(golden_case["points"]);
  using namespace topologies;
  const std::map<std::string, Graph> made{
      {"ring(6)", ring(6)},
      {"ring(2)", ring(2)},
      {"directed_ring(4)", directed_ring(4)},
      {"complete(4)", complete(4)},
      {"star(5,0)", star(5, {0})},
      {"path(4)", topologies::path(4)},
      {"bipartite(5)", bipartite(5)},
      {"grid(2,3)", grid(2, 3)},
      {"torus(3,3)", torus(3, 3)},
      {"exponential(8)", topologies::exponential(8)},
      {"knn(points,3,none)", nearest_neighbours(points, 3, Symmetrise::none)},
      {"knn(points,3,union)", nearest_neighbours(points, 3, Symmetrise::either)},
      {"rgg(points,0.4)", random_geometric(points, 0.4)},
      {"erdos_renyi(6,0.5,uniforms)", erdos_renyi(6, 0.5, replay(golden_case["uniforms"]))},
  };
  REQUIRE(golden_case["expect"].size() == made.size() + 1);
  for (const auto& [call, expected] : golden_case["expect"].items()) {
    CAPTURE(call);
    if (call == "one_peer_exponential(8,t=0..3)") {
      for (std::size_t step = 0; step < 4; ++step) check_same(one_peer_exponential(8, step), expected[step]);
      continue;
    }
    REQUIRE(made.contains(call));
    check_same(made.at(call), expected);
  }
}

TEST_CASE("mutual neighbours are those that both ends have chosen") {
  const auto points = points_of(golden("topologies_a")["points"]);
  const Graph chosen = topologies::nearest_neighbours(points, 3, Symmetrise::none);
  const Graph mutual = topologies::nearest_neighbours(points, 3, Symmetrise::both);
  for (std::uint32_t i = 0; i < 9; ++i)
    for (std::uint32_t j = 0; j < 9; ++j) {
      const bool both = chosen.find_link({i}, {j}) && chosen.find_link({j}, {i});
      CHECK(mutual.find_link({i}, {j}).has_value() == both);
    }
}

TEST_CASE("wraps that are two wide are one edge, and one wide none") {
  CHECK(topologies::torus(2, 2).edges() == topologies::grid(2, 2).edges());
  CHECK(topologies::torus(1, 5).edges() == topologies::ring(5).edges());
  CHECK(topologies::torus(2, 3).edges().size() == 9);
}

TEST_CASE("every kind is made for few clients and many, with the names it is listed under") {
  for (const TopologyKind& kind : topology_kinds()) {
    if (kind.name == "file") continue;
    TopologyOptions options = of_kind(std::string(kind.name));
    options.probability = 0.9;
    options.radius = 1;
    options.degree = 2;
    options.rewire = 0.1;
    for (std::size_t clients : {4u, 5u, 12u, 100u}) {
      CAPTURE(kind.name);
      CAPTURE(clients);
      const Graph graph = make_topology(options, clients, 3);
      CHECK(graph.clients() == clients);
      CHECK(graph.is_strongly_connected());
      CHECK_NOTHROW(require_connected(graph));
    }
  }
}

TEST_CASE("one client has no links and two have one edge, whatever regular kind") {
  for (const char* kind : {"ring", "complete", "star", "path", "bipartite", "grid", "torus"}) {
    CAPTURE(kind);
    CHECK(make_topology(of_kind(kind), 1, 0).links() == 0);
    CHECK(make_topology(of_kind(kind), 2, 0).links() == 2);
  }
  for (const char* kind : {"directed_ring", "exponential", "one_peer_exponential"}) {
    CAPTURE(kind);
    CHECK(make_topology(of_kind(kind), 1, 0).links() == 0);
    CHECK(make_topology(of_kind(kind), 2, 0).edges() == std::vector<Edge>{{{0}, {1}}, {{1}, {0}}});
  }
}

TEST_CASE("rows and columns follow from each other, or are the most square there is") {
  TopologyOptions options = of_kind("grid");
  CHECK(make_topology(options, 12, 0).edges() == topologies::grid(3, 4).edges());
  CHECK(make_topology(options, 7, 0).edges() == topologies::path(7).edges());
  options.rows = 2;
  CHECK(make_topology(options, 12, 0).edges() == topologies::grid(2, 6).edges());
  options.columns = 5;
  CHECK(refusal_of(options, 12) ==
        "topology.rows x columns = 2 x 5 is not possible; the product must be the number of clients, 12 (0: chosen for "
        "you)");
  options.rows = 24;
  options.columns = 0;
  CHECK_FALSE(refusal_of(options, 12).empty());
}

TEST_CASE("a random kind is drawn until it is connected, and its seed decides it") {
  TopologyOptions options = of_kind("erdos_renyi");
  options.probability = 0.15;
  bool some_first_draw_failed = false;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    options.allow_disconnected = true;
    some_first_draw_failed |= !make_topology(options, 12, seed).is_strongly_connected();
    options.allow_disconnected = false;
    const Graph graph = make_topology(options, 12, seed);
    CHECK(graph.is_strongly_connected());
    CHECK(graph.edges() == make_topology(options, 12, seed).edges());
    CHECK(graph.edges() != make_topology(options, 12, seed + 100).edges());
  }
  CHECK(some_first_draw_failed);
}

TEST_CASE("given points are used as they are") {
  TopologyOptions options = of_kind("random_geometric");
  options.points = {{0, 0}, {0, 1}, {5, 5}};
  options.radius = 1;
  CHECK(make_topology(options, 3, 1).edges() == std::vector<Edge>{{{0}, {1}}});
  options.points.pop_back();
  CHECK(refusal_of(options, 3) == "topology.points = 2 points is not possible; one for each of the 3 clients");
  options.points.push_back({0.5, std::numeric_limits<double>::infinity()});
  CHECK(refusal_of(options, 3) == "topology.points = (0.5, inf) is not possible; coordinates are numbers between -1e100 and 1e100");
}

TEST_CASE("hopeless chances are refused after 1000 draws with what to change") {
  TopologyOptions options = of_kind("erdos_renyi");
  options.probability = 0.001;
  CHECK(refusal_of(options, 10) ==
        "topology.kind = \"erdos_renyi\" is not possible; with 10 clients and probability 0.001 none of 1000 draws was "
        "connected; raise topology.probability");
  options = of_kind("knn");
  options.k = 1;
  options.symmetrise = Symmetrise::both;
  CHECK(refusal_of(options, 10).find("raise topology.k or set topology.symmetrise to \"union\"") != std::string::npos);
}

TEST_CASE("bad options are refused with field, value and what is allowed") {
  TopologyOptions options = of_kind("erdos_renyi");
  CHECK(refusal_of(options, 5) == "topology.probability = 0 is not possible; allowed are numbers above 0 and up to 1");
  options = of_kind("random_geometric");
  options.radius = -1;
  CHECK(refusal_of(options, 5) == "topology.radius = -1 is not possible; allowed are numbers above 0");
  options = of_kind("knn");
  options.k = 5;
  CHECK(refusal_of(options, 5) == "topology.k = 5 is not possible; allowed are 1 .. 4, the number of other clients");
  options = of_kind("star");
  options.center = 5;
  CHECK(refusal_of(options, 5) == "topology.center = 5 is not possible; allowed are 0 .. 4");
  CHECK(refusal_of(of_kind("rign"), 5).find("topology.kind = \"rign\" is not possible; allowed are ring, cycle,") == 0);
  CHECK(refusal_of(of_kind("ring"), 0) == "clients.count = 0 is not possible; allowed are 1 .. 4294967294");
  CHECK(refusal_of(of_kind("complete"), 1'000'000).find("take fewer clients or a sparser kind") != std::string::npos);
}

TEST_CASE("a graph that falls apart is refused with who cannot be reached") {
  CHECK(refusal([] {
          require_connected(Graph(5, false, {{{0}, {1}}, {{2}, {3}}}));
        }) ==
        "topology: the graph falls into 3 parts; no path leads from client 0 to clients 2, 3, 4; every client must have "
        "a path to every other");
  CHECK(refusal([] {
          require_connected(Graph(3, true, {{{0}, {1}}, {{1}, {2}}, {{2}, {1}}}));
        }) == "topology: no path leads to client 0 from clients 1, 2; every client must have a path to every other");
  CHECK(refusal([] { require_connected(Graph(20, false, {})); }).find("clients 1, 2, 3, 4, 5, 6, 7, 8 and 11 more") !=
        std::string::npos);
}

TEST_CASE("an edge list is read from a file") {
  const auto path = std::filesystem::temp_directory_path() / ("rubato_edges_" + std::to_string(std::random_device{}()));
  std::ofstream(path) << "0 1\n1 2\n";
  TopologyOptions options = of_kind("file");
  options.file = path.string();
  CHECK(make_topology(options, 3, 0).edges() == topologies::path(3).edges());
  options.is_directed = true;
  CHECK(make_topology(options, 3, 0).links() == 2);
  std::filesystem::remove(path);
}

TEST_CASE("a ring of a million clients and a complete graph of two thousand are made and read") {
  const Graph ring = make_topology(of_kind("ring"), 1'000'000, 1);
  CHECK(ring.links() == 2'000'000);
  CHECK(ring.is_strongly_connected());
  CHECK(ring.receivers_of({999'999})[0] == ClientId{0});
  const Graph complete = make_topology(of_kind("complete"), 2000, 1);
  CHECK(complete.links() == 2000u * 1999u);
}

TEST_CASE("in a random regular graph all have their number of neighbours, few or nearly all others") {
  TopologyOptions options = of_kind("random_regular");
  for (const std::size_t clients : {6u, 9u, 32u, 64u})
    for (const std::size_t degree : {2u, 4u, 5u, 8u, 31u, 60u, 63u}) {
      if (degree >= clients || clients * degree % 2 == 1) continue;
      CAPTURE(clients);
      CAPTURE(degree);
      options.degree = degree;
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const Graph graph = make_topology(options, clients, seed);
        CHECK(graph.is_strongly_connected());
        for (std::uint32_t i = 0; i < clients; ++i) REQUIRE(graph.out_degree({i}) == degree);
        CHECK(graph.edges() == make_topology(options, clients, seed).edges());
      }
    }
  options.degree = 4;
  CHECK(make_topology(options, 32, 1).edges() != make_topology(options, 32, 2).edges());
}

TEST_CASE("of random regular graphs on six clients with degree two both shapes are drawn, as often as there are of them") {
  // 60 hexagons and 10 pairs of triangles: a seventh falls apart.
  std::mt19937_64 engine(5);
  std::uniform_real_distribution<double> uniform(0, 1);
  int apart = 0, drawn = 4000;
  for (int k = 0; k < drawn; ++k)
    apart += !topologies::random_regular(6, 2, [&] { return uniform(engine); }).is_strongly_connected();
  CHECK(std::abs(apart / double(drawn) - 1.0 / 7) < 0.03);
}

TEST_CASE("a small world is its circle without chance, and keeps its number of edges with it") {
  const auto never = [] { return 0.999; };
  const Graph circle = topologies::small_world(10, 4, 0.5, never);
  for (std::uint32_t i = 0; i < 10; ++i)
    for (std::uint32_t far : {1u, 2u, 3u}) CHECK(circle.find_link({i}, {(i + far) % 10}).has_value() == (far <= 2));
  CHECK(topologies::small_world(10, 2, 0, never).edges() == topologies::ring(10).edges());
  TopologyOptions options = of_kind("small_world");
  options.degree = 4;
  double far = 0;
  for (const double rewire : {0.0, 0.2, 1.0}) {
    options.rewire = rewire;
    const Graph graph = make_topology(options, 100, 1);
    CHECK(graph.links() == 400);
    std::size_t kept = 0;
    for (const Edge& edge : graph.edges())
      kept += (edge.target.value - edge.source.value + 97) % 100 >= 95;  // 98, 99, 1 or 2 further
    CHECK(graph.is_strongly_connected());
    far += rewire > 0;
    if (rewire == 0) CHECK(kept == 200);
    if (rewire == 0.2) CHECK(std::abs(static_cast<double>(kept) - 160) < 30);
    if (rewire == 1.0) CHECK(kept < 40);
  }
  CHECK(far == 2);
}

TEST_CASE("in a scale-free graph every client brings its edges along, and early ones have most of them") {
  TopologyOptions options = of_kind("scale_free");
  options.attach = 3;
  std::size_t early = 0, late = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Graph graph = make_topology(options, 200, seed);
    CHECK(graph.links() == 2 * (6 + 3 * 196));
    CHECK(graph.is_strongly_connected());
    for (std::uint32_t i = 0; i < 200; ++i) REQUIRE(graph.out_degree({i}) >= 3);
    for (std::uint32_t i = 0; i < 20; ++i) early += graph.out_degree({i}), late += graph.out_degree({199 - i});
  }
  CHECK(early > 3 * late);
  options.attach = 7;
  CHECK(make_topology(options, 8, 1).edges() == topologies::complete(8).edges());
}

TEST_CASE("degrees that no graph has are refused with what is allowed") {
  TopologyOptions options = of_kind("random_regular");
  options.degree = 3;
  CHECK(refusal_of(options, 5).find("topology.degree = 3 is not possible; every edge has two ends") == 0);
  options.degree = 5;
  CHECK(refusal_of(options, 5) == "topology.degree = 5 is not possible; allowed are 1 .. 4, the number of other clients");
  options = of_kind("small_world");
  options.degree = 3;
  CHECK(refusal_of(options, 8) ==
        "topology.degree = 3 is not possible; a small world needs an even number below 8, the number of clients");
  options = of_kind("scale_free");
  options.attach = 8;
  CHECK(refusal_of(options, 8) == "topology.attach = 8 is not possible; allowed are 1 .. 7, the number of other clients");
}
