#include "runtime/world/mixing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/world/topology.hpp"
#include "tests/runtime/world/graphs.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

void check_close(const DenseMatrix& made, const Json& expected) {
  const auto golden_rows = expected.get<DenseMatrix>();
  REQUIRE(made.size() == golden_rows.size());
  for (std::size_t i = 0; i < made.size(); ++i)
    for (std::size_t j = 0; j < made.size(); ++j) CHECK(std::abs(made[i][j] - golden_rows[i][j]) <= 1e-15);
}

MixingOptions of_rule(const std::string& kind) { return {.kind = kind, .tau = {}, .weights = {}}; }

// Client i becomes client names[i].
Graph relabelled(const Graph& graph, const std::vector<std::uint32_t>& names) {
  std::vector<Edge> edges;
  for (const Edge& e : graph.edges()) edges.push_back({{names[e.source.value]}, {names[e.target.value]}});
  return Graph(graph.clients(), graph.is_directed(), edges);
}

}  // namespace

TEST_CASE("the matrices are the golden ones") {
  const Json golden_case = golden("mixing_a");
  REQUIRE(golden_case["expect"].size() == 6);
  for (const auto& [name, expected] : golden_case["expect"].items()) {
    CAPTURE(name);
    const Graph graph = graph_of(expected["graph"]);
    for (const char* kind : {"metropolis", "laplacian", "uniform_row", "uniform_col"})
      if (expected.contains(kind)) check_close(make_mixing(of_rule(kind), graph).dense(), expected[kind]);
    if (expected.contains("laplacian_tau")) {
      const auto tau = expected["laplacian_tau"][0].get<double>();
      check_close(weights::laplacian(graph, tau).dense(), expected["laplacian_tau"][1]);
    }
    if (expected.contains("bipartite")) CHECK(graph.is_bipartite() == expected["bipartite"].get<bool>());
    if (expected.contains("strongly_connected")) CHECK(graph.is_strongly_connected() == expected["strongly_connected"].get<bool>());
  }
}

TEST_CASE("sums, entries and defects agree with the dense matrix") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    const Graph graph = random_graph(seed, 9, true, 0.3);
    std::vector<double> own(9), links(graph.links());
    Stream stream(seed, {0}, Purpose::init);
    for (double& w : own) w = stream.normal();
    for (double& w : links) w = stream.normal();
    const MixingMatrix matrix(graph, own, links);
    const DenseMatrix dense = matrix.dense();
    double rows = 0, columns = 0, asymmetry = 0;
    for (std::uint32_t i = 0; i < 9; ++i) {
      double row = 0, column = 0;
      for (std::uint32_t j = 0; j < 9; ++j) {
        REQUIRE(matrix.at({i}, {j}) == dense[i][j]);
        REQUIRE((i == j || dense[i][j] != 0) == (i == j || graph.find_link({j}, {i}).has_value()));
        row += dense[i][j];
        column += dense[j][i];
        asymmetry = std::max(asymmetry, std::abs(dense[i][j] - dense[j][i]));
      }
      CHECK(matrix.row_sums()[i] == doctest::Approx(row));
      CHECK(matrix.column_sums()[i] == doctest::Approx(column));
      rows = std::max(rows, std::abs(row - 1));
      columns = std::max(columns, std::abs(column - 1));
    }
    CHECK(row_defect(matrix) == doctest::Approx(rows));
    CHECK(column_defect(matrix) == doctest::Approx(columns));
    CHECK(symmetry_defect(matrix) == asymmetry);
    CHECK(weights::from_dense(graph, dense).dense() == dense);
  }
}

TEST_CASE("each kind has the sums it promises on any graph") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const Graph graph = random_graph(seed, 10, seed % 2 == 0, 0.3);
    CHECK(is_row_stochastic(weights::uniform_row(graph)));
    CHECK(is_column_stochastic(weights::uniform_column(graph)));
    CHECK(smallest_weight(weights::uniform_row(graph)) > 0);
    const MixingMatrix others = weights::neighbours_only(graph);
    for (ClientId i; i.value < 10; ++i.value) {
      CHECK(others.own(i) == 0);
      CHECK(others.row_sums()[i.value] == doctest::Approx(graph.in_degree(i) > 0 ? 1 : 0));
    }
    if (graph.is_directed()) continue;
    for (const char* kind : {"metropolis", "laplacian", "max_degree"}) {
      const MixingMatrix matrix = make_mixing(of_rule(kind), graph);
      CHECK(is_row_stochastic(matrix));
      CHECK(is_column_stochastic(matrix));
      CHECK(symmetry_defect(matrix) == 0);
      CHECK(smallest_weight(matrix) >= 0);
    }
  }
}

TEST_CASE("relabelling the clients permutes the weights") {
  const std::vector<std::uint32_t> names{4, 2, 7, 0, 1, 6, 3, 5};
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Graph graph = random_graph(seed, 8, false, 0.4);
    for (const char* kind : {"metropolis", "laplacian", "uniform_row", "uniform_col", "draco_row"}) {
      const MixingMatrix plain = make_mixing(of_rule(kind), graph), renamed = make_mixing(of_rule(kind), relabelled(graph, names));
      for (std::uint32_t i = 0; i < 8; ++i)
        for (std::uint32_t j = 0; j < 8; ++j)
          REQUIRE(renamed.at({names[i]}, {names[j]}) == doctest::Approx(plain.at({i}, {j})).epsilon(1e-14));
    }
  }
}

TEST_CASE("averaging is the same weight for all, and only for complete graphs") {
  const MixingMatrix matrix = weights::averaging(topologies::complete(5));
  for (const auto& row : matrix.dense())
    for (double weight : row) CHECK(weight == 0.2);
  CHECK(refusal([] { weights::averaging(topologies::ring(5)); }) ==
        "topology.mixing = \"averaging\" needs the complete graph; client 0 hears only 2 of 4 others");
}

TEST_CASE("symmetric weights on a directed graph are refused with the reason") {
  for (const char* kind : {"metropolis", "laplacian", "max_degree"})
    CHECK(refusal([&] { make_mixing(of_rule(kind), topologies::directed_ring(4)); }) ==
          "topology.mixing = \"" + std::string(kind) +
              "\" needs an undirected graph, because its weights are symmetric; a directed graph takes uniform_row or "
              "uniform_col");
}

TEST_CASE("tau must be greater than half the largest eigenvalue of the Laplacian") {
  // The Laplacian of a ring of four has the eigenvalues 0, 2, 2, 4.
  const Graph ring = topologies::ring(4);
  CHECK(refusal([&] { weights::laplacian(ring, 2.0); }) ==
        "topology.mixing = \"laplacian\" with tau = 2 is not possible; tau must be greater than 2, half the largest eigenvalue of "
        "this graph's "
        "Laplacian");
  CHECK(refusal([&] { weights::laplacian(ring, 2.001); }).empty());
  CHECK_FALSE(refusal([&] { weights::laplacian(ring, -3.0); }).empty());
  CHECK_FALSE(refusal([&] { weights::laplacian(ring, std::numeric_limits<double>::quiet_NaN()); }).empty());
  CHECK_FALSE(refusal([&] { weights::laplacian(ring, std::numeric_limits<double>::infinity()); }).empty());
  CHECK_FALSE(refusal([&] { weights::laplacian(Graph(2, false, {}), 0.0); }).empty());
  // A star of ten: largest eigenvalue 10, largest degree 9.
  CHECK(smallest_weight(weights::laplacian(topologies::star(10, {0}), 5.5)) < 0);
  CHECK(is_row_stochastic(weights::laplacian(topologies::star(10, {0}), 5.5)));
}

TEST_CASE("given weights must fit the graph") {
  const Graph path = topologies::path(3);
  CHECK(refusal([&] {
          weights::from_dense(path, {{1, 0}, {0, 1}});
        }) == "topology.mixing_matrix has 2 rows, not all of length 3; needed are 3 rows of 3 numbers");
  CHECK(refusal([&] {
          weights::from_dense(path, {{1, 0, 0.3}, {0, 1, 0}, {0, 0, 1}});
        }) == "topology.mixing_matrix[0][2] = 0.3 needs a link 2 -> 0, which the graph does not have; it must be 0");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(refusal([&] {
          weights::from_dense(path, {{1, 0, 0}, {nan, 1, 0}, {0, 0, 1}});
        }) == "topology.mixing_matrix[1][0] = nan is not possible; weights are finite numbers");
  CHECK(refusal([&] {
          MixingMatrix(path, {1, 1}, {});
        }) == "topology.mixing_matrix: 2 clients and 0 links are weighed; the graph has 3 and 4");
}

TEST_CASE("every listed kind is known, and an unknown one is answered with the list") {
  MixingOptions options;
  for (const MixingKind& kind : mixing_kinds()) {
    options.kind = std::string(kind.name);
    options.weights = DenseMatrix(3, std::vector<double>(3, 1.0 / 3));
    CHECK_NOTHROW(make_mixing(options, topologies::complete(3)));
  }
  CHECK(refusal([] {
          make_mixing({.kind = "metro", .tau = {}, .weights = {}}, topologies::ring(3));
        }).find("topology.mixing = \"metro\" is not possible; allowed are metropolis, laplacian,") == 0);
}
