// Rounds in which everybody hands in first, with a common end of a round. No arithmetic.
#include "runtime/protocols/gather_first.hpp"

#include <doctest/doctest.h>

#include "runtime/world/topology.hpp"
#include "tests/support/protocol_world.hpp"

using namespace rubato;
using namespace rubato::test;
using namespace std::chrono_literals;

namespace {

struct GatherWorld : RoundWorld {
  explicit GatherWorld(Graph of) : RoundWorld(std::move(of)) { board.settings.push = &push; }
  Conductor& run(double seconds) {
    return ProtocolWorld::run([&](ClientId client) { return std::make_unique<GatherFirst>(board, client); }, steps, seconds);
  }

  GatherBoard board;
};

// Who has merged what the others have handed in, turn by turn.
std::vector<std::uint32_t> leaders(const StepSentences& steps) {
  std::vector<std::uint32_t> clients;
  for (const Step& step : steps.steps)
    if (step.kind == StepKind::merge && step.phase == GatherSettings::to_leader) clients.push_back(step.client.value);
  return clients;
}

}  // namespace

TEST_CASE("everybody hands in, the leader merges and answers, everybody computes") {
  GatherWorld world(topologies::complete(3));
  world.run(3.3);
  CHECK(world.steps.all == Sentences{"0: 1 publish/0 -> 0", "0: 2 publish/0 -> 0", "0.1: 0 merge/0 <- 1#0 2#0",
                                     "0.1: 0 publish/1 -> 1 2", "0.2: 1 merge/1 <- 0#0", "0.2: 2 merge/1 <- 0#0",
                                     "1.1: 0 compute/0", "2.2: 1 compute/0", "3.2: 2 compute/0", "3.2: 0 publish/0 -> 1",
                                     "3.2: 2 publish/0 -> 1", "3.3: 1 merge/0 <- 0#1 2#1", "3.3: 1 publish/1 -> 0 2"});
  CHECK(world.rounds == Marks{{0, 0.0}, {1, 3.2}});
}

TEST_CASE("the leader waits for models until the deadline, and later ones are late") {
  GatherWorld world(topologies::complete(3));
  world.push.limits.deadline = 1s;
  world.channel = std::make_unique<ScriptedLinks>(ScriptedLinks::Exceptions{{{2, 0, 0}, 1.5}});
  const MessageCounts counts = world.run(2).total_counts();
  CHECK(world.steps.of(0) ==
        Sentences{"1: 0 merge/0 <- 1#0", "1: 0 publish/1 -> 1 2", "1.5: 0 discard/0 <- 2#0", "2: 0 compute/0"});
  CHECK(counts.late == 1);
}

TEST_CASE("who misses the answer sits the round out") {
  GatherWorld world(topologies::complete(3));
  world.push.limits.deadline = 1s;
  world.channel = std::make_unique<ScriptedLinks>(ScriptedLinks::Exceptions{{{0, 0, 2}, -1}});
  world.run(2.3);
  CHECK(world.steps.of(2) == Sentences{"0: 2 publish/0 -> 0", "2.2: 2 publish/0 -> 1"});
  CHECK(world.rounds == Marks{{0, 0.0}, {1, 2.2}});
}

TEST_CASE("where no client hears the leader the round is repeated with the next one") {
  GatherWorld world(topologies::complete(3));
  world.push.limits.deadline = 1s;
  world.push.compute = {TimerLaw::fixed(5, 0)};
  world.channel = std::make_unique<ScriptedLinks>(ScriptedLinks::Exceptions{{{0, 0, 1}, -1}, {{0, 0, 2}, -1}});
  world.run(6.4);
  CHECK(world.steps.all ==
        Sentences{"0: 1 publish/0 -> 0", "0: 2 publish/0 -> 0", "0.1: 0 merge/0 <- 1#0 2#0", "0.1: 0 publish/1 -> 1 lost 2 lost",
                  "1.1: 0 publish/0 -> 1", "1.1: 2 publish/0 -> 1", "1.2: 1 merge/0 <- 0#1 2#1", "1.2: 1 publish/1 -> 0 2",
                  "1.3: 0 merge/1 <- 1#1", "1.3: 2 merge/1 <- 1#1", "6.2: 1 compute/0", "6.3: 0 compute/0", "6.3: 2 compute/0",
                  "6.3: 0 publish/0 -> 2", "6.3: 1 publish/0 -> 2", "6.4: 2 merge/0 <- 0#2 1#2", "6.4: 2 publish/1 -> 0 1"});
  CHECK(world.rounds == Marks{{0, 0.0}, {1, 6.3}});
}

TEST_CASE("a table names the leaders, and behind its end the law goes on") {
  GatherWorld world(topologies::complete(4));
  world.push.compute = {TimerLaw::fixed(0.8, 0)};
  world.board.settings.leaders = {{2}, {1}, {0}};
  world.run(4.5);
  CHECK(leaders(world.steps) == std::vector<std::uint32_t>{2, 1, 0, 3, 0});
}

TEST_CASE("every client is the drawn leader equally often") {
  GatherWorld world(topologies::complete(4));
  world.push.compute = {TimerLaw::fixed(0.8, 0)};
  world.board.settings.draws_leaders = true;
  world.run(2000);
  for (std::uint32_t client = 0; client < 4; ++client)
    CHECK(world.steps.count({.kind = StepKind::merge, .client = client}) == doctest::Approx(500).epsilon(0.15));
}

TEST_CASE("whatever the links do, every payload is dealt with, and rounds go on") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    GatherWorld world(topologies::complete(6));
    world.board.settings.draws_leaders = seed % 3 == 0;
    const bool doubles = under_bad_links(world, seed);
    const Conductor& conductor = world.run(300);
    REQUIRE(world.board.round > 40);
    require_balance(conductor, doubles);
    REQUIRE(world.steps.wanted() <= conductor.under_way() + 6);
  }
}
