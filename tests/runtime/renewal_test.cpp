#include "runtime/renewal.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "runtime/law.hpp"
#include "tests/support/statistics.hpp"
#include "tests/support/world.hpp"

using namespace rubato;
using namespace rubato::test;
using namespace std::chrono_literals;

namespace {

std::vector<Time> first_ticks(const TimerLaw& law, int count, ClientId client = {}, std::uint64_t seed = 1,
                              Purpose purpose = Purpose::compute_timer, std::uint32_t detail = 0) {
  Timer timer;
  std::vector<Time> all;
  for (int i = 0; i < count; ++i) all.push_back(timer.next(law, seed, client, purpose, detail));
  return all;
}

/// Seconds between ticks, the first one counted from the start.
std::vector<double> intervals(const std::vector<Time>& all) {
  std::vector<double> seconds;
  Time previous{};
  for (const Time tick : all) {
    seconds.push_back(to_seconds(tick - previous));
    previous = tick;
  }
  return seconds;
}

/// How many ticks fall into each of so many seconds from the start.
std::vector<double> counts_per_second(const std::vector<Time>& all, std::size_t seconds) {
  std::vector<double> counts(seconds);
  for (const Time tick : all)
    if (const auto second = static_cast<std::size_t>(to_seconds(tick)); second < seconds) ++counts[second];
  return counts;
}

template <class Distribution>
double distance(const std::vector<double>& values, Distribution distribution) {
  std::vector<double> uniform;
  for (const double value : values) uniform.push_back(distribution(value));
  return kolmogorov_smirnov(std::move(uniform));
}

constexpr int n = 20000;

}  // namespace

TEST_CASE("a law of a program's own is drawn from the timer's stream alone, and obeys the numbers that it is given") {
  const auto twice = [](std::span<const double> numbers, Stream& stream) {
    return numbers[0] + stream.uniform() * stream.uniform();
  };
  const TimerLaw law = TimerLaw::own(twice, {0.25}, 2);
  CHECK(law.mean_rate(10) == 2);
  CHECK(law.ticks_by_itself());
  const std::vector<double> seconds = intervals(first_ticks(law, 100, ClientId{3}, 7));
  Stream chance(7, ClientId{3}, Purpose::compute_timer);
  for (const double one : seconds) CHECK(one == doctest::Approx(0.25 + chance.uniform() * chance.uniform()));
  const auto nothing = [](std::span<const double>, Stream&) { return std::nan(""); };
  CHECK(first_ticks(TimerLaw::own(nothing, {}, 1), 1).front() == never);
  const auto none = [](std::span<const double>, Stream&) { return -1.0; };
  CHECK(first_ticks(TimerLaw::own(none, {}, 1), 1).front() == Time{Duration{1}});
}

TEST_CASE("the intervals of a Poisson timer are exponential with its rate") {
  for (const double rate : {0.1, 1.0, 250.0})
    CHECK(distance(intervals(first_ticks(TimerLaw::poisson(rate), n)), [&](double x) { return 1 - std::exp(-rate * x); }) <
          ks_limit);
}

TEST_CASE("the counts of a Poisson timer are as dispersed as their mean") {
  // Index of dispersion = variance / mean = 1; over 4000 windows its standard deviation is sqrt(2 / 4000) = 0.022.
  const auto counts = counts_per_second(first_ticks(TimerLaw::poisson(5), n), 3900);
  CHECK(mean(counts) == doctest::Approx(5).epsilon(0.03));
  CHECK(std::abs(variance(counts) / mean(counts) - 1) < 0.1);
}

TEST_CASE("a fixed timer has no dispersion, a gamma timer of shape 4 a quarter of Poisson's") {
  const auto fixed = counts_per_second(first_ticks(TimerLaw::fixed(0.25, 0.125), n), 4000);
  CHECK(variance(fixed) == 0);
  // Over long windows the index of dispersion of a renewal process is the squared variation of its interval: 1/4.
  const auto all = first_ticks(TimerLaw::gamma(4, 400), n);
  CHECK(std::abs(variance(counts_per_second(all, 195)) / mean(counts_per_second(all, 195)) - 0.25) < 0.12);
}

TEST_CASE("neighbouring intervals of one Poisson timer are independent") {
  const auto all = intervals(first_ticks(TimerLaw::poisson(1), n));
  CHECK(std::abs(correlation({all.data(), n - 1}, {all.data() + 1, n - 1})) < 4 / std::sqrt(n));
}

TEST_CASE("compute and transmit timers, neighbouring clients and links of one client are independent") {
  const TimerLaw law = TimerLaw::poisson(1);
  for (std::uint32_t client : {0u, 1u, 5u}) {
    CAPTURE(client);
    const auto compute = intervals(first_ticks(law, n, {client}));
    const auto transmit = intervals(first_ticks(law, n, {client}, 1, Purpose::transmit_timer));
    const auto neighbour = intervals(first_ticks(law, n, {client + 1}));
    const auto link = intervals(first_ticks(law, n, {client}, 1, Purpose::transmit_timer, 1));
    const auto seed = intervals(first_ticks(law, n, {client}, 2));
    const double limit = 4 / std::sqrt(n);
    CHECK(std::abs(correlation(compute, transmit)) < limit);
    CHECK(std::abs(correlation(compute, neighbour)) < limit);
    CHECK(std::abs(correlation(transmit, link)) < limit);
    CHECK(std::abs(correlation(compute, seed)) < limit);
  }
}

TEST_CASE("the superposition of many Poisson timers is Poisson with the sum of the rates") {
  std::vector<Time> all;
  for (std::uint32_t client = 0; client < 100; ++client)
    for (const Time tick : first_ticks(TimerLaw::poisson(2), 200, {client}))
      if (tick < Time{80s}) all.push_back(tick);
  std::sort(all.begin(), all.end());
  CHECK(distance(intervals(all), [](double x) { return 1 - std::exp(-200 * x); }) < ks_limit);
}

TEST_CASE("a fixed timer ticks at its phase and then at every period, without drift") {
  const auto all = first_ticks(TimerLaw::fixed(0.1, 0.03), 1000001);
  CHECK(all[0] == Time{30ms});
  CHECK(all[1] == Time{130ms});
  CHECK(all[1000000] == Time{30ms + 100000s});
  CHECK(first_ticks(TimerLaw::fixed(2, 0), 3) == std::vector{Time{0s}, Time{2s}, Time{4s}});
}

TEST_CASE("a table timer ticks when the table says and then never again") {
  CHECK(first_ticks(ticks({0, 0.5, 7}), 5) == std::vector{Time{0s}, Time{500ms}, Time{7s}, never, never});
  CHECK(first_ticks(ticks({}), 1) == std::vector{never});
}

TEST_CASE("a shifted exponential timer is never faster than its minimum and exponential beyond it") {
  const auto all = intervals(first_ticks(TimerLaw::shifted_exponential(0.25, 2), n));
  CHECK(*std::min_element(all.begin(), all.end()) >= 0.25);
  CHECK(*std::min_element(all.begin(), all.end()) < 0.251);
  CHECK(distance(all, [](double x) { return 1 - std::exp(-2 * (x - 0.25)); }) < ks_limit);
}

TEST_CASE("a gamma timer has the mean shape / rate and the distribution of a sum of exponentials") {
  // Gamma(2, rate) is the sum of two exponentials: F(x) = 1 - e^(-rx) (1 + rx).
  const auto all = intervals(first_ticks(TimerLaw::gamma(2, 10), n));
  CHECK(mean(all) == doctest::Approx(0.2).epsilon(0.03));
  CHECK(distance(all, [](double x) { return 1 - std::exp(-10 * x) * (1 + 10 * x); }) < ks_limit);
  CHECK(std::abs(correlation({all.data(), n - 1}, {all.data() + 1, n - 1})) < 4 / std::sqrt(n));
}

TEST_CASE("a lognormal timer has the stated mean and spread") {
  // log of the interval is normal with mean log(0.5) - 0.8^2 / 2 and standard deviation 0.8.
  const auto all = intervals(first_ticks(TimerLaw::lognormal(0.5, 0.8), n));
  CHECK(mean(all) == doctest::Approx(0.5).epsilon(0.04));
  CHECK(distance(all, [](double x) { return 0.5 * std::erfc(-(std::log(x) - std::log(0.5) + 0.32) / 0.8 / std::sqrt(2.0)); }) <
        ks_limit);
}

TEST_CASE("timers that are off or coupled never tick by themselves") {
  CHECK(first_ticks(TimerLaw::off(), 2) == std::vector{never, never});
  CHECK(first_ticks(TimerLaw::coupled(3, 2), 2) == std::vector{never, never});
  CHECK_FALSE(TimerLaw::off().ticks_by_itself());
  CHECK_FALSE(TimerLaw::coupled(1, 1).ticks_by_itself());
  CHECK(TimerLaw::poisson(1).ticks_by_itself());
}

TEST_CASE("no two ticks of one timer are closer than a nanosecond, however high the rate") {
  for (const TimerLaw& law : {TimerLaw::poisson(1e12), TimerLaw::fixed(1e-12, 0), TimerLaw::gamma(0.01, 1e9),
                              TimerLaw::lognormal(1e-12, 1), TimerLaw::shifted_exponential(0, 1e12)}) {
    const auto all = first_ticks(law, 2000);
    for (std::size_t i = 1; i < all.size(); ++i) REQUIRE(all[i] >= all[i - 1] + 1ns);
  }
}

TEST_CASE("the next tick is measured from the last tick, not from when it is asked for") {
  // A timer that is asked in time and one that is asked after everything has happened tick alike.
  const TimerLaw law = TimerLaw::poisson(3);
  const auto eager = first_ticks(law, 100);
  Timer late;
  Duration waited{};
  for (const Time expected : eager) {
    waited += 1h;  // whatever happens in between
    CHECK(late.next(law, 1, {}, Purpose::compute_timer) == expected);
    CHECK(late.last() == expected);
  }
}

TEST_CASE("a timer that has come to the far end of time stays there") {
  Timer timer;
  CHECK(timer.next(TimerLaw::fixed(9e9, 9e9), 1, {}, Purpose::compute_timer) == Time{9000000000s});
  CHECK(timer.next(TimerLaw::fixed(9e9, 9e9), 1, {}, Purpose::compute_timer) == never);
  CHECK(timer.next(TimerLaw::fixed(9e9, 9e9), 1, {}, Purpose::compute_timer) == never);
}

TEST_CASE("adding clients never changes another client's ticks") {
  const auto tick_times = [](std::size_t clients, std::uint32_t client) {
    World world(topologies::complete(clients), 5);
    world.push.compute = {TimerLaw::poisson(1)};
    world.push.transmit = {TimerLaw::poisson(2)};
    world.run_until(Time{30s});
    std::vector<Time> times;
    for (const Seen& seen : world.events.seen)
      if (seen.client.value == client && (seen.kind == Priority::compute || seen.kind == Priority::transmit))
        times.push_back(seen.at);
    return times;
  };
  for (std::uint32_t client = 0; client < 3; ++client) {
    CHECK(tick_times(3, client).size() > 50);
    CHECK(tick_times(3, client) == tick_times(11, client));
  }
}

TEST_CASE("another channel, window or cap never changes a tick") {
  const auto tick_times = [](bool is_hard) {
    World world(topologies::ring(6), 5);
    world.push.compute = {TimerLaw::poisson(1)};
    world.push.transmit = {TimerLaw::gamma(2, 2)};
    if (is_hard) {
      world.channel = random_links(5, 3, 0.5);
      world.push.limits = {.window = 2s, .deadline = 1s, .cap = 1};
      world.settings.cap_period = 7s;
      world.settings.unification.period = 5s;
    }
    world.run_until(Time{30s});
    std::vector<std::pair<Time, std::uint32_t>> times;
    for (const Seen& seen : world.events.seen)
      if (seen.kind == Priority::compute || seen.kind == Priority::transmit) times.push_back({seen.at, seen.client.value});
    return times;
  };
  CHECK(tick_times(false).size() > 250);
  CHECK(tick_times(false) == tick_times(true));
}
