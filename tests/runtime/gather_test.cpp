// Rounds in which everybody hands in first: with a common end of a round, and by message. No arithmetic.
#include "runtime/protocols/gather_by_message.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "runtime/world/topology.hpp"
#include "tests/support/protocol_world.hpp"

using namespace rubato;
using namespace rubato::test;
using namespace std::chrono_literals;

namespace {

using Marks = std::vector<std::pair<std::uint64_t, double>>;

// Client i computes for i + 1 seconds; links take a tenth of a second.
struct GatherWorld : ProtocolWorld {
  explicit GatherWorld(Graph of) : ProtocolWorld(std::move(of)) {
    push.compute.clear();
    for (std::uint32_t i = 0; i < graph.clients(); ++i) push.compute.push_back(TimerLaw::fixed(i + 1.0, 0));
    on_round = [&](Time at, std::uint64_t round) { rounds.push_back({round, to_seconds(at)}); };
    board.settings.push = &push;
  }
  Conductor& run(double seconds) {
    return ProtocolWorld::run([&](ClientId client) { return std::make_unique<GatherFirst>(board, client); }, steps, seconds);
  }
  Conductor& run_by_message(double seconds) {
    const auto make = [&](ClientId client) { return std::make_unique<GatherByMessage>(board.settings, client); };
    return ProtocolWorld::run(make, steps, seconds);
  }

  GatherBoard board;
  StepSentences steps;
  Marks rounds;
};

std::set<std::uint32_t> clients_of(const StepSentences& steps, StepKind kind, double at) {
  std::set<std::uint32_t> clients;
  for (const Step& step : steps.steps)
    if (step.kind == kind && to_seconds(step.at) == doctest::Approx(at)) clients.insert(step.client.value);
  return clients;
}

// What links do where they are bad: late, lost, twice.
std::unique_ptr<Channel> bad_links(std::uint64_t seed) {
  RandomChannel::LinkLaw law;
  law.delay = {.kind = Law::Kind::exponential, .first = 0.5};
  law.loss = 0.3;
  law.duplicate = seed % 4 == 0 ? 0.3 : 0;
  return std::make_unique<RandomChannel>(seed, law, std::map<std::pair<ClientId, ClientId>, RandomChannel::LinkLaw>{});
}

std::size_t computations(const StepSentences& steps, std::uint32_t client, Time from, Time until) {
  return static_cast<std::size_t>(std::ranges::count_if(steps.steps, [&](const Step& step) {
    return step.kind == StepKind::compute && step.client.value == client && step.at >= from && step.at < until;
  }));
}

}  // namespace

TEST_CASE("everybody hands in, the leader merges and answers, everybody computes") {
  GatherWorld world(topologies::complete(3));
  world.run(3.3);
  CHECK(world.steps.all ==
        Sentences{"0: 1 publish/0 -> 0", "0: 2 publish/0 -> 0", "0.1: 0 merge/0 <- 1#0 2#0", "0.1: 0 publish/1 -> 1 2",
                  "0.2: 1 merge/1 <- 0#0", "0.2: 2 merge/1 <- 0#0", "1.1: 0 compute/0", "2.2: 1 compute/0",
                  "3.2: 2 compute/0", "3.2: 0 publish/0 -> 1", "3.2: 2 publish/0 -> 1", "3.3: 1 merge/0 <- 0#1 2#1",
                  "3.3: 1 publish/1 -> 0 2"});
  CHECK(world.rounds == Marks{{0, 0.0}, {1, 3.2}});
}

TEST_CASE("the leader waits for models until the deadline, and later ones are late") {
  GatherWorld world(topologies::complete(3));
  world.push.limits.deadline = 1s;
  world.channel = std::make_unique<ScriptedLinks>(ScriptedLinks::Exceptions{{{2, 0, 0}, 1.5}});
  const MessageCounts counts = world.run(2).total_counts();
  CHECK(world.steps.of(0) == Sentences{"1: 0 merge/0 <- 1#0", "1: 0 publish/1 -> 1 2", "1.5: 0 discard/0 <- 2#0",
                                       "2: 0 compute/0"});
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

TEST_CASE("where nobody hears the leader the round is repeated with the next one") {
  GatherWorld world(topologies::complete(3));
  world.push.limits.deadline = 1s;
  world.push.compute = {TimerLaw::fixed(5, 0)};
  world.channel = std::make_unique<ScriptedLinks>(ScriptedLinks::Exceptions{{{0, 0, 1}, -1}, {{0, 0, 2}, -1}});
  world.run(6.4);
  CHECK(world.steps.all ==
        Sentences{"0: 1 publish/0 -> 0", "0: 2 publish/0 -> 0", "0.1: 0 merge/0 <- 1#0 2#0",
                  "0.1: 0 publish/1 -> 1 lost 2 lost", "1.1: 0 publish/0 -> 1", "1.1: 2 publish/0 -> 1",
                  "1.2: 1 merge/0 <- 0#1 2#1", "1.2: 1 publish/1 -> 0 2", "1.3: 0 merge/1 <- 1#1",
                  "1.3: 2 merge/1 <- 1#1", "6.2: 1 compute/0", "6.3: 0 compute/0", "6.3: 2 compute/0",
                  "6.3: 0 publish/0 -> 2", "6.3: 1 publish/0 -> 2", "6.4: 2 merge/0 <- 0#2 1#2",
                  "6.4: 2 publish/1 -> 0 1"});
  CHECK(world.rounds == Marks{{0, 0.0}, {1, 6.3}});
}

TEST_CASE("a table names the leaders, and a drawn leader is anybody as often as any other") {
  GatherWorld tabled(topologies::complete(4));
  tabled.push.compute = {TimerLaw::fixed(0.8, 0)};
  tabled.board.settings.leaders = {{2}, {1}, {3}};
  tabled.run(3.5);
  CHECK(clients_of(tabled.steps, StepKind::merge, 0.1) == std::set<std::uint32_t>{2});
  CHECK(clients_of(tabled.steps, StepKind::merge, 1.1) == std::set<std::uint32_t>{1});
  CHECK(clients_of(tabled.steps, StepKind::merge, 2.1) == std::set<std::uint32_t>{3});
  CHECK(clients_of(tabled.steps, StepKind::merge, 3.1) == std::set<std::uint32_t>{3});

  GatherWorld drawn(topologies::complete(4));
  drawn.push.compute = {TimerLaw::fixed(0.8, 0)};
  drawn.board.settings.draws_leaders = true;
  drawn.run(2000);
  std::vector<int> times(4);
  for (const Step& step : drawn.steps.steps)
    if (step.kind == StepKind::merge && step.phase == 0) ++times[step.client.value];
  for (const int count : times) CHECK(count == doctest::Approx(500).epsilon(0.15));
}

TEST_CASE("whatever the links do, every payload is dealt with, and rounds go on") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    GatherWorld world(topologies::complete(6));
    world.push.seed = world.settings.seed = seed;
    world.board.settings.draws_leaders = seed % 3 == 0;
    world.push.compute = {TimerLaw::gamma(2, 3)};
    world.push.limits.deadline = seed % 5 == 0 ? Duration::max() : Duration{2s};
    world.settings.retransmits = seed % 5 == 0;
    world.channel = bad_links(seed);
    const Conductor& conductor = world.run(300);
    REQUIRE(world.board.round > 40);
    const MessageCounts counts = conductor.total_counts();
    const std::uint64_t known = counts.lost + counts.kept + counts.late + counts.duplicates + conductor.under_way();
    REQUIRE((seed % 4 == 0 ? counts.sent <= known : counts.sent == known));
    REQUIRE((seed % 4 == 0) == (counts.duplicates > 0));
    REQUIRE(world.steps.wanted() <= conductor.under_way() + 6);
  }
}

// ---- by message ------------------------------------------------------------------------------------------------------

TEST_CASE("by message everybody hands in when it has computed, and the leader waits for the last") {
  GatherWorld world(topologies::complete(3));
  world.run_by_message(3.3);
  CHECK(world.steps.all ==
        Sentences{"0: 1 publish/0 -> 0", "0: 2 publish/0 -> 0", "0.1: 0 merge/0 <- 1#0 2#0", "0.1: 0 publish/1 -> 1 2",
                  "0.2: 1 merge/1 <- 0#0", "0.2: 2 merge/1 <- 0#0", "1.1: 0 compute/0", "1.1: 0 publish/0 -> 1",
                  "2.2: 1 compute/0", "3.2: 2 compute/0", "3.2: 2 publish/0 -> 1", "3.3: 1 merge/0 <- 0#1 2#1",
                  "3.3: 1 publish/1 -> 0 2"});
}

TEST_CASE("by message a leader merges what there is at the deadline after the slowest computation, and later models are late") {
  GatherWorld world(topologies::complete(3));
  world.push.limits.deadline = 1s;
  world.channel = std::make_unique<ScriptedLinks>(ScriptedLinks::Exceptions{{{2, 0, 0}, 0.9}, {{2, 1, 1}, 1.5}});
  const MessageCounts counts = world.run_by_message(6).total_counts();
  // The answer of turn 0 is at 1 at 1.0; client 2 needs three seconds.
  CHECK(world.steps.of(1) == Sentences{"0: 1 publish/0 -> 0", "1: 1 merge/1 <- 0#0", "3: 1 compute/0", "5: 1 merge/0 <- 0#1",
                                       "5: 1 publish/1 -> 0 2", "5.5: 1 discard/0 <- 2#1"});
  CHECK(counts.late == 1);
}

TEST_CASE("by message who has missed an answer hands in to the next leader and goes on with its answer") {
  GatherWorld world(topologies::complete(3));
  world.push.compute = {TimerLaw::fixed(1, 0)};
  world.push.limits.deadline = 500ms;
  world.channel = std::make_unique<ScriptedLinks>(ScriptedLinks::Exceptions{{{0, 0, 2}, -1}});
  world.run_by_message(2.75);
  CHECK(world.steps.of(2) == Sentences{"0: 2 publish/0 -> 0", "1.5: 2 publish/0 -> 1", "1.7: 2 merge/1 <- 1#1", "2.7: 2 compute/0"});
}

TEST_CASE("by message an answer of a higher turn is taken over, the work on an older one is dropped, and older answers are late") {
  const GatherWorld world(topologies::complete(3));
  PushSettings push = world.push;
  push.graph = &world.graph;
  const GatherSettings settings{.push = &push, .leaders = {}};
  GatherByMessage client(settings, {2});
  Effects effects;
  client.start(effects);
  const auto hears = [&](std::uint32_t turn, Time at) {
    effects.clear();
    const Offer offer = client.on_arrival({.id = {{turn % 3}, 0, turn}, .sent = at, .arrived = at, .tag = 2 * turn + 1}, effects);
    client.on_window_close(at, effects);
    return offer;
  };
  const auto computes = [&](std::uint32_t turn, Time at) {
    effects.clear();
    client.on_compute(at, turn, effects);
    return effects.drafts().size();
  };
  CHECK(hears(0, Time{1s}) == Offer::kept);
  CHECK(hears(0, Time{1s}) == Offer::duplicate);
  CHECK(hears(4, Time{2s}) == Offer::kept);
  CHECK(hears(1, Time{3s}) == Offer::late);
  CHECK(computes(0, Time{4s}) == 0);
  CHECK(computes(4, Time{5s}) == 1);
}

TEST_CASE("by message a leader that nobody hears is followed by the next one") {
  GatherWorld world(topologies::complete(3));
  world.push.compute = {TimerLaw::fixed(1, 0)};
  world.push.limits.deadline = 1s;
  world.channel = std::make_unique<ScriptedLinks>(ScriptedLinks::Exceptions{{{0, 0, 1}, -1}, {{0, 0, 2}, -1}});
  world.run_by_message(4.3);
  CHECK(world.steps.of_kind(StepKind::merge) == Sentences{"0.1: 0 merge/0 <- 1#0 2#0", "3.1: 1 merge/0 <- 0#1 2#1",
                                                           "3.2: 0 merge/1 <- 1#1", "3.2: 2 merge/1 <- 1#1",
                                                           "4.3: 2 merge/0 <- 0#2 1#2"});
}

TEST_CASE("by message rounds go on whatever the links do, everybody takes part, and every payload is dealt with") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    GatherWorld world(topologies::complete(6));
    world.push.seed = world.settings.seed = seed;
    world.board.settings.draws_leaders = seed % 3 == 0;
    world.push.compute = {TimerLaw::gamma(2, 3)};
    world.push.limits.deadline = seed % 5 == 0 ? Duration::max() : Duration{2s};
    world.settings.retransmits = seed % 5 == 0;
    world.channel = bad_links(seed);
    const Conductor& conductor = world.run_by_message(300);
    for (std::uint32_t client = 0; client < 6; ++client)
      for (const auto from : {0s, 100s, 200s})
        REQUIRE(computations(world.steps, client, Time{from}, Time{from + 100s}) > 5);
    REQUIRE(world.steps.wanted() <= conductor.under_way() + 36);
  }
}

TEST_CASE("by message everybody works in every turn where links are good and computations of any length") {
  GatherWorld world(topologies::complete(5));
  world.push.compute = {TimerLaw::poisson(1)};
  world.push.limits.deadline = 1s;
  world.run_by_message(600);
  const std::size_t first = computations(world.steps, 0, Time{}, Time{590s});
  CHECK(first > 150);
  for (std::uint32_t client = 1; client < 5; ++client) {
    const std::size_t others = computations(world.steps, client, Time{}, Time{590s});
    CHECK(std::max(first, others) - std::min(first, others) <= 1);
  }
  CHECK(world.steps.of_kind(StepKind::discard).empty());
}

TEST_CASE("by message rounds go on without who has gone, and with whoever is here again") {
  GatherWorld world(topologies::complete(4));
  world.push.compute = {TimerLaw::fixed(1, 0)};
  world.push.limits.deadline = 1s;
  const std::vector<ChurnLine> lines{{.at = Time{20500ms}, .what = ChurnLine::What::crash, .clients = {{0}, {1}}},
                                     {.at = Time{60s}, .what = ChurnLine::What::restart, .clients = {{0}}, .from = Origin::start},
                                     {.at = Time{80s}, .what = ChurnLine::What::restart, .clients = {{1}}, .from = Origin::start}};
  const ChurnPlan plan(4, lines, {.notice = 5s, .checkpoint_every = {}});
  world.settings.churn = &plan;
  world.run_by_message(120);
  const auto between = [&](std::uint32_t client, std::chrono::seconds from, std::chrono::seconds until) {
    return computations(world.steps, client, Time{from}, Time{until});
  };
  CHECK(between(2, 0s, 20s) >= 15);
  CHECK(between(2, 20s, 30s) >= 1);    // until it is known leaders are waited for in vain
  CHECK(between(2, 30s, 60s) >= 23);
  CHECK(between(0, 21s, 60s) == 0);
  CHECK(between(0, 65s, 120s) >= 30);
  CHECK(between(1, 85s, 120s) >= 25);
  CHECK(between(3, 85s, 120s) >= 25);
}

namespace {

// One client of three, whose turns are led by 0, 1, 2, 0, ...
struct GatheringClient {
  explicit GatheringClient(std::uint32_t self) : protocol{world.board.settings, {self}} {
    world.push.graph = &world.graph;
    protocol.start(effects);
    protocol.on_transmit({}, 0, effects);
    effects.clear();
  }
  void hands_in(std::uint32_t sender, std::uint32_t turn) {
    protocol.on_arrival({.id = {{sender}, 0, turn}, .sent = Time{1s}, .arrived = Time{1s}, .tag = 2 * turn}, effects);
  }
  void goes(std::uint32_t neighbour) { protocol.on_presence({neighbour}, false, Time{2s}, effects); }

  GatherWorld world{topologies::complete(3)};
  GatherByMessage protocol;
  Effects effects;
};

}  // namespace

TEST_CASE("by message a leader does not wait for who has gone, with or without a deadline") {
  GatheringClient leader(0);
  leader.hands_in(1, 0);
  CHECK(leader.effects.closings().empty());
  leader.goes(2);
  REQUIRE(leader.effects.closings().size() == 1);
  CHECK(leader.effects.closings().front().at == Time{2s});
}

TEST_CASE("by message the next leader is handed in to as soon as the leader is known to have gone") {
  GatheringClient client(2);
  client.goes(0);
  REQUIRE(client.effects.wakes().size() == 1);
  const Wake next = client.effects.wakes().front();
  CHECK(next.at == Time{2s});
  CHECK(next.detail == 1);
  client.effects.clear();
  client.protocol.on_transmit(next.at, next.detail, client.effects);
  REQUIRE(client.effects.entries().size() == 1);
  CHECK(client.effects.entries().front().peer == ClientId{1});
}
