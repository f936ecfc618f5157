// Asking neighbours: who answers when, and which answers count. No arithmetic.
#include "runtime/protocols/pull.hpp"

#include <doctest/doctest.h>

#include "runtime/world/topology.hpp"
#include "tests/support/protocol_world.hpp"

using namespace rubato;
using namespace rubato::test;
using namespace std::chrono_literals;

namespace {

struct PullWorld : ProtocolWorld {
  using ProtocolWorld::ProtocolWorld;

  Conductor& run(double seconds) {
    pull.push = &push;
    return ProtocolWorld::run([&](ClientId client) { return std::make_unique<Pull>(pull, client); }, steps, seconds);
  }
  std::uint64_t skipped(const Conductor& conductor, std::uint32_t client) const {
    return dynamic_cast<const Pull&>(conductor.protocol({client})).skipped();
  }

  PullSettings pull;
  StepSentences steps;
};

}  // namespace

TEST_CASE("a pull at a transmit tick: all neighbours answer the asker alone, and their answers are one merge") {
  PullWorld world(topologies::ring(4));
  world.transmit_of({{0, {1}}});
  world.run(5);
  CHECK(world.steps.all == Sentences{"1.1: 1 publish/0 -> 0", "1.1: 3 publish/0 -> 0", "1.2: 0 merge/0 <- 1#0 3#0"});
}

TEST_CASE("a pull at a transmit tick leaves computations alone") {
  PullWorld world(topologies::path(2));
  world.transmit_of({{0, {1}}});
  world.compute_of({{0, {0.5, 1.15, 1.2, 2}}});
  world.run(5);
  CHECK(world.steps.of(0) ==
        Sentences{"0.5: 0 compute/0", "1.15: 0 compute/0", "1.2: 0 merge/0 <- 1#0", "1.2: 0 compute/0", "2: 0 compute/0"});
}

TEST_CASE("answers are merged in the order of their senders, whatever the order of their arrival") {
  PullWorld world(topologies::star(4, {0}));
  world.transmit_of({{0, {1}}});
  world.channel = std::make_unique<ScriptedLinks>(ScriptedLinks::Exceptions{{{1, 0, 0}, 2.0}, {{2, 0, 0}, 1.0}});
  world.run(5);
  CHECK(world.steps.of(0) == Sentences{"3.1: 0 merge/0 <- 1#0 2#0 3#0"});
}

TEST_CASE("at the deadline after the requests what has come is merged, and the rest is late") {
  PullWorld world(topologies::star(3, {0}));
  world.transmit_of({{0, {1, 5}}});
  world.push.limits.deadline = 1s;
  world.channel = std::make_unique<ScriptedLinks>(ScriptedLinks::Exceptions{{{1, 0, 0}, 1.5}});
  const MessageCounts counts = world.run(9).total_counts();
  CHECK(world.steps.of(0) == Sentences{"2: 0 merge/0 <- 2#0", "2.6: 0 discard/0 <- 1#0", "5.2: 0 merge/0 <- 1#1 2#1"});
  CHECK(counts.late == 1);
  CHECK(counts.kept == 3);
}

TEST_CASE("an answer that comes exactly at the deadline counts") {
  PullWorld world(topologies::path(2));
  world.transmit_of({{0, {1}}});
  world.push.limits.deadline = 200ms;
  world.run(9);
  CHECK(world.steps.of(0) == Sentences{"1.2: 0 merge/0 <- 1#0"});
}

TEST_CASE("where nothing comes by the deadline nothing is merged, and the next pull works again") {
  PullWorld world(topologies::path(2));
  world.transmit_of({{0, {1, 3}}});
  world.push.limits.deadline = 1s;
  world.channel = std::make_unique<ScriptedLinks>(ScriptedLinks::Exceptions{{{1, 0, 0}, -1}});
  world.run(9);
  CHECK(world.steps.of(0) == Sentences{"3.2: 0 merge/0 <- 1#1"});
}

TEST_CASE("a lost request is not answered") {
  PullWorld world(topologies::path(2));
  world.transmit_of({{0, {1}}});
  world.push.limits.deadline = 1s;
  world.channel = std::make_unique<ScriptedLinks>(ScriptedLinks::Exceptions{}, true);
  world.run(9);
  CHECK(world.steps.all.empty());
}

TEST_CASE("a transmit tick during a pull is skipped and counted") {
  PullWorld world(topologies::path(2));
  world.transmit_of({{0, {1, 1.15, 2}}});
  const Conductor& conductor = world.run(9);
  CHECK(world.steps.of(0) == Sentences{"1.2: 0 merge/0 <- 1#0", "2.2: 0 merge/0 <- 1#1"});
  CHECK(world.skipped(conductor, 0) == 1);
}

TEST_CASE("a pull at a computation: the computation follows the merge, compute ticks until then are skipped") {
  PullWorld world(topologies::ring(3));
  world.push.needs.absorb = AbsorbAt::compute;
  world.compute_of({{0, {1, 1.1, 1.15, 2}}});
  const Conductor& conductor = world.run(2.1);
  CHECK(world.steps.of(0) == Sentences{"1.2: 0 merge/0 <- 1#0 2#0", "1.2: 0 compute/0"});
  CHECK(world.skipped(conductor, 0) == 2);
}

TEST_CASE("a pull at a computation happens at every k-th of them only") {
  PullWorld world(topologies::path(2));
  world.push.needs.absorb = AbsorbAt::compute;
  world.push.absorb_every = {3, 1};
  world.compute_of({{0, {1, 2, 3, 4, 5}}});
  world.run(5);
  CHECK(world.steps.of(0) == Sentences{"1.2: 0 merge/0 <- 1#0", "1.2: 0 compute/0", "2: 0 compute/0", "3: 0 compute/0",
                                       "4.2: 0 merge/0 <- 1#1", "4.2: 0 compute/0", "5: 0 compute/0"});
}

TEST_CASE("a pull at a computation takes the first answers of its share, and discards the others as superseded") {
  PullWorld world(topologies::star(5, {0}));
  world.push.needs.absorb = AbsorbAt::compute;
  world.push.needs.fanout.share = 0.3;  // of four, rounded up: two
  world.compute_of({{0, {1}}});
  world.channel = std::make_unique<ScriptedLinks>(
      ScriptedLinks::Exceptions{{{1, 0, 0}, 0.9}, {{2, 0, 0}, 0.2}, {{3, 0, 0}, 0.3}, {{4, 0, 0}, 0.15}});
  const MessageCounts counts = world.run(9).total_counts();
  CHECK(world.steps.of(0) ==
        Sentences{"1.3: 0 merge/0 <- 2#0 4#0", "1.3: 0 compute/0", "1.4: 0 discard/0 <- 3#0", "2: 0 discard/0 <- 1#0"});
  CHECK(counts.superseded == 2);
}

TEST_CASE("of answers that come at the same instant the lowest senders are first") {
  PullWorld world(topologies::star(5, {0}));
  world.push.needs.absorb = AbsorbAt::compute;
  world.push.needs.fanout.share = 0.5;
  world.compute_of({{0, {1}}});
  world.run(9);
  CHECK(world.steps.of(0) ==
        Sentences{"1.2: 0 discard/0 <- 3#0", "1.2: 0 discard/0 <- 4#0", "1.2: 0 merge/0 <- 1#0 2#0", "1.2: 0 compute/0"});
}

TEST_CASE("a pull at a computation that hears no answer by the deadline computes all the same") {
  PullWorld world(topologies::path(2));
  world.push.needs.absorb = AbsorbAt::compute;
  world.push.limits.deadline = 1s;
  world.compute_of({{0, {1}}});
  world.channel = std::make_unique<ScriptedLinks>(ScriptedLinks::Exceptions{}, true);
  world.run(9);
  CHECK(world.steps.of(0) == Sentences{"2: 0 compute/0"});
}

TEST_CASE("a client without neighbours to ask computes at its ticks") {
  PullWorld world(Graph(1, false, {}));
  world.push.needs.absorb = AbsorbAt::compute;
  world.compute_of({{0, {1, 2}}});
  world.run(9);
  CHECK(world.steps.all == Sentences{"1: 0 compute/0", "2: 0 compute/0"});
}

TEST_CASE("whom a pull asks is drawn anew, or read from a table") {
  PullWorld world(topologies::star(5, {0}));
  world.push.needs.fanout.share = 0.25;
  world.push.transmit = {TimerLaw::fixed(1, 1), TimerLaw::off(), TimerLaw::off(), TimerLaw::off(), TimerLaw::off()};
  world.pull.asked = {{{{2}, {3}}, {{1}}}};
  world.run(2000);
  CHECK(world.steps.of(0)[0] == "1.2: 0 merge/0 <- 2#0 3#0");
  CHECK(world.steps.of(0)[1] == "2.2: 0 merge/0 <- 1#0");
  for (std::uint32_t leaf = 1; leaf < 5; ++leaf)
    CHECK(world.steps.count({.kind = StepKind::publish, .client = leaf}) == doctest::Approx(500).epsilon(0.15));
}

TEST_CASE("after a pull the client tells those that answered, where the program says so") {
  PullWorld world(topologies::star(3, {0}));
  world.push.needs.program.round.add({.kind = PhaseKind::exchange, .number = 1});
  world.transmit_of({{0, {1}}});
  world.run(9);
  CHECK(world.steps.all == Sentences{"1.1: 1 publish/0 -> 0", "1.1: 2 publish/0 -> 0", "1.2: 0 merge/0 <- 1#0 2#0",
                                     "1.2: 0 publish/1 -> 1 2", "1.3: 1 merge/1 <- 0#0", "1.3: 2 merge/1 <- 0#0"});
}

TEST_CASE("two clients that ask each other answer with what they have then") {
  PullWorld world(topologies::path(2));
  world.transmit_of({{0, {1}}, {1, {1.05}}});
  world.run(9);
  CHECK(world.steps.all ==
        Sentences{"1.1: 1 publish/0 -> 0", "1.15: 0 publish/0 -> 1", "1.2: 0 merge/0 <- 1#0", "1.25: 1 merge/0 <- 0#0"});
}

TEST_CASE("whatever the links do, every payload is dealt with, and no pull lasts longer than the deadline") {
  for (const bool at_compute : {false, true})
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      CAPTURE(seed);
      CAPTURE(at_compute);
      PullWorld world(topologies::complete(6));
      world.reseed(seed);
      world.push.compute = {TimerLaw::poisson(1)};
      world.push.transmit = {TimerLaw::poisson(0.3)};
      world.push.limits.deadline = 2s;
      world.push.needs.absorb = at_compute ? AbsorbAt::compute : AbsorbAt::window;
      world.push.needs.fanout.share = 0.6;
      if (!at_compute) world.push.needs.program.round.add({.kind = PhaseKind::exchange, .number = 1});
      const bool doubles = seed % 4 == 0;
      world.channel = random_links(seed, 0.7, 0.3, doubles ? 0.3 : 0);
      const Conductor& conductor = world.run(200);
      const MessageCounts counts = conductor.total_counts();
      if (!doubles) REQUIRE(counts.sent == counts.lost + counts.kept + counts.late + counts.superseded + conductor.under_way());
      REQUIRE(counts.kept > 200);
      REQUIRE(world.steps.wanted() <= conductor.under_way() + 6 * 5);
      if (at_compute) REQUIRE(counts.computations > 6 * 200 / 4);
    }
}
