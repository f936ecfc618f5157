// What is sent again over links: time-outs, pauses, and ages that count from the attempt.
#include <doctest/doctest.h>

#include "runtime/random.hpp"
#include "runtime/world/wireless_channel.hpp"
#include "tests/support/statistics.hpp"
#include "tests/support/world.hpp"

using namespace rubato;
using namespace rubato::test;
using namespace std::chrono_literals;

namespace {

constexpr double message_bytes = 596'776;

// 0 sends to 1 over 400 m; 2 sends to 3, and stands 10 m from 1.
std::unique_ptr<WirelessChannel> drowned(std::uint64_t seed = 1) {
  const std::vector<Point> places{{0, 0}, {400, 0}, {410, 0}, {430, 0}};
  auto channel = std::make_unique<WirelessChannel>(seed, WirelessSettings{}, Places(places, {}, {}, seed));
  channel->set_sizes({.update = message_bytes, .model = message_bytes});
  return channel;
}

Graph pairs() { return directed(4, {{{0}, {1}}, {{2}, {3}}}); }

void send_at_once(World& world) {
  world.push.transmit = {ticks({1}), TimerLaw::off(), ticks({1}), TimerLaw::off()};
  world.channel = drowned();
  world.settings.retransmits = true;
  world.settings.attempts = {.longest = 2s, .back_off = 3s, .seed = 1};
}

}  // namespace

TEST_CASE("what a neighbour of its receiver drowns is given up after the time-out, and comes when the neighbour is silent") {
  World world(pairs());
  send_at_once(world);
  world.run_until(Time{100s});
  const auto arrivals = world.events.of_kind(Priority::arrival);
  REQUIRE(arrivals.size() == 2);
  CHECK(arrivals[0].client == ClientId{3});
  CHECK(arrivals[0].at < Time{1500ms});
  // By hand: 2 s of the first attempt, a pause between 0 and 3 s, and the message alone on the air.
  const LinkUse again{.sender = {0}, .turn = 0, .attempt = 1};
  const double u = uniform01(draw(1, {0}, Purpose::back_off, address_of(again), 0).first);
  const Time begun = later(Time{3s}, from_seconds(3 * u));
  const auto channel = drowned();
  const Duration takes = channel->carry({.sender = {0}, .receiver = {1}, .turn = 0, .attempt = 1, .now = begun}).delay;
  CHECK(arrivals[1].client == ClientId{1});
  CHECK(arrivals[1].at == later(begun, takes));
  CHECK(arrivals[1].age == takes);
  CHECK(takes < 2s);
  const MessageCounts counts = world.conductor().protocol({0}).counts();
  CHECK(counts.repeated == 1);
  CHECK(counts.sent == 1);
  CHECK(counts.lost == 0);
  CHECK(counts.airtime == Duration{2s} + takes);
  CHECK(world.conductor().flights() == 0);
  for (const std::int64_t wanted : world.steps.wanted()) CHECK(wanted >= 0);
}

TEST_CASE("a message that is being repeated is under way, and disturbs those near it again") {
  World world(pairs());
  send_at_once(world);
  world.run_until(Time{2s});
  CHECK(world.conductor().flights() == 1);
  CHECK(world.conductor().under_way() == 1);

  // 2 sends without end, every 10 ms what takes 17: 0 never gets through, however often it tries.
  World never(pairs());
  send_at_once(never);
  std::vector<double> every_hundredth;
  for (int i = 100; i < 3000; ++i) every_hundredth.push_back(i / 100.0);
  never.push.transmit[2] = ticks(every_hundredth);
  never.settings.attempts = {.longest = 300ms, .back_off = 300ms, .seed = 1};
  never.run_until(Time{25s});
  CHECK(never.conductor().protocol({0}).counts().repeated > 3);
  CHECK(never.conductor().protocol({1}).counts().kept == 0);
}

TEST_CASE("pauses are uniform up to a bound that doubles from attempt to attempt, six times at most") {
  const AttemptRule rule{.back_off = 2s, .seed = 5};
  for (const std::uint32_t attempt : {1u, 2u, 5u, 7u, 8u, 40u}) {
    CAPTURE(attempt);
    const double bound = 2 * std::pow(2.0, std::min(attempt - 1, 6u));
    std::vector<double> shares;
    for (std::uint64_t turn = 0; turn < 4000; ++turn)
      shares.push_back(to_seconds(rule.pause({.sender = {1}, .turn = turn, .attempt = attempt})) / bound);
    for (const double share : shares) REQUIRE((share >= 0 && share < 1));
    CHECK(mean(shares) == doctest::Approx(0.5).epsilon(0.04));
    CHECK(variance(shares) == doctest::Approx(1.0 / 12).epsilon(0.08));
  }
  CHECK(AttemptRule{}.pause({.sender = {1}, .attempt = 3}) == Duration{});
}

TEST_CASE("over links that do not disturb each other an attempt ends with its time-out, and the age is that of the last one") {
  World world(directed(2, {{{0}, {1}}}));
  world.push.transmit = {TimerLaw::fixed(10, 0), TimerLaw::off()};
  world.channel = random_links(1, 0.5, 0.2);
  world.settings.retransmits = true;
  world.settings.attempts = {.longest = 400ms, .back_off = 100ms, .seed = 1};
  world.run_until(Time{20'000s - 1ns});
  const auto arrivals = world.events.of_kind(Priority::arrival);
  REQUIRE(arrivals.size() == 2000);
  std::vector<double> ages;
  for (const Seen& arrival : arrivals) {
    REQUIRE(arrival.age <= 400ms);
    ages.push_back(to_seconds(arrival.age));
  }
  // Exp(mean .5) given that it is below .4; an attempt gets through with chance .8 (1 - exp(-.8)).
  const double below = 1 - std::exp(-0.8);
  CHECK(mean(ages) == doctest::Approx(0.5 - 0.4 * std::exp(-0.8) / below).epsilon(0.05));
  const double through = 0.8 * below;
  const auto repeated = static_cast<double>(world.conductor().total_counts().repeated);
  CHECK(repeated / 2000 == doctest::Approx(1 / through - 1).epsilon(0.1));
}
