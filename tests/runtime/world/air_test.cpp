#include "runtime/world/air.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "runtime/random.hpp"
#include "runtime/world/topology.hpp"

using namespace rubato;
using namespace std::chrono_literals;
using doctest::Approx;

namespace {

const Fading fading{5, {.threshold = {0.5, false}}};

}  // namespace

TEST_CASE("everybody hears each neighbour whose link is up exactly once: as a part of a sum, or alone") {
  const FadingLinks links(topologies::complete(8), fading);
  const Air air(links, {.slot = 10ms, .seed = 5});
  for (std::uint64_t round = 0; round < 30; ++round) {
    const Graph up = links.up(round);
    const auto slots = air.round(round);
    CHECK(slots->pairs() == schedule_slots(up).size());
    for (std::uint32_t i = 0; i < 8; ++i) {
      const auto& heard = slots->heard_by({i});
      const auto neighbours = up.senders_to({i});
      REQUIRE(heard.size() == neighbours.size());
      for (std::size_t k = 0; k < heard.size(); ++k) {
        CHECK(heard[k].peer == neighbours[k]);
        for (const auto& back : slots->heard_by(heard[k].peer))
          if (back.peer == ClientId{i}) CHECK(back.is_sum != heard[k].is_sum);  // who hears a sum answers with a broadcast
      }
    }
  }
}

TEST_CASE("the noise of a client is sigma^2 (1/c of its stars + w^2 / (a h^2) of the broadcasts that it hears)") {
  const FadingLinks links(topologies::complete(7), fading);
  const Air air(links, {.power_cap = 2, .noise = 0.3, .seed = 5});
  Stream chance(3, {0}, Purpose::split);
  constexpr double numbers = 12;
  for (std::uint64_t round = 0; round < 40; ++round) {
    const auto receiver = static_cast<std::uint32_t>(chance.below(7));
    std::vector<Air::Heard> messages;
    for (const auto& hearing : air.round(round)->heard_by({receiver}))
      messages.push_back({hearing.peer, 0.05 + chance.uniform(), 0.1 + 10 * chance.uniform()});
    const std::vector<double> deviations = air.deviations({receiver}, round, messages, numbers);
    double variance = 0, expected = 0;
    std::map<std::uint32_t, double> scales;  // c of each star
    for (std::size_t k = 0; k < messages.size(); ++k) {
      const Air::Heard& m = messages[k];
      variance += m.weight * m.weight * deviations[k] * deviations[k];
      const double h2 = fading.power_gain({receiver}, m.sender, round);
      const auto& hearing = air.round(round)->heard_by({receiver})[k];
      if (hearing.is_sum) {
        const double c = 2 * numbers * h2 / (m.weight * m.weight * m.norm_squared);
        const auto [at, is_new] = scales.try_emplace(hearing.star, c);
        at->second = std::min(at->second, c);
      } else {
        expected += 0.09 * m.weight * m.weight / (2 * numbers / m.norm_squared * h2);
      }
    }
    for (const auto& [star, c] : scales) expected += 0.09 / c;
    CHECK(variance == Approx(expected));
  }
}

TEST_CASE("a round lasts as long as its slots, and a client is on the air in those in which it sends") {
  const FadingLinks links(topologies::ring(6), Fading{1, {.threshold = {0, false}}});
  const Air air(links, {.slot = 10ms});
  const AirChannel channel(air, links.fading());
  const auto pairs = static_cast<std::int64_t>(schedule_slots(links.graph()).size());
  Duration all{};
  for (std::uint32_t i = 0; i < 6; ++i) {
    const Fate fate = channel.carry({.sender = {i}, .receiver = {(i + 1) % 6}});
    CHECK_FALSE(fate.lost);
    CHECK(fate.delay == 2 * pairs * 10ms);
    all += fate.airtime;
  }
  std::size_t stars = 0;
  for (const auto& pair : schedule_slots(links.graph())) stars += pair.size();
  CHECK(all == static_cast<std::int64_t>(6 + stars) * 10ms);  // every edge's leaf once, every centre once
}
