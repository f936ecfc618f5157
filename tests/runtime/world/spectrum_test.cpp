#include "runtime/world/spectrum.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "runtime/world/topology.hpp"
#include "tests/runtime/world/graphs.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

// The duller road: one-sided Jacobi makes the rows orthogonal; their lengths are the singular values.
double largest_singular_value(DenseMatrix a) {
  const std::size_t n = a.size();
  const auto dot = [&](std::size_t p, std::size_t q) {
    double sum = 0;
    for (std::size_t k = 0; k < n; ++k) sum += a[p][k] * a[q][k];
    return sum;
  };
  for (int sweep = 0; sweep < 60; ++sweep)
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) {
        const double angle = 0.5 * std::atan2(2 * dot(p, q), dot(p, p) - dot(q, q));
        const double c = std::cos(angle), s = std::sin(angle);
        for (std::size_t k = 0; k < n; ++k) {
          const double old = a[p][k];
          a[p][k] = c * old + s * a[q][k];
          a[q][k] = c * a[q][k] - s * old;
        }
      }
  double largest = 0;
  for (std::size_t p = 0; p < n; ++p) largest = std::max(largest, std::sqrt(dot(p, p)));
  return largest;
}

DenseMatrix distance_from_mean(const MixingMatrix& matrix) {
  DenseMatrix dense = matrix.dense();
  for (auto& row : dense)
    for (double& x : row) x -= 1 / static_cast<double>(dense.size());
  return dense;
}

// Metropolis on a ring of m: eigenvalues 1/3 + 2/3 cos(2 pi k / m).
double ring_rate(double m) {
  const auto at = [&](double k) { return std::abs(1.0 / 3 + 2.0 / 3 * std::cos(2 * std::numbers::pi * k / m)); };
  return std::max(at(1), at(std::floor(m / 2)));
}

}  // namespace

TEST_CASE("lambda is the golden one") {
  const Json golden_case = golden("mixing_a");
  REQUIRE(golden_case["expect"].size() == 6);
  for (const auto& [name, expected] : golden_case["expect"].items()) {
    CAPTURE(name);
    if (!expected.contains("lambda_metropolis")) continue;
    const Graph graph = graph_of(expected["graph"]);
    CHECK(std::abs(consensus_rate(weights::metropolis(graph)) - expected["lambda_metropolis"].get<double>()) <= 1e-12);
    CHECK(std::abs(consensus_rate(weights::laplacian(graph)) - expected["lambda_laplacian"].get<double>()) <= 1e-12);
  }
}

TEST_CASE("the rate of any matrix is its largest singular value by Jacobi's way") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    const Graph graph = random_graph(seed, 2 + seed % 11, seed % 2 == 0, 0.4);
    for (const MixingMatrix& matrix :
         {weights::uniform_row(graph), weights::uniform_column(graph), weights::neighbours_only(graph)})
      CHECK(std::abs(consensus_rate(matrix) - largest_singular_value(distance_from_mean(matrix))) <= 1e-12);
  }
}

TEST_CASE("metropolis contracts exactly on connected graphs") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const Graph graph = random_graph(seed, 8, false, 0.3);
    const double rate = consensus_rate(weights::metropolis(graph));
    CHECK((rate < 1 - 1e-9) == graph.is_strongly_connected());
    CHECK(rate < 1 + 1e-12);
  }
}

TEST_CASE("without weight on oneself only graphs that are not bipartite contract") {
  // Regular graphs, where the mean of the neighbours is doubly stochastic.
  CHECK(consensus_rate(weights::neighbours_only(topologies::ring(8))) == doctest::Approx(1));
  CHECK(consensus_rate(weights::neighbours_only(topologies::torus(4, 4))) == doctest::Approx(1));
  CHECK(consensus_rate(weights::neighbours_only(topologies::ring(7))) < 0.99);
  CHECK(consensus_rate(weights::neighbours_only(topologies::torus(3, 3))) < 0.99);
}

TEST_CASE("the complete graph forgets at once, one client needs nothing") {
  CHECK(consensus_rate(weights::averaging(topologies::complete(7))) == doctest::Approx(0).epsilon(1e-15));
  CHECK(consensus_rate(weights::metropolis(topologies::complete(500))) < 1e-12);
  CHECK(consensus_rate(weights::metropolis(topologies::ring(1))) == 0);
}

TEST_CASE("dense and iterated rates of rings are the closed form") {
  for (std::size_t m : {5u, 50u, 399u, 400u, 401u, 600u}) {
    CAPTURE(m);
    const SpectralValue rate = find_consensus_rate(weights::metropolis(topologies::ring(m)));
    CHECK(rate.is_settled);
    CHECK(std::abs(rate.value - ring_rate(static_cast<double>(m))) <= 1e-9);
  }
}

TEST_CASE("a rate that is still rising says so and is a lower bound") {
  const SpectralValue rate = find_consensus_rate(weights::metropolis(topologies::ring(20000)));
  CHECK_FALSE(rate.is_settled);
  CHECK(rate.value <= ring_rate(20000));
  CHECK(rate.value > ring_rate(20000) - 1e-5);
}

TEST_CASE("an iterated rate of a random graph of 500 is the one that plain power iteration finds") {
  TopologyOptions options;
  options.kind = "erdos_renyi";
  options.probability = 0.02;
  const MixingMatrix matrix = weights::uniform_row(make_topology(options, 500, 4));
  const SpectralValue rate = find_consensus_rate(matrix);
  CHECK(rate.is_settled);
  // The duller road: many plain power iterations on the dense matrix.
  const DenseMatrix a = distance_from_mean(matrix);
  std::vector<double> x(500, 0.0);
  x[3] = 1;
  double length = 0;
  for (int k = 0; k < 600; ++k) {
    std::vector<double> y(500), z(500);
    for (std::size_t i = 0; i < 500; ++i)
      for (std::size_t j = 0; j < 500; ++j) y[i] += a[i][j] * x[j];
    for (std::size_t i = 0; i < 500; ++i)
      for (std::size_t j = 0; j < 500; ++j) z[j] += a[i][j] * y[i];
    length = 0;
    for (double v : z) length += v * v;
    length = std::sqrt(length);
    for (std::size_t i = 0; i < 500; ++i) x[i] = z[i] / length;
  }
  CHECK(std::abs(rate.value - std::sqrt(length)) < 1e-6);
}

TEST_CASE("the largest eigenvalue of a Laplacian is known for stars, rings and complete graphs") {
  for (std::size_t m : {3u, 10u, 400u, 700u}) {
    CAPTURE(m);
    const double size = static_cast<double>(m);
    CHECK(largest_laplacian_eigenvalue(topologies::star(m, {1})) == doctest::Approx(size).epsilon(1e-12));
    CHECK(largest_laplacian_eigenvalue(topologies::complete(m)) == doctest::Approx(size).epsilon(1e-12));
    const double odd = m % 2 == 0 ? 4 : 2 - 2 * std::cos(std::numbers::pi * (size - 1) / size);
    CHECK(largest_laplacian_eigenvalue(topologies::ring(m)) == doctest::Approx(odd).epsilon(1e-9));
  }
  CHECK(refusal([] { largest_laplacian_eigenvalue(topologies::directed_ring(4)); }) ==
        "largest_laplacian_eigenvalue: the graph is directed; only undirected graphs have one");
}

TEST_CASE("the left eigenvector of weights is what a million steps of mixing make of it, and small entries are exact") {
  const Graph graph(5, true, {{{0}, {1}}, {{1}, {2}}, {{2}, {0}}, {{2}, {3}}, {{3}, {4}}, {{4}, {0}}, {{1}, {4}}});
  const DenseMatrix a = weights::uniform_row(graph).dense();
  const std::vector<double> phi = left_eigenvector(a);
  std::vector<double> mixed(5, 0.2);
  for (int step = 0; step < 2000; ++step) {
    std::vector<double> next(5, 0);
    for (std::size_t i = 0; i < 5; ++i)
      for (std::size_t j = 0; j < 5; ++j) next[j] += mixed[i] * a[i][j];
    mixed = next;
  }
  for (std::size_t i = 0; i < 5; ++i) CHECK(phi[i] == doctest::Approx(mixed[i]).epsilon(1e-12));
  // Two clients: the balance phi_0 eps = phi_1 / 2.
  const double eps = 1e-17;
  const std::vector<double> two = left_eigenvector({{1 - eps, eps}, {0.5, 0.5}});
  CHECK(two[1] == doctest::Approx(2 * eps).epsilon(1e-14));
}

TEST_CASE("the norm of a matrix is that of its rate, without the mean") {
  const MixingMatrix w = weights::metropolis(topologies::path(7));
  CHECK(spectral_norm(distance_from_mean(w)) == doctest::Approx(consensus_rate(w)).epsilon(1e-12));
  CHECK(spectral_norm(w.dense()) == doctest::Approx(1).epsilon(1e-12));
  CHECK(spectral_norm({{0, 3}, {0, 0}}) == doctest::Approx(3).epsilon(1e-12));
}
