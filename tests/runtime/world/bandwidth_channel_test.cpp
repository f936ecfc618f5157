#include "runtime/world/bandwidth_channel.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "tests/support/world.hpp"

using namespace rubato;
using namespace rubato::test;
using namespace std::chrono_literals;

namespace {

using Capacities = BandwidthChannel::Capacities;

// Clients that send 1,000 bits at these seconds to everybody they are linked with.
struct Net {
  World world;
  Net(Graph graph, Capacities capacities, std::vector<std::vector<double>> at, double latency = 0.001) : world{std::move(graph)} {
    const std::size_t clients = world.graph.clients();
    auto channel = std::make_unique<BandwidthChannel>(1, std::move(capacities), Law::constant(latency), clients);
    channel->set_sizes({.update = 125, .model = 125});
    world.channel = std::move(channel);
    world.push.transmit.clear();
    for (auto& seconds : at) world.push.transmit.push_back(ticks(std::move(seconds)));
  }
  // Seconds from departure, by (sender, receiver, sequence).
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, double> ages() {
    world.run_until(at_seconds(1000));
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, double> all;
    for (const Seen& arrival : world.events.of_kind(Priority::arrival))
      all[{arrival.source.value, arrival.client.value, arrival.sequence}] = to_seconds(arrival.age);
    return all;
  }
};

// The second road: time in small steps, everybody's rate anew in each.
struct Flow {
  std::uint32_t sender, receiver;
  std::uint64_t sequence;
  double begins, left = 1000;
};

}  // namespace

TEST_CASE("a message alone takes its bits over the smaller capacity, and the latency on top") {
  Net net(directed(2, {{{0}, {1}}}), {{100, 100}, {50, 50}}, {{1}, {}});
  CHECK(net.ages().at({0, 1, 0}) == doctest::Approx(1000.0 / 50 + 0.001));
}

TEST_CASE("a broadcast shares the up-link, and who comes later slows who is under way") {
  Net both(directed(3, {{{0}, {1}}, {{0}, {2}}}), {{100}, {1e9}}, {{1}, {}, {}});
  const auto shared = both.ages();
  CHECK(shared.at({0, 1, 0}) == doctest::Approx(20.001));
  CHECK(shared.at({0, 2, 0}) == doctest::Approx(20.001));
  // 5 s alone (500 bits), then half the rate: 10 s more for the first; the second then has 500 bits left and the link
  // alone.
  Net later(directed(2, {{{0}, {1}}}), {{100}, {1e9}}, {{1, 6}, {}});
  const auto ages = later.ages();
  CHECK(ages.at({0, 1, 0}) == doctest::Approx(15.001));
  CHECK(ages.at({0, 1, 1}) == doctest::Approx(15.001));
}

TEST_CASE("senders share the down-link of their common receiver") {
  Net net(directed(3, {{{0}, {2}}, {{1}, {2}}}), {{1e9}, {100}}, {{1}, {1}, {}});
  for (const auto& [message, age] : net.ages()) CHECK(age == doctest::Approx(20.001));
}

TEST_CASE("the time on the air is that during which a client has something to send") {
  Net net(directed(2, {{{0}, {1}}}), {{100}, {1e9}}, {{1, 6, 100}, {}});
  net.ages();
  CHECK(to_seconds(net.world.conductor().protocol({0}).counts().airtime) == doctest::Approx(20 + 10));
  CHECK(net.world.conductor().protocol({1}).counts().airtime == 0s);
  CHECK(net.world.conductor().flights() == 0);
}

TEST_CASE("whatever is under way, arrivals are those of time cut into small steps") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    Stream chance(seed, {0}, Purpose::split);
    constexpr std::uint32_t clients = 5;
    const Graph graph = random_digraph(seed, clients, 0.6);
    std::vector<double> up, down;
    for (std::uint32_t i = 0; i < clients; ++i)
      up.push_back(100 + 400 * chance.uniform()), down.push_back(100 + 400 * chance.uniform());
    std::vector<std::vector<double>> at(clients);
    std::vector<Flow> flows;
    for (std::uint32_t i = 0; i < clients; ++i) {
      double t = 0;
      for (std::uint64_t k = 0; k < 4; ++k) {
        t += std::round(1000 * (0.5 + 8 * chance.uniform())) / 1000;
        at[i].push_back(t);
        for (const ClientId j : graph.receivers_of({i})) flows.push_back({i, j.value, k, t});
      }
    }
    Net net(graph, {up, down}, at);
    const auto ages = net.ages();
    CHECK(ages.size() == flows.size());
    constexpr double step = 0.001;
    std::size_t left = flows.size();
    for (double t = 0; left > 0 && t < 900; t += step) {
      std::vector<double> sending(clients), receiving(clients);
      const auto is_under_way = [&](const Flow& flow) { return flow.begins <= t + step / 2 && flow.left > 0; };
      for (const Flow& flow : flows)
        if (is_under_way(flow)) ++sending[flow.sender], ++receiving[flow.receiver];
      for (Flow& flow : flows) {
        if (!is_under_way(flow)) continue;
        flow.left -= step * std::min(up[flow.sender] / sending[flow.sender], down[flow.receiver] / receiving[flow.receiver]);
        if (flow.left > 0) continue;
        --left;
        CHECK(ages.at({flow.sender, flow.receiver, flow.sequence}) ==
              doctest::Approx(t + step - flow.begins + 0.001).epsilon(0.01));
      }
    }
    CHECK(left == 0);
  }
}
