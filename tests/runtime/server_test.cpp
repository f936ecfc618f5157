// Rounds with a centre: who does what in which order, and what becomes of late and lost messages. No arithmetic.
#include "runtime/protocols/server.hpp"

#include <doctest/doctest.h>

#include "runtime/world/topology.hpp"
#include "tests/support/lone_client.hpp"
#include "tests/support/protocol_world.hpp"

using namespace rubato;
using namespace rubato::test;
using namespace std::chrono_literals;

namespace {

struct ServerWorld : RoundWorld {
  explicit ServerWorld(Graph of) : RoundWorld(std::move(of)) { server.push = &push; }
  Conductor& run(double seconds) {
    return ProtocolWorld::run([&](ClientId client) { return std::make_unique<Server>(server, client); }, steps, seconds);
  }

  ServerSettings server;
};

}  // namespace

TEST_CASE("a round: model to everybody, each computes and answers, the centre computes too, one merge ends the round") {
  ServerWorld world(topologies::star(3, {0}));
  world.run(3.3);
  CHECK(world.steps.all == Sentences{"0: 0 publish/0 -> 1 2", "0.1: 1 merge/0 <- 0#0", "0.1: 2 merge/0 <- 0#0", "1: 0 compute/0",
                                     "2.1: 1 compute/0", "2.1: 1 publish/1 -> 0", "3.1: 2 compute/0", "3.1: 2 publish/1 -> 0",
                                     "3.2: 0 merge/1 <- 1#0 2#0", "3.2: 0 publish/0 -> 1 2", "3.3: 1 merge/0 <- 0#1",
                                     "3.3: 2 merge/0 <- 0#1"});
  CHECK(world.rounds == Marks{{0, 0.0}, {1, 3.2}});
}

TEST_CASE("the merge steps of a round carry its number, computations count by client") {
  ServerWorld world(topologies::star(3, {0}));
  world.run(6.5);
  std::vector<std::uint64_t> merges, computations;
  for (const Step& step : world.steps.steps) {
    if (step.kind == StepKind::merge && step.client.value == 0) merges.push_back(step.index);
    if (step.kind == StepKind::merge && step.client.value == 1) CHECK(step.index == merges.size());
    if (step.kind == StepKind::compute && step.client.value == 2) computations.push_back(step.index);
  }
  CHECK(merges == std::vector<std::uint64_t>{0, 1});
  CHECK(computations == std::vector<std::uint64_t>{0, 1});
}

TEST_CASE("answers are merged in the order of their senders, whatever the order of their arrival") {
  ServerWorld world(topologies::star(4, {0}));
  world.push.compute = {TimerLaw::fixed(1, 0)};
  world.channel = std::make_unique<ScriptedLinks>(ScriptedLinks::Exceptions{{{1, 0, 0}, 3.0}, {{2, 0, 0}, 2.0}});
  world.run(4.15);
  CHECK(world.steps.of_kind(StepKind::merge).back() == "4.1: 0 merge/1 <- 1#0 2#0 3#0");
}

TEST_CASE("only the selected take part, and a centre that is not selected computes nothing") {
  ServerWorld world(topologies::star(4, {0}));
  world.server.selected = {{{1}, {3}}, {{0}}, {{2}}};
  world.run(9);
  CHECK(world.steps.all == Sentences{"0: 0 publish/0 -> 1 3", "0.1: 1 merge/0 <- 0#0", "0.1: 3 merge/0 <- 0#0", "2.1: 1 compute/0",
                                     "2.1: 1 publish/1 -> 0", "4.1: 3 compute/0", "4.1: 3 publish/1 -> 0",
                                     "4.2: 0 merge/1 <- 1#0 3#0", "5.2: 0 compute/0", "5.2: 0 merge/1", "5.2: 0 publish/0 -> 2",
                                     "5.3: 2 merge/0 <- 0#1", "8.3: 2 compute/0", "8.3: 2 publish/1 -> 0", "8.4: 0 merge/1 <- 2#0",
                                     "8.4: 0 publish/0 -> 1 2 3", "8.5: 1 merge/0 <- 0#2", "8.5: 2 merge/0 <- 0#2",
                                     "8.5: 3 merge/0 <- 0#2"});
  CHECK(world.rounds == Marks{{0, 0.0}, {1, 4.2}, {2, 5.2}, {3, 8.4}});
}

TEST_CASE("a share of the clients is drawn anew in every round, without repetition, each as often as any other") {
  ServerWorld world(topologies::star(8, {0}));
  world.push.compute = {TimerLaw::fixed(0.8, 0)};
  world.server.share = 0.3;  // of eight, rounded up: three
  world.run(2000);
  CHECK(world.rounds.back().first >= 1990);
  for (std::uint32_t client = 0; client < 8; ++client)
    CHECK(world.steps.count({.kind = StepKind::compute, .client = client}) == doctest::Approx(2000 * 3.0 / 8).epsilon(0.15));
}

TEST_CASE("at the deadline after the start of the round the centre merges what is there") {
  ServerWorld world(topologies::star(3, {0}));
  world.push.limits.deadline = 2500ms;
  world.run(2.5);
  CHECK(world.steps.of(0) ==
        Sentences{"0: 0 publish/0 -> 1 2", "1: 0 compute/0", "2.5: 0 merge/1 <- 1#0", "2.5: 0 publish/0 -> 1 2"});
}

TEST_CASE("an answer that arrives exactly at the deadline is merged") {
  ServerWorld world(topologies::star(2, {0}));
  world.push.limits.deadline = 2200ms;  // 0.1 + 2 + 0.1
  world.run(2.2);
  CHECK(world.steps.of_kind(StepKind::merge).back() == "2.2: 0 merge/1 <- 1#0");
  CHECK(world.rounds.back().second == 2.2);
}

TEST_CASE("a round in which no client answers is merged all the same, with an empty window") {
  ServerWorld world(topologies::star(3, {0}));
  world.push.compute = {TimerLaw::fixed(9, 0)};
  world.push.limits.deadline = 1s;
  world.run(1.05);
  CHECK(world.steps.of(0) == Sentences{"0: 0 publish/0 -> 1 2", "1: 0 merge/1", "1: 0 publish/0 -> 1 2"});
}

TEST_CASE("a late answer is discarded and counted, and its work is lost") {
  ServerWorld world(topologies::star(3, {0}));
  world.push.limits.deadline = 2500ms;
  world.push.compute = {TimerLaw::fixed(1, 0)};
  world.channel = std::make_unique<ScriptedLinks>(ScriptedLinks::Exceptions{{{2, 0, 0}, 2.0}});
  const MessageCounts counts = world.run(4.5).total_counts();
  CHECK(world.steps.of(0) == Sentences{"0: 0 publish/0 -> 1 2", "1: 0 compute/0", "2.5: 0 merge/1 <- 1#0",
                                       "2.5: 0 publish/0 -> 1 2", "3.1: 0 discard/0 <- 2#0", "3.5: 0 compute/0",
                                       "3.7: 0 merge/1 <- 1#1 2#1", "3.7: 0 publish/0 -> 1 2"});
  CHECK(counts.late == 1);
}

TEST_CASE("a newer model overtakes the work on an older one, and the centre forgets what it has not finished") {
  ServerWorld world(topologies::star(3, {0}));
  world.push.compute = {TimerLaw::fixed(3, 0), TimerLaw::fixed(1, 0), TimerLaw::fixed(2.5, 0)};
  world.push.limits.deadline = 2s;
  world.run(6);
  CHECK(world.steps.of(0) == Sentences{"0: 0 publish/0 -> 1 2", "2: 0 merge/1 <- 1#0", "2: 0 publish/0 -> 1 2",
                                       "4: 0 merge/1 <- 1#1", "4: 0 publish/0 -> 1 2", "6: 0 merge/1 <- 1#2",
                                       "6: 0 publish/0 -> 1 2"});
  CHECK(world.steps.of(2) == Sentences{"0.1: 2 merge/0 <- 0#0", "2.1: 2 merge/0 <- 0#1", "4.1: 2 merge/0 <- 0#2"});
}

TEST_CASE("who is not asked again finishes its old work, and its answer is late") {
  ServerWorld world(topologies::star(3, {0}));
  world.push.limits.deadline = 2500ms;
  world.server.selected = {{{1}, {2}}, {{1}}, {{1}}};
  const MessageCounts counts = world.run(3.3).total_counts();
  CHECK(world.steps.of(2) == Sentences{"0.1: 2 merge/0 <- 0#0", "3.1: 2 compute/0", "3.1: 2 publish/1 -> 0"});
  CHECK(world.steps.of(0).back() == "3.2: 0 discard/0 <- 2#0");
  CHECK(counts.late == 1);
}

TEST_CASE("a lost model costs an answer where there is a deadline") {
  ServerWorld world(topologies::star(3, {0}));
  world.push.limits.deadline = 5s;
  world.channel = std::make_unique<ScriptedLinks>(ScriptedLinks::Exceptions{{{0, 0, 2}, -1}});
  const MessageCounts counts = world.run(5).total_counts();
  CHECK(world.steps.of(0) ==
        Sentences{"0: 0 publish/0 -> 1 2 lost", "1: 0 compute/0", "5: 0 merge/1 <- 1#0", "5: 0 publish/0 -> 1 2"});
  CHECK(counts.lost == 1);
}

TEST_CASE("without a deadline lost messages are sent again, and the round waits for them") {
  ServerWorld world(topologies::star(3, {0}));
  world.settings.retransmits = true;
  world.channel = std::make_unique<ScriptedLinks>(ScriptedLinks::Exceptions{{{0, 0, 2}, -1}, {{1, 0, 0}, -1}});
  world.run(3.5);
  CHECK(world.steps.of_kind(StepKind::merge)[2] == "3.3: 0 merge/1 <- 1#0 2#0");
}

TEST_CASE("an opening is a round of everybody that does not count") {
  ServerWorld world(topologies::star(3, {0}));
  world.push.needs.program.opening = {Phase{PhaseKind::compute}};
  world.server.selected = {{{1}}};
  world.run(5.5);
  CHECK(world.steps.of(0) == Sentences{"0: 0 publish/0 -> 1 2", "1: 0 compute/0", "3.2: 0 merge/1 <- 1#0 2#0",
                                       "3.2: 0 publish/0 -> 1", "5.4: 0 merge/1 <- 1#1", "5.4: 0 publish/0 -> 1 2"});
  CHECK(world.rounds == Marks{{0, 3.2}, {1, 5.4}});
}

TEST_CASE("a client alone is its own centre") {
  ServerWorld world(Graph(1, false, {}));
  world.run(2.5);
  CHECK(world.steps.all == Sentences{"1: 0 compute/0", "1: 0 merge/1", "2: 0 compute/0", "2: 0 merge/1"});
}

TEST_CASE("a round of no clients ends at once and does not stop time") {
  ServerWorld world(topologies::star(2, {0}));
  world.server.selected = {{}, {}};
  world.run(2.5);
  CHECK(world.rounds.back().first == 3);
  CHECK(world.steps.of(1) ==
        Sentences{"0.1: 1 merge/0 <- 0#0", "2.1: 1 compute/0", "2.1: 1 publish/1 -> 0", "2.3: 1 merge/0 <- 0#1"});
}

TEST_CASE("whatever the links do, every payload is dealt with, and rounds go on") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    ServerWorld world(topologies::complete(6));
    world.server.share = seed % 2 == 0 ? 0.5 : 1;
    const bool doubles = under_bad_links(world, seed);
    const Conductor& conductor = world.run(300);
    REQUIRE(world.rounds.back().first > 40);
    require_balance(conductor, doubles);
    REQUIRE(world.steps.wanted() <= conductor.under_way() + 6);
  }
}

TEST_CASE("a model older than the deadline is late, and one that an older one overtakes is not") {
  ServerWorld world(topologies::star(2, {0}));
  world.push.limits.deadline = 1s;
  world.push.compute = {TimerLaw::fixed(0.5, 0)};
  world.channel = std::make_unique<ScriptedLinks>(ScriptedLinks::Exceptions{{{0, 0, 1}, 1.2}});
  const MessageCounts counts = world.run(1.7).total_counts();
  CHECK(world.steps.of(1) ==
        Sentences{"1.1: 1 merge/0 <- 0#1", "1.2: 1 discard/0 <- 0#0", "1.6: 1 compute/0", "1.6: 1 publish/1 -> 0"});
  CHECK(counts.late == 1);
}

TEST_CASE("who has gone is neither waited for nor selected once that is known, and is again when it is back") {
  ServerWorld world(topologies::star(3, {0}));
  world.push.compute = {TimerLaw::fixed(1, 0)};
  world.push.limits.deadline = 4s;
  world.churn({crash(1500ms, {{2}}), restart(9s, {{2}})}, 3s);
  world.run(11);
  CHECK(world.steps.of_kind(StepKind::merge).size() > 8);
  Sentences handed_out;
  for (const std::string& sentence : world.steps.of(0))
    if (sentence.find("publish") != sentence.npos) handed_out.push_back(sentence);
  CHECK(handed_out == Sentences{"0: 0 publish/0 -> 1 2", "1.2: 0 publish/0 -> 1 2", "4.5: 0 publish/0 -> 1",
                                "5.7: 0 publish/0 -> 1", "6.9: 0 publish/0 -> 1", "8.1: 0 publish/0 -> 1",
                                "9.3: 0 publish/0 -> 1 2", "10.5: 0 publish/0 -> 1 2"});
}

TEST_CASE("nothing happens while the centre is gone, and when it is back it begins its round again") {
  ServerWorld world(topologies::star(3, {0}));
  world.push.compute = {TimerLaw::fixed(1, 0)};
  world.push.limits.deadline = 4s;
  world.churn({crash(1500ms, {{0}}), restart(9s, {{0}})}, 3s);
  world.run(10.3);
  CHECK(world.steps.of(1) == Sentences{"0.1: 1 merge/0 <- 0#0", "1.1: 1 compute/0", "1.1: 1 publish/1 -> 0",
                                       "1.3: 1 merge/0 <- 0#1", "2.3: 1 compute/0", "2.3: 1 publish/1 -> 0",
                                       "9.1: 1 merge/0 <- 0#2", "10.1: 1 compute/0", "10.1: 1 publish/1 -> 0",
                                       "10.3: 1 merge/0 <- 0#3"});
}

TEST_CASE("a centre that goes on from an older round is followed by its clients") {
  const ServerWorld world(topologies::star(2, {0}));
  Lone<Server> client(world.server, 1);
  const auto hears = [&](std::uint32_t turn, Sequence sequence, Duration at) {
    const Offer offer = client.hears(0, sequence, 2 * turn, at);
    client.closes_window(at);
    return offer;
  };
  CHECK(hears(7, 7, 1s) == Offer::kept);
  CHECK(hears(5, 5, 2s) == Offer::late);
  client.protocol.on_new_life({0});
  CHECK(hears(5, 0, 3s) == Offer::kept);
}

TEST_CASE("of two models that wait for one merge step the newer is merged") {
  const ServerWorld world(topologies::star(2, {0}));
  Lone<Server> client(world.server, 1);
  CHECK(client.hears(0, 0, 0, 1s) == Offer::kept);
  CHECK(client.hears(0, 1, 2, 1s) == Offer::kept);
  REQUIRE(client.effects.drafts().size() == 1);
  CHECK(client.effects.drafts().front().step.kind == StepKind::discard);
  client.closes_window(1s);
  REQUIRE(client.effects.drafts().size() == 1);
  CHECK(client.effects.drafts().front().step.kind == StepKind::merge);
  REQUIRE(client.effects.entries().size() == 1);
  CHECK(client.effects.entries().front().sequence == 1);
  CHECK(client.protocol.counts().superseded == 1);
}

TEST_CASE("the centre's archive holds its turn") {
  ServerWorld world(topologies::star(2, {0}));
  world.push.limits.deadline = 1s;
  Lone<Server> first(world.server, 0), second(world.server, 0);
  first.transmits(0s);
  first.meets_deadline(1s, 1);  // of turn 0
  first.closes_window(1s);
  Archive written;
  first.protocol.archive(written);
  Archive read(written.bytes());
  second.protocol.archive(read);
  second.resumes(5s);
  REQUIRE(second.effects.wakes().size() == 1);
  CHECK(second.effects.wakes().front().detail == 1);
}
