#include "runtime/world/points.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

#include "runtime/random.hpp"

using namespace rubato;

namespace {

// Some on a coarse lattice, so that many distances are equal and some places are shared.
std::vector<Point> some_points(std::uint64_t seed, std::size_t count) {
  Stream stream(seed, {0}, Purpose::topology);
  std::vector<Point> points(count);
  for (Point& p : points) p = {static_cast<double>(stream.below(7)) * 0.1, stream.uniform() < 0.5 ? 0.3 : stream.uniform()};
  return points;
}

std::vector<ClientId> by_distance(const std::vector<Point>& points, std::uint32_t client) {
  std::vector<std::pair<double, ClientId>> others;
  for (std::uint32_t j = 0; j < points.size(); ++j)
    if (j != client) others.emplace_back(distance(points[client], points[j]), ClientId{j});
  std::sort(others.begin(), others.end());
  std::vector<ClientId> sorted;
  for (const auto& other : others) sorted.push_back(other.second);
  return sorted;
}

}  // namespace

TEST_CASE("cells find the same near clients as a look at all of them") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    const auto points = some_points(seed, 1 + seed % 40);
    const double radius = 0.05 * static_cast<double>(1 + seed % 9);
    const NearbyPoints nearby(points, seed % 3 == 0 ? 0.05 : radius);
    const std::size_t k = 1 + seed % 5;
    for (std::uint32_t i = 0; i < points.size(); ++i) {
      auto nearest = by_distance(points, i);
      auto within = nearest;
      std::erase_if(within, [&](ClientId j) { return distance(points[i], points[j.value]) > radius; });
      std::sort(within.begin(), within.end());
      REQUIRE(nearby.within(radius, {i}) == within);
      nearest.resize(std::min(k, nearest.size()));
      REQUIRE(nearby.nearest(k, {i}) == nearest);
    }
  }
}

TEST_CASE("clients at one place find each other") {
  const std::vector<Point> points(4, Point{2, 2});
  const NearbyPoints nearby(points, 1);
  CHECK(nearby.within(0.5, {1}) == std::vector<ClientId>{{0}, {2}, {3}});
  CHECK(nearby.nearest(2, {0}) == std::vector<ClientId>{{1}, {2}});
}
