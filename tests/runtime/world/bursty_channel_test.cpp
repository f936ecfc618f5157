#include "runtime/world/bursty_channel.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "tests/support/statistics.hpp"
#include "tests/support/world.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

using State = BurstyChannel::State;

const Law short_delay = Law::constant(0.001);

LinkUse use(Time now, std::uint64_t turn = 0, std::uint32_t sender = 0, std::uint32_t receiver = 1) {
  return {.sender = {sender}, .receiver = {receiver}, .turn = turn, .now = now};
}

// What 'ask' answers on link 0 -> 1 at 0, step, 2 step, ...
template <class Ask>
std::vector<double> asked(int count, double step, Ask ask) {
  std::vector<double> answers;
  for (int i = 0; i < count; ++i) answers.push_back(ask(at_seconds(i * step), static_cast<std::uint64_t>(i)));
  return answers;
}

std::vector<double> states(const BurstyChannel& channel, int count, double step) {
  return asked(count, step, [&](Time at, std::uint64_t) { return channel.is_bad({0}, {1}, at); });
}

// How many equal answers stand side by side, of those that are `value`; the first and the last run are cut off.
std::vector<double> runs_of(const std::vector<double>& answers, double value) {
  std::vector<double> lengths;
  std::size_t begin = 0;
  for (std::size_t i = 1; i < answers.size(); ++i) {
    if (answers[i] == answers[i - 1]) continue;
    if (begin > 0 && answers[begin] == value) lengths.push_back(static_cast<double>(i - begin));
    begin = i;
  }
  return lengths;
}

}  // namespace

TEST_CASE("in the long run a bursty link loses the stationary share: both losses, weighed with how long each state lasts") {
  constexpr int n = 20000;
  for (const auto& [good, bad] :
       {std::pair{State{4, 0.01}, State{1, 0.9}}, {State{0.5, 0.2}, State{3, 0.6}}, {State{1, 0}, State{9, 1}}}) {
    const BurstyChannel channel(3, short_delay, good, bad);
    // 20 forgetting times lie between two messages, so they are as good as independent.
    const double step = 20 / (1 / good.mean + 1 / bad.mean);
    const double rate = mean(asked(n, step, [&](Time at, std::uint64_t turn) { return channel.carry(use(at, turn)).lost; }));
    const double expected = (good.mean * good.loss + bad.mean * bad.loss) / (good.mean + bad.mean);
    CHECK(std::abs(rate - expected) < 4 * std::sqrt(expected * (1 - expected) / n));
  }
}

TEST_CASE("a link begins in its stationary state: nothing is special about the start of a run") {
  const BurstyChannel channel(5, short_delay, {3, 0}, {1, 1});
  constexpr std::uint32_t n = 20000;
  for (const double seconds : {0.0, 0.4, 2.9, 3.0, 3.1, 70.0}) {
    CAPTURE(seconds);
    std::uint32_t bad = 0;
    for (std::uint32_t receiver = 1; receiver <= n; ++receiver) bad += channel.is_bad({0}, {receiver}, at_seconds(seconds));
    CHECK(std::abs(bad / double{n} - 0.25) < 4 * std::sqrt(0.25 * 0.75 / n));
  }
}

TEST_CASE("good and bad times are exponential with their means") {
  const double good_mean = 0.7, bad_mean = 0.2, step = 0.0005;
  const BurstyChannel channel(7, short_delay, {good_mean, 0}, {bad_mean, 1});
  const std::vector<double> seen = states(channel, 2000000, step);  // 1,000 s
  for (const auto& [is_bad, expected] : {std::pair{0.0, good_mean}, {1.0, bad_mean}}) {
    CAPTURE(is_bad);
    std::vector<double> seconds, uniform;
    for (const double length : runs_of(seen, is_bad)) seconds.push_back(length * step);
    for (const double length : seconds) uniform.push_back(1 - std::exp(-length / expected));
    REQUIRE(seconds.size() > 1000);
    CHECK(std::abs(mean(seconds) - expected) < 4 * expected / std::sqrt(static_cast<double>(seconds.size())));
    CHECK(kolmogorov_smirnov(uniform) < ks_limit);
  }
}

TEST_CASE("a burst of losses is as long as the chain says, message by message") {
  // Messages every h seconds over a link that loses all while it is bad. A lost one is followed by a lost one with chance
  // p = s + (1 - s) exp(-(a + b) h), s the share of bad times, so a burst has 1 / (1 - p) messages in the mean.
  const double good_mean = 2, bad_mean = 0.5, h = 0.1;
  const BurstyChannel channel(11, short_delay, {good_mean, 0}, {bad_mean, 1});
  const auto lost = asked(200000, h, [&](Time at, std::uint64_t turn) { return channel.carry(use(at, turn)).lost; });
  const double share = bad_mean / (good_mean + bad_mean);
  const double p = share + (1 - share) * std::exp(-(1 / good_mean + 1 / bad_mean) * h);
  const std::vector<double> bursts = runs_of(lost, 1);
  const double deviation = std::sqrt(p) / (1 - p);  // of a geometric number
  CHECK(std::abs(mean(bursts) - 1 / (1 - p)) < 4 * deviation / std::sqrt(static_cast<double>(bursts.size())));
}

TEST_CASE("the state at an instant is the same whenever it is asked, by whom, and in which order") {
  const State good{1, 0.1}, bad{0.3, 0.8};
  const Law delay{.kind = Law::Kind::exponential, .first = 0.05};
  const BurstyChannel onwards(13, delay, good, bad), back(13, delay, good, bad);
  std::vector<std::pair<bool, Duration>> first, second;
  for (int i = 0; i < 5000; ++i) {
    const Fate fate = onwards.carry(use(at_seconds(i * 0.037), static_cast<std::uint64_t>(i)));
    first.emplace_back(fate.lost, fate.delay);
  }
  for (int i = 4999; i >= 0; --i) {  // a run that was resumed in the middle begins there
    const Fate fate = back.carry(use(at_seconds(i * 0.037), static_cast<std::uint64_t>(i)));
    second.insert(second.begin(), {fate.lost, fate.delay});
  }
  CHECK(first == second);
}

TEST_CASE("both directions, other links and other seeds have states of their own") {
  const State good{1, 0}, bad{1, 1};
  const BurstyChannel channel(17, short_delay, good, bad), other_seed(18, short_delay, good, bad);
  constexpr int n = 20000;
  const auto of_link = [&](const BurstyChannel& of, std::uint32_t sender, std::uint32_t receiver) {
    return asked(n, 10, [&](Time at, std::uint64_t) { return of.is_bad({sender}, {receiver}, at); });
  };
  const std::vector<double> base = of_link(channel, 0, 1);
  for (const auto& other : {of_link(channel, 1, 0), of_link(channel, 0, 2), of_link(channel, 2, 1), of_link(other_seed, 0, 1)})
    CHECK(std::abs(correlation(base, other)) < 4 / std::sqrt(n));
}

TEST_CASE("delays are those of the same law without bursts") {
  const Law delay{.kind = Law::Kind::gamma, .first = 2, .second = 30};
  const BurstyChannel bursty(19, delay, {1, 0.1}, {1, 0.7});
  const RandomChannel plain(19, {.delay = delay}, {});
  for (std::uint64_t turn = 0; turn < 500; ++turn) {
    const LinkUse message = use(at_seconds(0.2 * static_cast<double>(turn)), turn);
    CHECK(bursty.carry(message).delay == plain.carry(message).delay);
  }
}

TEST_CASE("who sends again over a bad link that loses everything waits for the end of the burst, however long it is") {
  const BurstyChannel channel(23, short_delay, {100, 0}, {100, 1});  // 1,000 attempts at 1 ms would not reach its end
  int met = 0;
  for (std::uint64_t turn = 0; turn < 200; ++turn) {
    const LinkUse message = use(at_seconds(7 * static_cast<double>(turn)), turn);
    const Fate first = channel.carry(message);
    const Fate last = retransmitted(first, channel, message);
    CHECK_FALSE(last.lost);
    if (!first.lost) continue;
    ++met;
    const Time through = message.now + last.delay - from_seconds(0.001);  // when the last attempt began
    CHECK_FALSE(channel.is_bad({0}, {1}, through));
    CHECK(channel.is_bad({0}, {1}, through - Duration{1}));
  }
  CHECK(met > 50);
}
