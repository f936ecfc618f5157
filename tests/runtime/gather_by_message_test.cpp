// Rounds in which everybody hands in first, where nobody knows more than messages say. No arithmetic.
#include "runtime/protocols/gather_by_message.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

#include "runtime/world/topology.hpp"
#include "tests/support/lone_client.hpp"
#include "tests/support/protocol_world.hpp"

using namespace rubato;
using namespace rubato::test;
using namespace std::chrono_literals;

namespace {

struct MessagesWorld : RoundWorld {
  explicit MessagesWorld(Graph of) : RoundWorld(std::move(of)) { gather.push = &push; }
  Conductor& run(double seconds) {
    const auto make = [&](ClientId client) { return std::make_unique<GatherByMessage>(gather, client); };
    return ProtocolWorld::run(make, steps, seconds);
  }
  std::int64_t computations(std::uint32_t client, Duration from, Duration until) const {
    return steps.count({.kind = StepKind::compute, .client = client, .from = Time{from}, .until = Time{until}});
  }

  GatherSettings gather;
};

// One client of three, whose turns are led by 0, 1, 2, 0, ...; it takes part in the first.
struct OneOfThree : private MessagesWorld, Lone<GatherByMessage> {
  explicit OneOfThree(std::uint32_t self) : MessagesWorld(topologies::complete(3)), Lone(gather, self) {
    starts();
    transmits(0s);
  }
};

}  // namespace

TEST_CASE("everybody hands in when it has computed, and the leader waits for the last") {
  MessagesWorld world(topologies::complete(3));
  world.run(3.3);
  CHECK(world.steps.all == Sentences{"0: 1 publish/0 -> 0", "0: 2 publish/0 -> 0", "0.1: 0 merge/0 <- 1#0 2#0",
                                     "0.1: 0 publish/1 -> 1 2", "0.2: 1 merge/1 <- 0#0", "0.2: 2 merge/1 <- 0#0",
                                     "1.1: 0 compute/0", "1.1: 0 publish/0 -> 1", "2.2: 1 compute/0", "3.2: 2 compute/0",
                                     "3.2: 2 publish/0 -> 1", "3.3: 1 merge/0 <- 0#1 2#1", "3.3: 1 publish/1 -> 0 2"});
}

TEST_CASE("a leader merges what there is at the deadline after the slowest computation, and later models are late") {
  MessagesWorld world(topologies::complete(3));
  world.push.limits.deadline = 1s;
  world.channel = std::make_unique<ScriptedLinks>(ScriptedLinks::Exceptions{{{2, 0, 0}, 0.9}, {{2, 1, 1}, 1.5}});
  const MessageCounts counts = world.run(6).total_counts();
  // The answer of turn 0 is at 1 at 1.0; client 2 needs three seconds.
  CHECK(world.steps.of(1) == Sentences{"0: 1 publish/0 -> 0", "1: 1 merge/1 <- 0#0", "3: 1 compute/0", "5: 1 merge/0 <- 0#1",
                                       "5: 1 publish/1 -> 0 2", "5.5: 1 discard/0 <- 2#1"});
  CHECK(counts.late == 1);
}

TEST_CASE("who has missed an answer hands in to the next leader and goes on with its answer") {
  MessagesWorld world(topologies::complete(3));
  world.push.compute = {TimerLaw::fixed(1, 0)};
  world.push.limits.deadline = 500ms;
  world.channel = std::make_unique<ScriptedLinks>(ScriptedLinks::Exceptions{{{0, 0, 2}, -1}});
  world.run(2.75);
  CHECK(world.steps.of(2) ==
        Sentences{"0: 2 publish/0 -> 0", "1.5: 2 publish/0 -> 1", "1.7: 2 merge/1 <- 1#1", "2.7: 2 compute/0"});
}

TEST_CASE("an answer of a higher turn is taken over, the work on an older one is dropped, and older answers are late") {
  OneOfThree client(2);
  const auto hears = [&](std::uint32_t turn, Duration at) {
    const Offer offer = client.hears(turn % 3, turn, 2 * turn + 1, at);
    client.closes_window(at);
    return offer;
  };
  CHECK(hears(0, 1s) == Offer::kept);
  CHECK(hears(0, 1s) == Offer::duplicate);
  CHECK(hears(4, 2s) == Offer::kept);
  CHECK(hears(1, 3s) == Offer::late);
  client.computes(4s, 0);
  CHECK(client.effects.drafts().empty());
  client.computes(5s, 4);
  CHECK(client.effects.drafts().size() == 1);
}

TEST_CASE("a leader that no client hears is followed by the next one") {
  MessagesWorld world(topologies::complete(3));
  world.push.compute = {TimerLaw::fixed(1, 0)};
  world.push.limits.deadline = 1s;
  world.channel = std::make_unique<ScriptedLinks>(ScriptedLinks::Exceptions{{{0, 0, 1}, -1}, {{0, 0, 2}, -1}});
  world.run(4.3);
  CHECK(world.steps.of_kind(StepKind::merge) == Sentences{"0.1: 0 merge/0 <- 1#0 2#0", "3.1: 1 merge/0 <- 0#1 2#1",
                                                          "3.2: 0 merge/1 <- 1#1", "3.2: 2 merge/1 <- 1#1",
                                                          "4.3: 2 merge/0 <- 0#2 1#2"});
}

TEST_CASE("rounds go on whatever the links do, everybody takes part, and every payload is dealt with") {
  constexpr std::uint64_t waiting = 6 * 5;  // at each client a model of each other one, for a turn that it comes to lead
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    MessagesWorld world(topologies::complete(6));
    world.gather.draws_leaders = seed % 3 == 0;
    const bool doubles = under_bad_links(world, seed);
    const Conductor& conductor = world.run(300);
    for (std::uint32_t client = 0; client < 6; ++client)
      for (const auto from : {0s, 100s, 200s}) REQUIRE(world.computations(client, from, from + 100s) > 5);
    require_balance(conductor, doubles);
    REQUIRE(world.steps.wanted() <= conductor.under_way() + waiting);
  }
}

TEST_CASE("everybody works in every turn where links are good and computations of any length") {
  MessagesWorld world(topologies::complete(5));
  world.push.compute = {TimerLaw::poisson(1)};
  world.push.limits.deadline = 1s;
  world.run(600);
  const auto first = world.computations(0, 0s, 590s);
  CHECK(first > 150);
  for (std::uint32_t client = 1; client < 5; ++client) CHECK(std::abs(world.computations(client, 0s, 590s) - first) <= 1);
  CHECK(world.steps.of_kind(StepKind::discard).empty());
}

TEST_CASE("rounds go on without clients that have gone, and with those that are here again") {
  MessagesWorld world(topologies::complete(4));
  world.push.compute = {TimerLaw::fixed(1, 0)};
  world.push.limits.deadline = 1s;
  world.churn({crash(20500ms, {{0}, {1}}), restart(60s, {{0}}), restart(80s, {{1}})}, 5s);
  world.run(120);
  CHECK(world.computations(2, 0s, 20s) >= 15);
  CHECK(world.computations(2, 20s, 30s) >= 1);  // until it is known leaders are waited for in vain
  CHECK(world.computations(2, 30s, 60s) >= 23);
  CHECK(world.computations(0, 21s, 60s) == 0);
  CHECK(world.computations(0, 65s, 120s) >= 30);
  CHECK(world.computations(1, 85s, 120s) >= 25);
  CHECK(world.computations(3, 85s, 120s) >= 25);
}

TEST_CASE("a leader does not wait for who has gone, with or without a deadline") {
  OneOfThree leader(0);
  leader.hears(1, 0, 0, 1s);
  CHECK(leader.effects.closings().empty());
  leader.loses(2, 2s);
  REQUIRE(leader.effects.closings().size() == 1);
  CHECK(leader.effects.closings().front().at == Time{2s});
}

TEST_CASE("the next leader is handed in to as soon as the leader is known to have gone") {
  OneOfThree client(2);
  client.loses(0, 2s);
  REQUIRE(client.effects.wakes().size() == 1);
  const Wake next = client.effects.wakes().front();
  CHECK(next.at == Time{2s});
  CHECK(next.detail == 1);
  client.transmits(2s, next.detail);
  REQUIRE(client.effects.entries().size() == 1);
  CHECK(client.effects.entries().front().peer == ClientId{1});
}

TEST_CASE("what is handed in to a leader before it has started waits for it") {
  MessagesWorld world(topologies::complete(3));
  Lone<GatherByMessage> leader(world.gather, 0);
  for (const std::uint32_t sender : {1u, 2u}) CHECK(leader.hears(sender, 0, 0, 0s) == Offer::kept);
  CHECK(leader.effects.closings().empty());
  leader.starts();
  leader.transmits(0s);
  CHECK(leader.effects.closings().size() == 1);
}
