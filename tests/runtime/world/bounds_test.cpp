#include "runtime/world/bounds.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/random.hpp"
#include "runtime/world/topology.hpp"

using namespace rubato;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<double> drawn(std::size_t count, Stream& stream) {
  std::vector<double> numbers(count);
  for (double& number : numbers) number = 0.5 + 9 * stream.uniform();
  return numbers;
}

// The duller road: every set of clients.
double best_of_all_sets(double gradients, const std::vector<double>& h, const std::vector<double>& travel) {
  double best = infinity;
  for (std::uint32_t set = 1; set < 1u << h.size(); ++set) {
    double slowest = 0, per_second = 0;
    for (std::size_t i = 0; i < h.size(); ++i) {
      if (!(set >> i & 1)) continue;
      slowest = std::max({slowest, h[i], travel[i]});
      per_second += 1 / h[i];
    }
    best = std::min(best, std::max(slowest, gradients / per_second));
  }
  return best;
}

}  // namespace

TEST_CASE("the equilibrium time is the best over all sets of clients") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    Stream stream(seed, no_client, Purpose::init);
    const std::size_t clients = 1 + seed % 8;
    const std::vector<double> h = drawn(clients, stream), travel = drawn(clients, stream);
    const double gradients = 40 * stream.uniform();
    CHECK(equilibrium_seconds(gradients, h, travel) == doctest::Approx(best_of_all_sets(gradients, h, travel)).epsilon(1e-12));
  }
}

TEST_CASE("the fastest way takes as long as relaxing every link over and over says") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Stream stream(seed, no_client, Purpose::init);
    std::vector<Edge> links;
    constexpr std::uint32_t clients = 7;
    for (std::uint32_t i = 0; i < clients; ++i)
      for (std::uint32_t j = 0; j < clients; ++j)
        if (i != j && stream.uniform() < 0.3) links.push_back({{i}, {j}});
    const Graph graph(clients, true, links);
    const std::vector<double> seconds = drawn(graph.links(), stream);
    std::vector<std::vector<double>> duller(clients, std::vector<double>(clients, infinity));
    for (std::uint32_t from = 0; from < clients; ++from) {
      duller[from][from] = 0;
      for (std::uint32_t pass = 0; pass < clients; ++pass)
        for (LinkIndex link = 0; link < graph.links(); ++link) {
          const auto [source, target] = graph.ends_of(link);
          double& there = duller[from][target.value];
          there = std::min(there, duller[from][source.value] + seconds[link]);
        }
    }
    CHECK(travel_seconds(graph, seconds) == duller);
  }
}

TEST_CASE("clients that never compute cost nothing where the others are enough, and everything where all are waited for") {
  const ServerBounds bounds = server_bounds(std::vector{1.0, 2.0, infinity, 4.0}, {1, 1, 0.1, 1});
  CHECK(bounds.single == doctest::Approx(110));
  CHECK(bounds.rennala == doctest::Approx(74.28571428571429));
  CHECK(bounds.minibatch == infinity);
  CHECK(bounds.malenia == infinity);
}

TEST_CASE("no bound of a server is below the lower bound, and m-synchronous is at best Rennala") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    Stream stream(seed, no_client, Purpose::init);
    const std::vector<double> h = drawn(1 + seed % 30, stream);
    const StationarityGoal goal{2, 5, 0.1, 3 * stream.uniform()};
    const ServerBounds bounds = server_bounds(h, goal);
    const double lowest = bounds.rennala * (1 - 1e-12);
    for (const double seconds : {bounds.single, bounds.minibatch, bounds.m_sync, bounds.asgd, bounds.malenia})
      CHECK(seconds >= lowest);
    CHECK(bounds.m_sync <= bounds.single);
    CHECK(bounds.m_sync <= bounds.minibatch);
  }
}

TEST_CASE("on a line of 11 with links as slow as gradients a minibatch step takes ten times a gradient") {
  const Graph line = topologies::path(11);
  const auto travel = travel_seconds(line, std::vector<double>(line.links(), 100.0));
  CHECK(travel[0][10] == 1000);
  const LinkBounds bounds = link_bounds(std::vector<double>(11, 100.0), travel, {1, 10, 0.01, 0});
  CHECK(bounds.minibatch == doctest::Approx(1000 * 1000.0));
  CHECK(bounds.fragile == doctest::Approx(1000 * 100.0));  // without noise one client by itself is enough
  CHECK(bounds.pivot == ClientId{0});
}

TEST_CASE("settings follow the theorems, and a goal without noise has finite steps") {
  const RingmasterSettings ringmaster = ringmaster_settings({1, 10, 0.01, 0.3});
  CHECK(ringmaster.largest_delay == 30);
  CHECK(ringmaster.step == doctest::Approx(0.01 / 1.2));
  CHECK(ringmaster.steps == 720'000);
  CHECK(ringmaster_settings({2, 10, 0.01, 0}).step == 0.25);
  CHECK(fragile_settings({1, 10, 0.01, 0.3}).steps == 16'000);
  CHECK(amelie_settings({1, 10, 0.01, 0.3}, 50).gradients == 50);
}
