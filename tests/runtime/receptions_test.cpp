// The reception cap by chance (appendix B.2.1 of DRACO's thesis): excess receptions of a period are removed at random.
#include "runtime/receptions.hpp"

#include <doctest/doctest.h>

#include <array>
#include <map>

#include "tests/support/world.hpp"

using namespace rubato;
using namespace rubato::test;
using namespace std::chrono_literals;

namespace {

// Which of so many messages are taken.
std::uint32_t taken(std::uint64_t seed, std::uint64_t period, std::uint32_t all, std::uint32_t cap) {
  std::uint32_t set = 0, tokens = cap;
  for (std::uint32_t number = 0; number < all; ++number)
    if (is_taken_by_chance(seed, ClientId{0}, period, number, all, tokens)) {
      set |= 1u << number;
      --tokens;
    }
  return set;
}

void make_busy(World& world) {
  world.push.transmit = {TimerLaw::poisson(3)};
  world.push.limits = {.window = 100ms, .deadline = 500ms, .cap = 7};
  world.channel = random_links(1, 0.2, 0.1, 0.2);
  world.push.may_duplicate = true;
  world.settings.cap_period = 5s;
}

using Kept = std::map<std::pair<std::uint32_t, std::int64_t>, std::vector<double>>;  // instants by (receiver, period)

Kept outcomes(const World& world, std::initializer_list<Offer> outcomes) {
  Kept found;
  for (const Seen& arrival : world.events.of_kind(Priority::arrival))
    if (std::ranges::find(outcomes, arrival.outcome) != outcomes.end())
      found[{arrival.client.value, arrival.at.time_since_epoch() / Duration(5s)}].push_back(to_seconds(arrival.at));
  return found;
}

}  // namespace

TEST_CASE("the cap by chance takes exactly as many as it allows, every set of them with the same chance") {
  std::map<std::uint32_t, double> sets;
  constexpr int periods = 30'000;
  for (std::uint64_t period = 0; period < periods; ++period) {
    const std::uint32_t set = taken(3, period, 6, 3);
    REQUIRE(std::popcount(set) == 3);
    ++sets[set];
  }
  CHECK(sets.size() == 20);
  double chi_squared = 0;
  for (const auto& [set, times] : sets) chi_squared += (times - periods / 20.0) * (times - periods / 20.0) / (periods / 20.0);
  CHECK(chi_squared < 43.8);  // 19 degrees of freedom, one seed of 1,000; the seed stays
  CHECK(std::popcount(taken(1, 0, 5, 9)) == 5);
  CHECK(taken(1, 0, 5, 0) == 0);
}

TEST_CASE("receptions beyond the cap are removed over the whole period, and neither late ones nor duplicates count") {
  const Graph graph = topologies::complete(6);
  ReceptionCensus census(6);
  World counted(graph);
  make_busy(counted);
  counted.push.limits.cap = MailboxLimits::unlimited;
  counted.push.counts_receptions = &census;
  counted.run_until(Time{200s});
  World first_come(graph), by_chance(graph);
  make_busy(first_come);
  make_busy(by_chance);
  by_chance.push.receptions = &census;
  first_come.run_until(Time{200s});
  by_chance.run_until(Time{200s});

  const Kept all = outcomes(counted, {Offer::kept}), early = outcomes(first_come, {Offer::kept});
  const Kept drawn = outcomes(by_chance, {Offer::kept}), came = outcomes(by_chance, {Offer::kept, Offer::capped});
  std::size_t cut = 0, differ = 0;
  double place_of_early = 0, place_of_drawn = 0;
  for (const auto& [period, instants] : all) {
    REQUIRE(census.of({period.first}, static_cast<std::uint64_t>(period.second)) == instants.size());
    REQUIRE(came.at(period) == instants);  // what comes is the same, whatever is taken of it
    REQUIRE(drawn.at(period).size() == std::min<std::size_t>(7, instants.size()));
    if (instants.size() <= 7 || (period.second + 1) * 5 > 200) continue;
    ++cut;
    differ += drawn.at(period) != early.at(period);
    const auto share = [&](double at) { return at / 5 - static_cast<double>(period.second); };
    for (const double at : early.at(period)) place_of_early += share(at) / 7;
    for (const double at : drawn.at(period)) place_of_drawn += share(at) / 7;
  }
  REQUIRE(cut > 100);
  CHECK(differ > cut * 9 / 10);
  CHECK(place_of_early / static_cast<double>(cut) < 0.2);  // about 60 messages a period: 7 have come early in it
  CHECK(place_of_drawn / static_cast<double>(cut) == doctest::Approx(0.5).epsilon(0.1));
}
