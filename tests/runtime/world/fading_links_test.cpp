#include "runtime/world/fading_links.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "runtime/world/mixing.hpp"
#include "runtime/world/rayleigh_channel.hpp"
#include "runtime/world/topology.hpp"
#include "tests/support/statistics.hpp"

using namespace rubato;
using namespace rubato::test;
using namespace std::chrono_literals;

namespace {

Fading fading_of(double threshold, std::uint64_t seed = 1) { return {seed, {.threshold = {threshold, false}}}; }

}  // namespace

TEST_CASE("fading is the same both ways, exponential, and independent between blocks and links") {
  const Fading fading = fading_of(0.6);
  std::vector<double> uniform, other;
  int up = 0;
  constexpr int n = 20'000;
  for (std::uint64_t block = 0; block < n; ++block) {
    const double gain = fading.power_gain({3}, {8}, block);
    REQUIRE(fading.power_gain({8}, {3}, block) == gain);
    CHECK(fading.is_up({3}, {8}, block) == (gain >= 0.36));
    up += fading.is_up({8}, {3}, block);
    uniform.push_back(std::exp(-gain));
    other.push_back(std::exp(-fading.power_gain({3}, {9}, block)));
  }
  CHECK(kolmogorov_smirnov(uniform) < ks_limit);
  CHECK(std::abs(correlation(uniform, other)) < 4 / std::sqrt(n));
  const std::vector<double> first(uniform.begin(), uniform.end() - 1), second(uniform.begin() + 1, uniform.end());
  CHECK(std::abs(correlation(first, second)) < 4 / std::sqrt(n));
  const double p = std::exp(-0.36);
  CHECK(std::abs(static_cast<double>(up) / n - p) < 4 * std::sqrt(p * (1 - p) / n));
}

TEST_CASE("the weights of a block are those of Metropolis on the links that are up") {
  const Graph graph = topologies::complete(9);
  const FadingLinks links(graph, fading_of(0.9));
  for (const std::uint64_t block : {0, 1, 2, 7, 3, 1, 0}) {
    const Graph up = links.up(block);
    const MixingMatrix expected = weights::metropolis(up);
    std::vector<double> rows(9, 0);
    for (LinkIndex link = 0; link < graph.links(); ++link) {
      const Edge ends = graph.ends_of(link);
      CHECK(links.is_up(link, block) == up.find_link(ends.source, ends.target).has_value());
      CHECK(links.metropolis(link, block) == expected.at(ends.target, ends.source));
      rows[ends.target.value] += links.metropolis(link, block);
    }
    for (std::uint32_t i = 0; i < 9; ++i) CHECK(1 - rows[i] == doctest::Approx(expected.own({i})));
  }
}

TEST_CASE("a link that goes by time takes an exponential time and is lost beyond the longest") {
  const Fading fading(1, {.is_by_time = true, .mean = 2, .longest = 3s});
  const RayleighChannel channel(1, fading, 1s, Law::constant(1));
  int lost = 0;
  constexpr int n = 5000;
  for (int k = 0; k < n; ++k) {
    const LinkUse use{.sender = {1}, .receiver = {2}, .now = Time{k * 1s + 300ms}};
    const Fate fate = channel.carry(use);
    const double seconds = 2 * fading.power_gain({1}, {2}, static_cast<std::uint64_t>(k));
    CHECK(fate.lost == (seconds > 3));
    CHECK(to_seconds(fate.delay) == doctest::Approx(std::min(seconds, 3.0)));
    lost += fate.lost;
  }
  const double p = std::exp(-1.5);
  CHECK(std::abs(static_cast<double>(lost) / n - p) < 4 * std::sqrt(p * (1 - p) / n));
}

TEST_CASE("a block lasts a coherence time, or a round where blocks are rounds") {
  const Fading fading = fading_of(1.0);
  const RayleighChannel by_time(1, fading, 2s, Law::constant(0.1)), by_round(1, fading, 0s, Law::constant(0.1));
  for (std::uint64_t block = 0; block < 50; ++block) {
    const bool is_up = fading.is_up({0}, {1}, block);
    for (const Duration into : {Duration{0}, Duration{1999ms}}) {
      const LinkUse use{.sender = {0}, .receiver = {1}, .now = Time{static_cast<std::int64_t>(block) * 2s + into}, .round = block};
      CHECK(by_time.carry(use).lost != is_up);
      CHECK(by_round.carry(use).lost != is_up);
      CHECK(by_round.carry(use).delay == 100ms);
      CHECK(by_time.carry(use).delay == (is_up ? Duration{100ms} : 2s - into));  // the next attempt is in the next block
    }
  }
}
