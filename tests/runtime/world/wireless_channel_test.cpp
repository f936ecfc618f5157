#include "runtime/world/wireless_channel.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "runtime/random.hpp"
#include "runtime/world/topology.hpp"
#include "tests/support/statistics.hpp"
#include "tests/support/world.hpp"

using namespace rubato;
using namespace rubato::test;
using namespace std::chrono_literals;
using doctest::Approx;

namespace {

constexpr double cnn_bytes = 596'776;

WirelessChannel channel_of(std::vector<Point> points, WirelessSettings settings = {}, const Wandering& wandering = {},
                           std::uint64_t seed = 1) {
  WirelessChannel channel(seed, std::move(settings), Places(std::move(points), {}, wandering, seed));
  channel.set_sizes({.update = cnn_bytes, .model = cnn_bytes});
  return channel;
}

LinkUse use(std::uint32_t sender, std::uint32_t receiver, std::uint64_t turn = 0, Time now = {}) {
  return {.sender = {sender}, .receiver = {receiver}, .turn = turn, .now = now};
}

Transmission transmission(std::uint32_t sender, Time at, std::uint64_t turn = 0) {
  return {.sender = {sender}, .turn = turn, .at = at};
}

double snr_at(double metres) {
  const Radio radio;
  return radio.path_gain(metres) / radio.noise_watts();
}

// Every message by the second, duller road: from the events alone, over all pairs, with the standard library's
// functions.
class AllPairs {
 public:
  AllPairs(std::uint64_t seed, const WirelessSettings& settings, std::vector<Point> points, double bytes)
      : seed_{seed}, settings_{settings}, points_{std::move(points)}, bytes_{bytes} {}

  struct Sent {
    std::uint32_t sender;
    Time at;
    std::uint64_t turn;
    std::vector<StepEntry> entries;
    Duration lasts{};
  };

  double fading(std::uint32_t sender, std::uint64_t turn, std::uint32_t receiver) const {
    const LinkUse message{.sender = {sender}, .turn = turn};
    return exponential(draw(seed_, {sender}, Purpose::fading, address_of(message), receiver).first);
  }
  double gain(std::uint32_t from, std::uint32_t to, double h) const {
    const double d = std::max(std::hypot(points_[from].x - points_[to].x, points_[from].y - points_[to].y), 1.0);
    return settings_.power[0] * h * std::pow(d, -settings_.radio.path_loss_exponent);
  }
  // Seconds from sender to receiver among everything that was ever sent, in order of time.
  double seconds(const Sent& sent, std::uint32_t receiver, const std::vector<Sent>& all) const {
    double disturbance = std::pow(10.0, (settings_.radio.noise_dbm_per_hertz - 30) / 10) * settings_.radio.bandwidth;
    std::map<std::uint32_t, std::pair<bool, std::uint64_t>> on_air;  // whether anything of it lasts; its newest message
    for (const Sent& other : all) {
      if (other.at > sent.at) break;
      auto& [lasts, newest] = on_air[other.sender];
      lasts = lasts || other.at == sent.at || other.at + other.lasts > sent.at;
      newest = other.turn;
    }
    for (const auto& [n, air] : on_air)
      if (air.first && n != sent.sender && n != receiver &&
          std::hypot(points_[n].x - points_[receiver].x, points_[n].y - points_[receiver].y) < settings_.radio.interference_radius)
        disturbance += gain(n, receiver, fading(n, air.second, receiver));
    const double sinr = gain(sent.sender, receiver, fading(sent.sender, sent.turn, receiver)) / disturbance;
    const double rate = settings_.radio.bandwidth * std::log2(1 + sinr);
    return 8 * bytes_ / rate +
           std::hypot(points_[sent.sender].x - points_[receiver].x, points_[sent.sender].y - points_[receiver].y) / 299'792'458.0;
  }

 private:
  std::uint64_t seed_;
  WirelessSettings settings_;
  std::vector<Point> points_;
  double bytes_;
};

}  // namespace

TEST_CASE("the power gain of a link is exponential with mean 1 over messages, and messages are independent") {
  const WirelessChannel channel = channel_of({{0, 0}, {500, 0}});
  std::vector<double> gains, uniform;
  for (std::uint64_t turn = 0; turn < 20'000; ++turn) {
    gains.push_back(channel.sinr(use(0, 1, turn)) / snr_at(500));
    uniform.push_back(std::exp(-gains.back()));
  }
  CHECK(std::abs(mean(gains) - 1) < 4 / std::sqrt(20'000.0));
  CHECK(std::abs(variance(gains) - 1) < 4 * std::sqrt(8.0 / 20'000));
  CHECK(kolmogorov_smirnov(uniform) < ks_limit);
  const std::vector<double> first(gains.begin(), gains.end() - 1), second(gains.begin() + 1, gains.end());
  CHECK(std::abs(correlation(first, second)) < 4 / std::sqrt(20'000.0));
}

TEST_CASE("links, directions, attempts and seeds fade on their own; the same message fades the same") {
  const std::vector<Point> corners{{0, 0}, {500, 0}, {0, 500}};
  const WirelessChannel channel = channel_of(corners), other = channel_of(corners, {}, {}, 2);
  const double gain = channel.sinr(use(0, 1));
  CHECK(channel.sinr(use(0, 1)) == gain);
  CHECK(channel.sinr(use(1, 0)) != gain);
  CHECK(channel.sinr(use(0, 2)) != gain);
  LinkUse again = use(0, 1);
  again.attempt = 1;
  CHECK(channel.sinr(again) != gain);
  CHECK(other.sinr(use(0, 1)) != gain);
}

TEST_CASE("a message takes 8 bytes / rate + distance / c and is lost if that is longer than the deadline") {
  WirelessSettings settings;
  settings.longest = 100ms;
  const WirelessChannel channel = channel_of({{0, 0}, {500, 0}}, settings);
  int lost = 0;
  for (std::uint64_t turn = 0; turn < 500; ++turn) {
    const double sinr = channel.sinr(use(0, 1, turn));
    const double seconds = 8 * cnn_bytes / (1e7 * std::log2(1 + sinr)) + 500 / 299'792'458.0;
    const Fate fate = channel.carry(use(0, 1, turn));
    CHECK(fate.lost == (seconds > 0.1));
    CHECK(to_seconds(fate.delay) == Approx(std::min(seconds, 0.1)).epsilon(1e-6));
    CHECK(fate.airtime == fate.delay);
    lost += fate.lost;
  }
  // SNR 402 h needs log2(1 + 402 h) >= 47.7 bits/Hz/0.1 s, so h >= 0.065.
  const double h = (std::exp2(8 * cnn_bytes / ((0.1 - 500 / 299'792'458.0) * 1e7)) - 1) / snr_at(500);
  CHECK(std::abs(lost / 500.0 - (1 - std::exp(-h))) < 4 * std::sqrt(h / 500));
}

TEST_CASE("only who transmits, and only nearer than the radius, disturbs; never the sender or the receiver") {
  const std::vector<Point> points{{-400, 0}, {0, 0}, {49, 0}, {0, 51}};
  WirelessChannel channel = channel_of(points);
  const double alone = channel.sinr(use(0, 1));
  channel.announce(transmission(3, {}));  // too far
  channel.announce(transmission(0, {}));
  channel.announce(transmission(1, {}));
  CHECK(channel.sinr(use(0, 1)) == alone);
  channel.announce(transmission(2, {}));
  const double disturbed = channel.sinr(use(0, 1));
  CHECK(disturbed < alone / 1000);
  channel.occupy({2}, Time{1s});
  CHECK(channel.sinr(use(0, 1, 0, Time{999ms})) == disturbed);
  CHECK(channel.sinr(use(0, 1, 0, Time{1s})) == alone);  // finished
  WirelessSettings settings;
  settings.interferers = Interferers::none;
  CHECK(channel_of(points, settings).sinr(use(0, 1)) == alone);
  settings.interferers = Interferers::all;
  CHECK(channel_of(points, settings).sinr(use(0, 1)) < alone / 1000);
}

TEST_CASE("the neighbours found by cells are those of all pairs, also while clients wander") {
  for (const double speed : {0.0, 30.0}) {
    const std::uint32_t clients = 300;
    const auto points = draw_places({}, clients, 5);
    const Wandering wandering{speed, speed, 0};
    WirelessChannel channel = channel_of(points, {}, wandering, 5);
    const Places places(points, {}, wandering, 5);
    Stream chance(6, {0}, Purpose::split);
    int met = 0;
    for (int k = 0; k < 300; ++k) {
      const Time now{k * 137ms};
      std::vector<bool> transmits(clients);
      for (std::uint32_t i = 0; i < clients; ++i)
        if (chance.uniform() < 0.5) transmits[i] = true, channel.announce(transmission(i, now, static_cast<unsigned>(k)));
      const auto receiver = static_cast<std::uint32_t>(chance.below(clients));
      const std::uint32_t sender = (receiver + 1) % clients;
      const AllPairs naive(5, {}, {}, 0);
      double disturbance = Radio{}.noise_watts();
      for (std::uint32_t n = 0; n < clients; ++n) {
        const double d = distance(places.of({n}, now), places.of({receiver}, now));
        if (n == sender || n == receiver || !transmits[n] || d >= 50) continue;
        disturbance += naive.fading(n, static_cast<unsigned>(k), receiver) * Radio{}.path_gain(d);
        ++met;
      }
      const double d = distance(places.of({sender}, now), places.of({receiver}, now));
      const double signal = naive.fading(sender, static_cast<unsigned>(k), receiver) * Radio{}.path_gain(d);
      CHECK(channel.sinr(use(sender, receiver, static_cast<unsigned>(k), now)) == signal / disturbance);
    }
    CHECK(met > 200);
  }
}

TEST_CASE("the fates of a whole run are those that all pairs give, by the second road") {
  for (const bool in_lock_step : {false, true}) {
    CAPTURE(in_lock_step);
    const std::uint64_t seed = 11;
    constexpr std::uint32_t clients = 40;
    const auto points = draw_places({false, 200}, clients, seed);
    WirelessSettings settings;
    settings.radio.interference_radius = 60;
    settings.longest = 400ms;
    World world(topologies::nearest_neighbours(points, 5, Symmetrise::either), seed);
    auto wireless = std::make_unique<WirelessChannel>(seed, settings, Places(points, {}, {}, seed));
    wireless->set_sizes({.update = cnn_bytes, .model = cnn_bytes});
    world.channel = std::move(wireless);
    world.push.compute = {in_lock_step ? TimerLaw::fixed(0.5, 0.25) : TimerLaw::poisson(2)};
    world.push.transmit = {TimerLaw::coupled(1, 1)};
    world.push.needs.send_only_if_computed = true;
    world.push.limits.deadline = settings.longest;
    world.run_until(at_seconds(8));

    const AllPairs naive(seed, settings, points, cnn_bytes);
    std::vector<AllPairs::Sent> all;
    std::map<std::uint32_t, std::uint64_t> turns;
    for (const Seen& tick : world.events.of_kind(Priority::transmit))
      if (tick.sends) all.push_back({tick.client.value, tick.at, turns[tick.client.value]++, tick.entries});
    // What was sent at one instant disturbs each other before it is known how long it lasts.
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, std::pair<bool, double>> fates;
    for (AllPairs::Sent& sent : all) {
      double longest = 0;
      for (const StepEntry& entry : sent.entries) {
        const double seconds = naive.seconds(sent, entry.peer.value, all);
        longest = std::max(longest, std::min(seconds, 0.4));
        fates[{sent.sender, entry.peer.value, entry.sequence}] = {entry.lost, seconds};
        CHECK((entry.lost == 1) == (seconds > 0.4));
      }
      sent.lasts = from_seconds(longest);
    }
    std::size_t arrived = 0, lost = 0;
    for (const Seen& arrival : world.events.of_kind(Priority::arrival)) {
      const auto& [is_lost, seconds] = fates.at({arrival.source.value, arrival.client.value, arrival.sequence});
      CHECK_FALSE(is_lost);
      CHECK(std::abs(to_seconds(arrival.age) - seconds) < 2e-9);
      ++arrived;
    }
    for (const auto& [message, fate] : fates) lost += fate.first;
    CHECK(arrived > 500);
    CHECK(lost > 50);
    Duration airtime{};
    for (const AllPairs::Sent& sent : all) airtime += sent.lasts;
    CHECK(to_seconds(world.conductor().total_counts().airtime) == Approx(to_seconds(airtime)).epsilon(1e-6));
  }
}

TEST_CASE("the best channel belongs to the client with the largest mean SINR over its links, ties by lower number") {
  const Graph graph = topologies::complete(3);
  CHECK(channel_of({{-100, 0}, {10, 0}, {200, 0}}).best_sender(graph, {}) == ClientId{1});
  CHECK(channel_of({{0, 0}, {10, 0}, {500, 0}}).best_sender(Graph(3, false, {{{0}, {2}}, {{1}, {2}}}), {}) == ClientId{1});
  CHECK(channel_of({{0, 0}, {10, 0}}).best_sender(topologies::complete(2), {}) == ClientId{0});
}
