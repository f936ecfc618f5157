// Meetings of two: who asks, who waits, what becomes of an exchange, and that both halves happen or neither. No arithmetic.
#include "runtime/protocols/pair.hpp"

#include <doctest/doctest.h>

#include <map>

#include "runtime/world/topology.hpp"
#include "tests/support/protocol_world.hpp"

using namespace rubato;
using namespace rubato::test;
using namespace std::chrono_literals;

namespace {

struct PairWorld : ProtocolWorld {
  using ProtocolWorld::ProtocolWorld;

  Conductor& run(double seconds) {
    pair.push = &push;
    settings.goes_by_exchange = true;
    settings.foresight = &pair.foresight;
    return ProtocolWorld::run([&](ClientId client) { return std::make_unique<Pair>(pair, client); }, steps, seconds);
  }
  PairCounts counts(const Conductor& conductor) const {
    PairCounts all;
    for (std::uint32_t i = 0; i < graph.clients(); ++i) all += client(conductor, i).exchanges();
    return all;
  }
  static const Pair& client(const Conductor& conductor, std::uint32_t i) {
    return dynamic_cast<const Pair&>(conductor.protocol({i}));
  }
  std::uint64_t waiting(const Conductor& conductor) const {
    std::uint64_t all = 0;
    for (std::uint32_t i = 0; i < graph.clients(); ++i) all += client(conductor, i).waiting_requests().size();
    return all;
  }
  std::int64_t merges(std::uint8_t phase) const {
    std::int64_t all = 0;
    for (std::uint32_t i = 0; i < graph.clients(); ++i) all += steps.count({StepKind::merge, i, phase});
    return all;
  }

  PairSettings pair;
  StepSentences steps;
};

}  // namespace

TEST_CASE("a meeting is at the instant at which the partner handles the request, and the asker hears of it later") {
  PairWorld world(topologies::path(2));
  world.transmit_of({{0, {1}}});
  const Conductor& conductor = world.run(5);
  CHECK(world.steps.all ==
        Sentences{"1: 0 publish/0 -> 1", "1.1: 1 merge/0 <- 0#0", "1.1: 1 publish/1 -> 0", "1.2: 0 merge/1 <- 1#0"});
  CHECK(world.counts(conductor).met == 1);
  CHECK(world.counts(conductor).asking == 200ms);
}

TEST_CASE("of two that ask each other at one instant the older exchange waits, so both meet") {
  PairWorld world(topologies::path(2));
  world.transmit_of({{0, {1}}, {1, {1}}});
  const PairCounts counts = world.counts(world.run(5));
  CHECK(world.steps.all == Sentences{"1: 0 publish/0 -> 1", "1: 1 publish/0 -> 0", "1.1: 0 discard/0 <- 1#0",
                                     "1.2: 1 merge/0 <- 0#0", "1.2: 1 publish/1 -> 0", "1.3: 0 merge/1 <- 1#1"});
  CHECK(counts.refused == 1);
  CHECK(counts.queued == 1);
  CHECK(counts.met == 1);
}

TEST_CASE("where busy clients refuse, two that ask each other at one instant do not meet") {
  PairWorld world(topologies::path(2));
  world.pair.busy = Busy::refuse;
  world.transmit_of({{0, {1}}, {1, {1}}});
  const PairCounts counts = world.counts(world.run(5));
  CHECK(counts.refused == 2);
  CHECK(counts.met == 0);
}

TEST_CASE("six clients that all ask at the same instants meet where the older ones wait, and never where they are refused") {
  std::vector<double> instants;
  for (int k = 1; k < 200; ++k) instants.push_back(k);
  for (const Busy busy : {Busy::wait, Busy::refuse}) {
    PairWorld world(topologies::complete(6));
    world.pair.busy = busy;
    std::map<std::uint32_t, std::vector<double>> all;
    for (std::uint32_t i = 0; i < 6; ++i) all[i] = instants;
    world.transmit_of(all);
    const PairCounts counts = world.counts(world.run(250));
    CHECK(counts.begun == 6 * 199);
    CHECK((busy == Busy::wait ? counts.met > 400 : counts.met == 0));
  }
}

TEST_CASE("an exchange tick of a client that asks is left out and counted") {
  PairWorld world(topologies::path(2));
  world.transmit_of({{0, {1, 1.15, 2}}});
  const PairCounts counts = world.counts(world.run(5));
  CHECK(counts.skipped == 1);
  CHECK(counts.met == 2);
}

TEST_CASE("where the reply would be lost nothing happens at either, and the alarm ends the attempt") {
  PairWorld world(topologies::path(2));
  world.transmit_of({{0, {1}}});
  world.push.limits.deadline = 1s;
  world.channel = std::make_unique<ScriptedLinks>(ScriptedLinks::Exceptions{{{1, 0, 0}, -1}});
  const Conductor& conductor = world.run(5);
  CHECK(world.steps.all == Sentences{"1: 0 publish/0 -> 1", "1.1: 1 discard/0 <- 0#0"});
  CHECK(world.counts(conductor).empty == 1);
  CHECK(world.counts(conductor).over == 1);
  CHECK_FALSE(PairWorld::client(conductor, 0).asked());
}

TEST_CASE("where the reply would come after the deadline nothing happens at either; at the deadline it is in time") {
  for (const double delay : {0.9, 0.95}) {
    PairWorld world(topologies::path(2));
    world.transmit_of({{0, {1}}});
    world.push.limits.deadline = 1s;
    world.channel = std::make_unique<ScriptedLinks>(ScriptedLinks::Exceptions{{{1, 0, 0}, delay}});
    const PairCounts counts = world.counts(world.run(5));
    CHECK(counts.met == (delay == 0.9));
    CHECK(counts.empty == (delay != 0.9));
    CHECK(counts.over == (delay != 0.9));
  }
}

TEST_CASE("where meetings are counted the partner's half happens whatever becomes of its reply") {
  PairWorld world(topologies::path(2));
  world.transmit_of({{0, {1}}});
  world.push.limits.deadline = 1s;
  world.pair.commit = Commit::counted;
  world.channel = std::make_unique<ScriptedLinks>(ScriptedLinks::Exceptions{{{1, 0, 0}, 3.0}});
  const PairCounts counts = world.counts(world.run(9));
  CHECK(world.steps.all ==
        Sentences{"1: 0 publish/0 -> 1", "1.1: 1 merge/0 <- 0#0", "1.1: 1 publish/1 -> 0", "4.1: 0 merge/1 <- 1#0"});
  CHECK(counts.met == 1);
  CHECK(counts.over == 1);
}

TEST_CASE("a request beyond the deadline is late, and nothing is sent") {
  PairWorld world(topologies::path(2));
  world.transmit_of({{0, {1}}});
  world.push.limits.deadline = 1s;
  world.channel = std::make_unique<ScriptedLinks>(ScriptedLinks::Exceptions{{{0, 0, 1}, 1.5}});
  const PairCounts counts = world.counts(world.run(5));
  CHECK(world.steps.all == Sentences{"1: 0 publish/0 -> 1", "2.5: 1 discard/0 <- 0#0"});
  CHECK(counts.late == 1);
}

TEST_CASE("a further attempt asks the same partner, in a phase of its own, and is as old as the first") {
  PairWorld world(topologies::path(3));
  world.transmit_of({{0, {1}}, {1, {2.45}}});
  world.pair.partners = {{{ClientId{1}, 2}}, {{ClientId{2}, 1}}, {}};
  world.push.limits.deadline = 1s;
  world.pair.retries = 1;
  world.pair.retry_after = 500ms;
  world.channel = std::make_unique<ScriptedLinks>(ScriptedLinks::Exceptions{{{0, 0, 1}, -1}});
  const PairCounts counts = world.counts(world.run(9));
  // The first request is lost; the second, at 2.5, finds client 1 asking since 2.45: it is older, so it waits.
  CHECK(world.steps.of(0).at(1) == "2.5: 0 publish/3 -> 1");
  CHECK(counts.retried == 1);
  CHECK(counts.queued == 1);
  CHECK(counts.met == 2);
}

TEST_CASE("a client with batches asks after each, at the instant of its last computation, whose step has phase 1") {
  PairWorld world(topologies::path(2));
  world.push.needs.pairing = {.in_batches = true, .steps = {2}};
  world.compute_of({{0, {1, 2, 3, 4}}});
  world.run(9);
  CHECK(world.steps.of(0) == Sentences{"1: 0 compute/0", "2: 0 compute/1", "2: 0 publish/0 -> 1", "2.2: 0 merge/1 <- 1#0",
                                       "3: 0 compute/0", "4: 0 compute/1", "4: 0 publish/0 -> 1", "4.2: 0 merge/1 <- 1#1"});
}

TEST_CASE("where exchanges block a client rests until it has met another, and a request waits for one that is at work") {
  PairWorld world(topologies::path(2));
  world.push.needs.pairing = {.in_batches = true, .blocks = true, .steps = {2}};
  world.compute_of({{0, {1, 2, 3, 4, 5}}, {1, {1.5, 3.5, 5}}});
  const PairCounts counts = world.counts(world.run(9));
  // Client 0 rests from 2 on and leaves out the tick at 3; client 1 serves it at the end of its own batch.
  CHECK(world.steps.of(0) == Sentences{"1: 0 compute/0", "2: 0 compute/1", "2: 0 publish/0 -> 1", "3.6: 0 merge/1 <- 1#0",
                                       "4: 0 compute/0", "5: 0 compute/1", "5: 0 publish/0 -> 1"});
  CHECK(world.steps.of(1) ==
        Sentences{"1.5: 1 compute/0", "3.5: 1 compute/1", "3.5: 1 merge/0 <- 0#0", "3.5: 1 publish/1 -> 0", "5: 1 compute/0"});
  CHECK(counts.queued == 2);
  CHECK(counts.met == 1);
}

TEST_CASE("a client that has asked in vain works on, alone where its algorithm says so") {
  PairWorld world(topologies::path(2));
  world.push.needs.pairing = {.in_batches = true, .blocks = true, .acts_alone = true};
  world.push.limits.deadline = 1s;
  world.compute_of({{0, {1, 1.5, 3}}});
  world.channel = std::make_unique<ScriptedLinks>(ScriptedLinks::Exceptions{{{0, 0, 1}, -1}});
  world.run(2.9);
  CHECK(world.steps.of(0) == Sentences{"1: 0 compute/1", "1: 0 publish/0 -> 1 lost", "2: 0 merge/2"});
}

TEST_CASE("only clients of one side of a bipartite graph ask, where roles say so") {
  PairWorld world(topologies::path(3));
  world.pair.asks = {true, false, true};
  world.transmit_of({{0, {1}}, {1, {2}}, {2, {3}}});
  world.run(5);
  CHECK(world.steps.of(1) ==
        Sentences{"1.1: 1 merge/0 <- 0#0", "1.1: 1 publish/1 -> 0", "3.1: 1 merge/0 <- 2#0", "3.1: 1 publish/1 -> 2"});
}

TEST_CASE("whatever links do, of every attempt it is known what has become of it, and no client waits for ever") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    PairWorld world(topologies::complete(6), seed);
    const bool waits = seed % 3 == 0;
    world.push.limits.deadline = waits ? Duration::max() : Duration{700ms};
    world.settings.retransmits = waits;
    world.pair.busy = seed % 2 == 0 ? Busy::wait : Busy::refuse;
    world.pair.commit = seed % 5 == 0 ? Commit::counted : Commit::known;
    world.pair.retries = static_cast<std::uint32_t>(seed % 4);
    world.pair.retry_after = 50ms;
    world.push.needs.pairing = {.in_batches = seed % 7 == 0, .blocks = seed % 14 == 0, .steps = {2}};
    world.channel = random_links(seed, 0.2, 0.3, 0);
    Stream chance(seed, {0}, Purpose::noise);
    std::map<std::uint32_t, std::vector<double>> asks, computes;
    for (std::uint32_t i = 0; i < 6; ++i)
      for (double t = 0.1; t < 40; t += 0.05 + chance.exponential()) asks[i].push_back(t), computes[i].push_back(t + 0.01);
    world.transmit_of(asks);
    world.compute_of(computes);
    const Conductor& conductor = world.run(500);
    const PairCounts counts = world.counts(conductor);
    for (std::uint32_t i = 0; i < 6; ++i)
      if (!world.push.needs.pairing.blocks) CHECK_FALSE(PairWorld::client(conductor, i).asked());
    CHECK(counts.met > (world.push.needs.pairing.blocks ? 0 : 20));
    if (!world.push.needs.pairing.blocks) CHECK(world.waiting(conductor) == 0);
    CHECK(world.merges(pair_request) == static_cast<std::int64_t>(counts.met));
    if (world.pair.commit == Commit::counted) continue;  // replies are lost, too
    CHECK(world.merges(pair_reply) == static_cast<std::int64_t>(counts.met));
    CHECK(counts.met + counts.refused + counts.empty + counts.late + conductor.total_counts().lost + world.waiting(conductor) ==
          counts.begun + counts.retried);
  }
}

TEST_CASE("who serves is not asking, and a client asks one partner at a time") {
  struct Watch final : PairWatch {
    using Kind = PairRecord::Kind;
    void see(const PairRecord& record, Effects&) override {
      bool& asks = is_asking[record.client.value];
      if (record.kind == Kind::exchange && record.outcome == PairRecord::Outcome::none) {
        CHECK_FALSE(asks);
        asks = true;
      }
      if (record.kind == Kind::over || (record.kind == Kind::reply && record.ends)) asks = false;
      const bool serves = record.kind == Kind::request || record.kind == Kind::serve;
      if (serves && record.outcome == PairRecord::Outcome::met) CHECK_FALSE(asks);
      served += serves && record.outcome == PairRecord::Outcome::met;
    }
    std::map<std::uint32_t, bool> is_asking;
    int served = 0;
  };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Watch watch;
    PairWorld world(topologies::complete(5), seed);
    world.pair.watch = &watch;
    world.channel = random_links(seed, 0.3, 0, 0);
    world.push.transmit = {TimerLaw::poisson(2)};
    world.run(60);
    CHECK(watch.served > 50);
  }
}

TEST_CASE("a message that comes twice is merged once") {
  PairWorld world(topologies::path(2));
  world.push.may_duplicate = true;
  world.channel = random_links(3, 0.1, 0, 0.9);
  world.transmit_of({{0, {1, 2, 3, 4, 5, 6, 7, 8}}});
  const Conductor& conductor = world.run(60);
  CHECK(conductor.total_counts().duplicates > 4);
  CHECK(world.merges(pair_request) == static_cast<std::int64_t>(world.counts(conductor).met));
  CHECK(world.merges(pair_reply) == static_cast<std::int64_t>(world.counts(conductor).met));
}

TEST_CASE("a client that crashes while it is asked leaves its asker to the alarm") {
  PairWorld world(topologies::path(2));
  world.push.limits.deadline = 1s;
  world.transmit_of({{0, {1, 3}}});
  world.churn({crash(500ms, {{1}})}, 60s);
  const PairCounts counts = world.counts(world.run(9));
  CHECK(counts.over == 2);
  CHECK(counts.met == 0);
}

TEST_CASE("partners are drawn by their weights: one of none is never asked, and one of thrice as much three times as often") {
  struct Watch final : PairWatch {
    void see(const PairRecord& record, Effects&) override {
      if (record.kind == PairRecord::Kind::exchange && record.client == ClientId{0}) ++asked[record.peer.value];
    }
    std::map<std::uint32_t, int> asked;
  } watch;
  PairWorld world(topologies::complete(4));
  world.pair.watch = &watch;
  world.pair.partner_weights.assign(world.graph.links(), 1);
  const LinkIndex first = world.graph.first_link({0});
  world.pair.partner_weights[first] = 0;      // of client 1
  world.pair.partner_weights[first + 2] = 3;  // of client 3
  std::vector<double> instants;
  for (int k = 1; k <= 4000; ++k) instants.push_back(k);
  world.transmit_of({{0, instants}});
  world.run(5000);
  CHECK(watch.asked[1] == 0);
  CHECK(watch.asked[2] + watch.asked[3] == 4000);
  CHECK(std::abs(watch.asked[3] - 3000) < 110);  // four deviations
}

TEST_CASE("partners that are all alike are drawn as those of equal weights are, also while one is away") {
  for (const bool has_crash : {false, true}) {
    const auto steps = [&](bool has_weights) {
      PairWorld world(topologies::complete(7), 5);
      world.push.limits.deadline = 1s;
      world.push.transmit = {TimerLaw::poisson(3)};
      if (has_weights) world.pair.partner_weights.assign(world.graph.links(), 1);
      if (has_crash) world.churn({crash(10s, {{1}}), restart(30s, {{1}})}, 1s);
      world.run(60);
      return world.steps.all;
    };
    CHECK(steps(false).size() > 1000);
    CHECK(steps(false) == steps(true));
  }
}
