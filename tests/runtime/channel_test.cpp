#include "runtime/world/channel.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "tests/support/statistics.hpp"
#include "tests/support/world.hpp"

using namespace rubato;
using namespace rubato::test;
using namespace std::chrono_literals;

namespace {

using LinkLaw = RandomChannel::LinkLaw;

RandomChannel channel_of(LinkLaw usual, std::map<std::pair<ClientId, ClientId>, LinkLaw> exceptions = {}, std::uint64_t seed = 1) {
  return {seed, std::move(usual), std::move(exceptions)};
}

LinkUse use(std::uint64_t turn, std::uint32_t sender = 0, std::uint32_t receiver = 1) {
  return {.sender = {sender}, .receiver = {receiver}, .turn = turn};
}

std::vector<double> delays(const Channel& channel, int count) {
  std::vector<double> seconds;
  for (int turn = 0; turn < count; ++turn) seconds.push_back(to_seconds(channel.carry(use(static_cast<unsigned>(turn))).delay));
  return seconds;
}

double losses(const Channel& channel, int count, std::uint32_t sender = 0, std::uint32_t receiver = 1) {
  int lost = 0;
  for (int turn = 0; turn < count; ++turn) lost += channel.carry(use(static_cast<unsigned>(turn), sender, receiver)).lost;
  return static_cast<double>(lost) / count;
}

constexpr int trials = 20000;

}  // namespace

TEST_CASE("the ideal channel loses nothing, takes one delay and keeps order") {
  const IdealChannel channel(1us);
  CHECK(channel.keeps_order());
  for (unsigned turn = 0; turn < 100; ++turn) {
    CHECK_FALSE(channel.carry(use(turn)).lost);
    CHECK(channel.carry(use(turn)).delay == 1us);
  }
}

TEST_CASE("the share of lost messages is the loss probability") {
  for (const double loss : {0.01, 0.3, 0.9}) {
    const double rate = losses(channel_of({Law::constant(1), loss}), trials);
    CHECK(std::abs(rate - loss) < 4 * std::sqrt(loss * (1 - loss) / trials));
  }
  CHECK(losses(channel_of({Law::constant(1), 0}), trials) == 0);
  CHECK(losses(channel_of({Law::constant(1), 1}), trials) == 1);
}

TEST_CASE("losses are independent of delays, of the turn before and of the neighbouring link") {
  const RandomChannel channel = channel_of({{.kind = Law::Kind::exponential, .first = 1}, 0.4});
  std::vector<double> lost, delay, before, neighbour;
  for (unsigned turn = 1; turn <= trials; ++turn) {
    lost.push_back(channel.carry(use(turn)).lost);
    delay.push_back(to_seconds(channel.carry(use(turn)).delay));
    before.push_back(channel.carry(use(turn - 1)).lost);
    neighbour.push_back(channel.carry(use(turn, 0, 2)).lost);
  }
  const double limit = 4 / std::sqrt(trials);
  CHECK(std::abs(correlation(lost, delay)) < limit);
  CHECK(std::abs(correlation(lost, before)) < limit);
  CHECK(std::abs(correlation(lost, neighbour)) < limit);
}

TEST_CASE("delays follow their law") {
  const auto distance = [](const Law& law, auto distribution) {
    std::vector<double> uniform;
    for (const double delay : delays(channel_of({law, 0}), trials)) uniform.push_back(distribution(delay));
    return kolmogorov_smirnov(std::move(uniform));
  };
  CHECK(distance({.kind = Law::Kind::exponential, .first = 0.25}, [](double x) { return 1 - std::exp(-4 * x); }) < ks_limit);
  CHECK(distance({.kind = Law::Kind::uniform, .first = 2, .second = 6}, [](double x) { return (x - 2) / 4; }) < ks_limit);
  CHECK(distance({.kind = Law::Kind::shifted_exponential, .first = 1, .second = 2},
                 [](double x) { return 1 - std::exp(-2 * (x - 1)); }) < ks_limit);
  CHECK(distance({.kind = Law::Kind::gamma, .first = 2, .second = 10},
                 [](double x) { return 1 - std::exp(-10 * x) * (1 + 10 * x); }) < ks_limit);
  // Beta(2, 1) has the distribution function x^2.
  CHECK(distance({.kind = Law::Kind::beta, .first = 2, .second = 1}, [](double x) { return x * x; }) < ks_limit);
  CHECK(mean(delays(channel_of({{.kind = Law::Kind::lognormal, .first = 0.5, .second = 0.5}, 0}), trials)) ==
        doctest::Approx(0.5).epsilon(0.03));
}

TEST_CASE("no delay is below a nanosecond") {
  CHECK(channel_of({Law::constant(0), 0}).carry(use(0)).delay == 1ns);
  const RandomChannel below = channel_of({{.kind = Law::Kind::uniform, .first = -2, .second = -1}, 0});
  CHECK(below.carry(use(0)).delay == 1ns);
}

TEST_CASE("the loss probability does not move a delay") {
  const Law law{.kind = Law::Kind::gamma, .first = 2, .second = 1};
  CHECK(delays(channel_of({law, 0}), 1000) == delays(channel_of({law, 0.7}), 1000));
}

TEST_CASE("a link with a law of its own differs in one direction, and moves no other link") {
  const LinkLaw usual{{.kind = Law::Kind::exponential, .first = 1}, 0.2};
  const RandomChannel same = channel_of(usual);
  const RandomChannel other = channel_of(usual, {{{ClientId{0}, ClientId{1}}, {Law::constant(7), 0.9}}});
  CHECK(losses(other, trials) == doctest::Approx(0.9).epsilon(0.02));
  CHECK(other.carry(use(3)).delay == 7s);
  for (unsigned turn = 0; turn < 500; ++turn)
    for (const auto& [sender, receiver] : {std::pair{1u, 0u}, {0u, 2u}, {2u, 1u}}) {
      CHECK(other.carry(use(turn, sender, receiver)).delay == same.carry(use(turn, sender, receiver)).delay);
      CHECK(other.carry(use(turn, sender, receiver)).lost == same.carry(use(turn, sender, receiver)).lost);
    }
}

TEST_CASE("only a channel whose messages all take equally long keeps order") {
  CHECK(channel_of({Law::constant(1), 0.5}).keeps_order());
  CHECK_FALSE(channel_of({{.kind = Law::Kind::uniform, .first = 1, .second = 2}, 0}).keeps_order());
  CHECK_FALSE(channel_of({Law::constant(1), 0}, {{{ClientId{0}, ClientId{1}}, {Law::constant(2), 0}}}).keeps_order());
}

TEST_CASE("seeds, senders, receivers, turns, attempts and kinds have delays of their own") {
  const Law law{.kind = Law::Kind::exponential, .first = 1};
  const RandomChannel channel = channel_of({law, 0});
  const Duration base = channel.carry(use(5)).delay;
  CHECK(channel.carry(use(5)).delay == base);
  CHECK(channel.carry(use(6)).delay != base);
  CHECK(channel.carry(use(5, 2)).delay != base);
  CHECK(channel.carry(use(5, 0, 2)).delay != base);
  CHECK(channel_of({law, 0}, {}, 2).carry(use(5)).delay != base);
  LinkUse again = use(5);
  again.attempt = 1;
  CHECK(channel.carry(again).delay != base);
  LinkUse model = use(5);
  model.kind = MessageKind::model;
  CHECK(channel.carry(model).delay != base);
}

TEST_CASE("a table says the fate of every message, and loses what it does not name") {
  const TableChannel channel({{{{ClientId{1}, {false, 3s}}, {ClientId{2}, {true, 1s}}}, {}}, {}});
  CHECK_FALSE(channel.carry(use(0, 0, 1)).lost);
  CHECK(channel.carry(use(0, 0, 1)).delay == 3s);
  CHECK(channel.carry(use(0, 0, 2)).lost);
  CHECK(channel.carry(use(0, 0, 3)).lost);
  CHECK(channel.carry(use(1, 0, 1)).lost);
  CHECK(channel.carry(use(2, 0, 1)).lost);
  CHECK(channel.carry(use(0, 1, 0)).lost);
}

TEST_CASE("the turns of a table count transmit ticks at which nothing was sent") {
  // 0 computes at 2 s and may send at 1, 3 and 4 s: only the tick at 3 s, turn 1, has news.
  World world(directed(2, {{{0}, {1}}}));
  world.push.compute = {ticks({2}), TimerLaw::off()};
  world.push.transmit = {ticks({1, 3, 4}), TimerLaw::off()};
  world.push.needs.send_only_if_computed = true;
  world.channel =
      std::make_unique<TableChannel>(std::vector<std::vector<TableChannel::Turn>>{{{}, {{ClientId{1}, {false, 500ms}}}, {}}, {}});
  world.run_until(Time{10s});
  const auto arrivals = world.events.of_kind(Priority::arrival);
  REQUIRE(arrivals.size() == 1);
  CHECK(arrivals[0].at == Time{3500ms});
  CHECK(arrivals[0].sequence == 0);
}

TEST_CASE("with retransmission every message arrives, after a geometric number of attempts") {
  World world(directed(2, {{{0}, {1}}}));
  world.push.transmit = {TimerLaw::fixed(1, 0), TimerLaw::off()};
  world.channel =
      std::make_unique<RandomChannel>(1, LinkLaw{Law::constant(0.01), 0.6}, std::map<std::pair<ClientId, ClientId>, LinkLaw>{});
  world.settings.retransmits = true;
  world.run_until(Time{4000s - 1ns});
  std::vector<double> attempts;
  for (const Seen& arrival : world.events.of_kind(Priority::arrival)) {
    CHECK(arrival.age == 10ms);  // of the attempt that got through
    attempts.push_back((to_seconds(arrival.at) - static_cast<double>(arrival.sequence)) / 0.01);
  }
  CHECK(attempts.size() == 4000);
  CHECK(world.conductor().total_counts().lost == 0);
  // Mean 1 / 0.4 and variance 0.6 / 0.4^2; four standard deviations of the mean are allowed.
  CHECK(std::abs(mean(attempts) - 2.5) < 4 * std::sqrt(3.75 / 4000));
  CHECK(variance(attempts) == doctest::Approx(3.75).epsilon(0.15));
}

TEST_CASE("a link that loses everything is given up after a thousand attempts") {
  World world(directed(2, {{{0}, {1}}}));
  world.push.transmit = {ticks({1}), TimerLaw::off()};
  world.channel =
      std::make_unique<RandomChannel>(1, LinkLaw{Law::constant(0.01), 1}, std::map<std::pair<ClientId, ClientId>, LinkLaw>{});
  world.settings.retransmits = true;
  world.run_until(Time{100s});
  CHECK(world.conductor().total_counts().lost == 1);
  CHECK(world.events.of_kind(Priority::arrival).empty());
}
