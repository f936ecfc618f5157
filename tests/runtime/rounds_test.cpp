#include "runtime/protocols/rounds.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/world.hpp"

using namespace rubato;
using namespace rubato::test;
using namespace std::chrono_literals;

namespace {

/// In milliseconds.
std::vector<std::int64_t> times_of(const World& world, StepKind kind) {
  std::vector<std::int64_t> times;
  for (const KeptStep& kept : world.steps.of_kind(kind)) times.push_back(kept.step.at.time_since_epoch() / 1ms);
  return times;
}

using Times = std::vector<std::int64_t>;

/// Client i takes periods[i] seconds for a computation.
std::unique_ptr<World> in_rounds(Graph graph, const std::vector<double>& periods) {
  auto world = std::make_unique<World>(std::move(graph), 3);
  world->in_rounds = true;
  world->push.compute.clear();
  for (const double period : periods) world->push.compute.push_back(TimerLaw::fixed(period, 0));
  world->channel = std::make_unique<IdealChannel>(Duration{500ms});
  return world;
}

using Fates = std::vector<std::vector<TableChannel::Turn>>;

}  // namespace

TEST_CASE("no client sends before the slowest has computed, and none absorbs before the last message is there") {
  const auto world = in_rounds(topologies::ring(3), {1, 3, 2});
  world->run_until(Time{7s});
  // A round takes 3 s of computation and 0.5 s on the links.
  CHECK(times_of(*world, StepKind::compute) == Times{1000, 2000, 3000, 4500, 5500, 6500});
  CHECK(times_of(*world, StepKind::publish) == Times{3000, 3000, 3000, 6500, 6500, 6500});
  CHECK(times_of(*world, StepKind::merge) == Times{3500, 3500, 3500, 7000, 7000, 7000});
}

TEST_CASE("a round lasts as long as its slowest computation and its slowest message") {
  const auto world = in_rounds(directed(2, {{{0}, {1}}, {{1}, {0}}}), {1, 2});
  world->channel = std::make_unique<TableChannel>(Fates{{{{ClientId{1}, {false, 4s}}}, {{ClientId{1}, {false, 1s}}}},
                                                        {{{ClientId{0}, {false, 1s}}}, {{ClientId{0}, {false, 7s}}}}});
  world->run_until(Time{15s});
  // Round 0: 2 s + 4 s; round 1: 2 s + 7 s.
  CHECK(times_of(*world, StepKind::merge) == Times{6000, 6000, 15000, 15000});
}

TEST_CASE("rounds of random lengths last as long as the longest of them, and every round draws its own") {
  const auto world = in_rounds(topologies::ring(4), {1});
  world->push.compute = {TimerLaw::poisson(1)};
  world->run_until(Time{100s});
  const auto computes = world->steps.of_kind(StepKind::compute), publishes = world->steps.of_kind(StepKind::publish);
  REQUIRE(publishes.size() > 80);
  Time start{};
  for (std::size_t i = 0; i + 3 < publishes.size(); i += 4) {  // steps of one round are in the order of time
    REQUIRE(computes[i].step.at > start);
    REQUIRE(publishes[i].step.at == computes[i + 3].step.at);
    REQUIRE(publishes[i + 3].step.at == computes[i + 3].step.at);
    REQUIRE(computes[i].step.at < computes[i + 3].step.at);
    start = publishes[i].step.at + 500ms;
  }
}

TEST_CASE("a batch holds one message of each sender, senders ascending, whatever order they arrive in") {
  const auto world = in_rounds(topologies::star(4, {0}), {1, 1, 1, 1});
  world->channel = std::make_unique<TableChannel>(
      Fates{{{}}, {{{ClientId{0}, {false, 3s}}}}, {{{ClientId{0}, {false, 2s}}}}, {{{ClientId{0}, {false, 1s}}}}});
  world->run_until(Time{4s});
  const auto merges = world->steps.of_kind(StepKind::merge);
  REQUIRE(merges.size() == 4);  // the others absorb a batch that is empty
  CHECK(in_words(merges[0]) == "4000000000 merge 0 of 0 [1#0 x1 age 3000000000] [2#0 x1 age 3000000000] [3#0 x1 age 3000000000]");
  for (std::uint32_t i = 1; i < 4; ++i) CHECK(in_words(merges[i]) == "4000000000 merge 0 of " + std::to_string(i));
}

TEST_CASE("tokens go to the lowest senders, and the others are discarded") {
  const auto world = in_rounds(topologies::star(4, {0}), {1, 1, 1, 1});
  world->push.limits.cap = 2;
  world->board.unify_every = world->board.refill_every = 2;
  world->run_until(Time{4500ms});  // rounds end at 1.5, 3.0 and 4.5
  std::vector<std::string> of_zero;
  for (const KeptStep& kept : world->steps.steps)
    if (kept.step.client.value == 0 && (kept.step.kind == StepKind::merge || kept.step.kind == StepKind::discard))
      for (const StepEntry& entry : kept.entries)
        of_zero.push_back(std::string(name_of(kept.step.kind)) + " " + std::to_string(entry.peer.value) + "#" +
                          std::to_string(entry.sequence));
  std::sort(of_zero.begin(), of_zero.end());
  // Two tokens for rounds 0 and 1 together; the refill after round 1 gives two more for round 2.
  CHECK(of_zero == std::vector<std::string>{"discard 1#1", "discard 2#1", "discard 3#0", "discard 3#1", "discard 3#2", "merge 1#0",
                                            "merge 1#2", "merge 2#0", "merge 2#2"});
  CHECK(world->conductor().total_counts().capped == 5);
}

TEST_CASE("every P rounds all take the hub's model, before the next round computes") {
  const auto world = in_rounds(topologies::ring(3), {1, 1, 1});
  world->board.unify_every = world->board.refill_every = 2;
  world->run_until(Time{9500ms});  // a round is 1.5 s: unifications at 3, 6 and 9
  CHECK(times_of(*world, StepKind::adopt) == Times{3000, 3000, 6000, 6000, 9000, 9000});
  std::vector<std::uint32_t> hubs;
  for (const Seen& unify : world->events.of_kind(Priority::unify)) hubs.push_back(unify.client.value);
  CHECK(hubs == std::vector{0u, 1u, 2u});
  CHECK(world->events.of_kind(Priority::period).size() == 3);
  CHECK(world->conductor().unifications() == 3);
  CHECK(world->conductor().model_messages() == 6);
}

TEST_CASE("with drop a lost message is missing from its batch and holds no client up") {
  const auto world = in_rounds(topologies::complete(3), {1, 1, 1});
  world->channel = std::make_unique<TableChannel>(
      Fates{{{{ClientId{1}, {true, 9s}}, {ClientId{2}, {false, 1s}}}}, {{{ClientId{0}, {false, 1s}}}}, {{}}});
  world->run_until(Time{2500ms});
  const auto merges = world->steps.of_kind(StepKind::merge);
  REQUIRE(merges.size() == 3);
  CHECK(in_words(merges[0]) == "2000000000 merge 0 of 0 [1#0 x1 age 1000000000]");
  CHECK(in_words(merges[1]) == "2000000000 merge 0 of 1");  // heard nobody
  CHECK(in_words(merges[2]) == "2000000000 merge 0 of 2 [0#0 x1 age 1000000000]");
  CHECK(world->conductor().total_counts().lost == 4);
}

TEST_CASE("stars tell those that they have heard in the exchange before, and no others") {
  const auto world = in_rounds(topologies::complete(3), {1, 1, 1});
  world->push.needs.fanout = {.chosen_by_receiver = true, .stars = Stars::all};
  world->push.needs.program.round = {Phase{.kind = PhaseKind::compute}, Phase{.kind = PhaseKind::exchange},
                                     Phase{.kind = PhaseKind::exchange, .number = 1}};
  const Fate there{false, 1ms}, gone{true, 1ms};
  world->channel = std::make_unique<TableChannel>(
      Fates{{{{ClientId{1}, gone}, {ClientId{2}, there}}, {{ClientId{1}, there}, {ClientId{2}, there}}},
            {{{ClientId{0}, there}, {ClientId{2}, there}}, {{ClientId{0}, there}, {ClientId{2}, there}}},
            {{{ClientId{0}, there}, {ClientId{1}, there}}, {{ClientId{0}, there}, {ClientId{1}, there}}}});
  world->run_until(Time{1500ms});
  std::vector<std::vector<std::uint32_t>> receivers;
  for (const KeptStep& publish : world->steps.of_kind(StepKind::publish)) {
    receivers.emplace_back();
    for (const StepEntry& entry : publish.entries) receivers.back().push_back(entry.peer.value);
  }
  CHECK(receivers == std::vector<std::vector<std::uint32_t>>{{1, 2}, {0, 2}, {0, 1}, {1, 2}, {2}, {0, 1}});
}

TEST_CASE("with wait a lost message is sent again until it arrives, and the round waits for it") {
  const auto world = in_rounds(topologies::complete(3), {1, 1, 1});
  world->channel = std::make_unique<RandomChannel>(3, RandomChannel::LinkLaw{Law::constant(0.25), 0.5},
                                                   std::map<std::pair<ClientId, ClientId>, RandomChannel::LinkLaw>{});
  world->settings.retransmits = true;
  world->run_until(Time{200s});
  CHECK(world->conductor().total_counts().lost == 0);
  const auto merges = world->steps.of_kind(StepKind::merge);
  REQUIRE(merges.size() > 150);
  for (const KeptStep& merge : merges) REQUIRE(merge.entries.size() == 2);
  // Six messages, each sent a geometric number of times: the largest of six is 3.7 on average.
  const double round = to_seconds(merges.back().step.at) / (static_cast<double>(merges.size()) / 3);
  CHECK(round == doctest::Approx(1 + 0.25 * 3.7).epsilon(0.1));
}

TEST_CASE("a message older than the deadline is discarded when it comes, and the round has waited for it all the same") {
  const auto world = in_rounds(directed(2, {{{0}, {1}}, {{1}, {0}}}), {1, 1});
  world->push.limits.deadline = 2s;
  world->channel = std::make_unique<TableChannel>(Fates{{{{ClientId{1}, {false, 2s + 1ns}}}}, {{{ClientId{0}, {false, 2s}}}}});
  world->run_until(Time{3500ms});
  const auto merges = world->steps.of_kind(StepKind::merge), discards = world->steps.of_kind(StepKind::discard);
  REQUIRE(merges.size() == 2);
  REQUIRE(discards.size() == 1);
  CHECK(in_words(merges[0]) == "3000000001 merge 0 of 0 [1#0 x1 age 2000000001]");
  CHECK(in_words(merges[1]) == "3000000001 merge 0 of 1");
  CHECK(in_words(discards[0]) == "3000000001 discard 0 of 1 [0#0 x0 age 2000000001]");
  CHECK(world->conductor().total_counts().late == 1);
}

TEST_CASE("who sends in a round is drawn with the stated probability, or read from a table") {
  const auto drawn = in_rounds(topologies::ring(10), std::vector<double>(10, 1));
  drawn->board.send_probability = 0.3;
  drawn->run_until(Time{1500s});
  const double rounds = static_cast<double>(drawn->board.round);
  CHECK(static_cast<double>(drawn->conductor().total_counts().publications) / (10 * rounds) == doctest::Approx(0.3).epsilon(0.1));

  const auto tabled = in_rounds(topologies::ring(3), {1, 1, 1});
  tabled->board.sends = {{true, false, false}, {false, true, true}};
  tabled->run_until(Time{3s});
  std::vector<std::uint32_t> senders;
  for (const KeptStep& kept : tabled->steps.of_kind(StepKind::publish)) senders.push_back(kept.step.client.value);
  CHECK(senders == std::vector{0u, 1u, 2u});
}

TEST_CASE("a round in which no client sends costs its computation only") {
  const auto world = in_rounds(topologies::ring(3), {1, 2, 1});
  world->board.sends.assign(5, std::vector<bool>(3, false));
  world->run_until(Time{10s});
  CHECK(world->board.round == 5);
  CHECK(world->steps.of_kind(StepKind::publish).empty());
  const auto merges = world->steps.of_kind(StepKind::merge);
  CHECK(merges.size() == 15);
  for (const KeptStep& merge : merges) CHECK(merge.entries.empty());
}

TEST_CASE("a client alone goes round by itself") {
  const auto world = in_rounds(Graph(1, false, {}), {1});
  world->board.unify_every = 1;
  world->run_until(Time{10s});
  CHECK(world->board.round == 10);
  CHECK(world->conductor().unifications() == 10);
}

TEST_CASE("messages of a round stay in their round, whatever the links do") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    World world(random_digraph(seed, 5, 0.5), seed);
    world.in_rounds = true;
    world.push.compute = {TimerLaw::gamma(2, 3)};
    world.channel = random_links(seed, 1, 0.3);
    world.board.send_probability = 0.7;
    world.board.unify_every = 3;
    world.push.limits = {.deadline = 2s, .cap = 4};
    world.run_until(Time{60s});
    std::vector<std::uint64_t> computations(5);
    for (const KeptStep& kept : world.steps.steps) {
      if (kept.step.kind == StepKind::compute) ++computations[kept.step.client.value];
      if (kept.step.kind == StepKind::publish && kept.step.message == MessageKind::update)
        REQUIRE(*std::max_element(computations.begin(), computations.end()) ==
                *std::min_element(computations.begin(), computations.end()));
      if (kept.step.kind == StepKind::merge)
        for (std::size_t i = 1; i < kept.entries.size(); ++i) REQUIRE(kept.entries[i - 1].peer < kept.entries[i].peer);
    }
    REQUIRE(computations[0] > 5);
  }
}
