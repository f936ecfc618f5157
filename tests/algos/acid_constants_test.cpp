// A2CiD2's constants by two roads: all eigenvalues of a dense matrix, and Lanczos' method with sparse factors.
#include <doctest/doctest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "algos/acid.hpp"
#include "runtime/random.hpp"
#include "runtime/world/topology.hpp"

using namespace rubato;

namespace {

// With rates that are drawn.
std::vector<MeetingRate> edges_of(const Graph& graph, std::uint64_t seed) {
  Stream draws(seed, no_client, Purpose::noise);
  std::vector<MeetingRate> edges;
  for (std::uint32_t i = 0; i < graph.clients(); ++i)
    for (const ClientId other : graph.receivers_of({i}))
      if (i < other.value) edges.push_back({{i}, other, 0.2 + draws.uniform()});
  return edges;
}

void check_same(const Graph& graph, std::uint64_t seed) {
  CAPTURE(graph.clients());
  const std::vector<MeetingRate> edges = edges_of(graph, seed);
  const AcidConstants one = acid_constants_densely(graph.clients(), edges), other = acid_constants_sparsely(graph.clients(), edges);
  CHECK(other.chi1 == doctest::Approx(one.chi1).epsilon(1e-9));
  CHECK(other.chi2 == doctest::Approx(one.chi2).epsilon(1e-9));
  CHECK(other.eta == doctest::Approx(one.eta).epsilon(1e-9));
  CHECK(other.alpha_tilde == doctest::Approx(one.alpha_tilde).epsilon(1e-9));
}

}  // namespace

TEST_CASE("A2CiD2's constants by Lanczos' method and sparse factors are those of all eigenvalues of a dense matrix") {
  for (const std::uint32_t clients : {2, 3, 7, 60, 240}) check_same(topologies::path(clients), clients);
  for (const std::uint32_t clients : {3, 6, 101, 300}) check_same(topologies::ring(clients), clients);
  for (const std::uint32_t clients : {2, 5, 40}) check_same(topologies::complete(clients), clients);
  check_same(topologies::star(50, {17}), 1);
  check_same(topologies::torus(12, 15), 2);
}

TEST_CASE("the resistance over an edge of a tree is that of the edge, and those of all edges add up to the clients less one") {
  const std::vector<MeetingRate> tree{{{0}, {1}, 0.5}, {{1}, {2}, 2}, {{1}, {3}, 0.25}, {{3}, {4}, 1}};
  CHECK(acid_constants_sparsely(5, tree).chi2 == doctest::Approx(0.5 / 0.25));
  // On a complete graph all edges have the same one: m (m - 1) / 2 times r R is m - 1.
  std::vector<MeetingRate> complete;
  for (std::uint32_t i = 0; i < 9; ++i)
    for (std::uint32_t j = i + 1; j < 9; ++j) complete.push_back({{i}, {j}, 0.7});
  CHECK(acid_constants_sparsely(9, complete).chi2 == doctest::Approx(0.5 * 2 / (0.7 * 9)));
}

TEST_CASE("edges that leave a client out, or are none, have no constants by either road") {
  const std::vector<MeetingRate> apart{{{0}, {1}, 1}, {{2}, {3}, 1}}, alone{{{1}, {2}, 1}}, none{{{0}, {0}, 1}},
      outside{{{0}, {9}, 1}};
  for (const auto& road : {acid_constants_densely, acid_constants_sparsely}) {
    CHECK_THROWS_AS(road(4, apart), std::invalid_argument);
    CHECK_THROWS_AS(road(3, alone), std::invalid_argument);
    CHECK_THROWS_AS(road(2, none), std::invalid_argument);
    CHECK_THROWS_AS(road(2, outside), std::invalid_argument);
    CHECK_THROWS_AS(road(1, {}), std::invalid_argument);
  }
}
