// Walking tokens: who holds them when, and how a lost one comes back. No arithmetic.
#include "runtime/protocols/token.hpp"

#include <doctest/doctest.h>

#include <set>

#include "runtime/world/topology.hpp"
#include "tests/support/lone_client.hpp"
#include "tests/support/protocol_world.hpp"

using namespace rubato;
using namespace rubato::test;
using namespace std::chrono_literals;

namespace {

// Everybody transmits at every whole second; links take a tenth of a second.
struct TokenWorld : ProtocolWorld {
  explicit TokenWorld(Graph of) : ProtocolWorld(std::move(of)) { push.transmit = {TimerLaw::fixed(1, 1)}; }
  Conductor& run(double seconds) {
    return ProtocolWorld::run([&](ClientId client) { return std::make_unique<Token>(push, client); }, steps, seconds);
  }
  void streams(std::uint32_t count) {
    push.needs.program.round = Phase{PhaseKind::compute};
    for (std::uint32_t stream = 0; stream < count; ++stream)
      push.needs.program.round.add({.kind = PhaseKind::exchange, .number = static_cast<std::uint8_t>(stream)});
  }

  StepSentences steps;
};

// In the last 200 s each publish step of a stream follows the merge of the one before it: one token, never two.
void require_one_token_each(const StepSentences& steps, std::uint8_t streams) {
  for (std::uint8_t stream = 0; stream < streams; ++stream) {
    int walking = 0;
    std::uint64_t hops = 0;
    for (const Step& step : steps.steps) {
      if (step.at < Time{200s} || step.phase != stream) continue;
      if (step.kind == StepKind::merge && step.at > Time{201s}) ++hops;
      if (step.kind == StepKind::publish) REQUIRE(++walking <= 1);
      if (step.kind == StepKind::merge) walking = 0;
    }
    REQUIRE(hops > 100);
  }
}

}  // namespace

TEST_CASE("the first holder absorbs its token before it sends it, others when it arrives; it leaves at the next tick") {
  TokenWorld world(directed(3, {{{0}, {1}}, {{1}, {2}}, {{2}, {1}}}));
  world.run(3.5);
  CHECK(world.steps.all == Sentences{"1: 0 merge/0", "1: 0 publish/0 -> 1", "1.1: 1 merge/0 <- 0#0", "2: 1 publish/0 -> 2",
                                     "2.1: 2 merge/0 <- 1#0", "3: 2 publish/0 -> 1", "3.1: 1 merge/0 <- 2#0"});
}

TEST_CASE("computations go on whichever client holds the token") {
  TokenWorld world(topologies::directed_ring(3));
  world.push.compute = {TimerLaw::fixed(2, 2), TimerLaw::fixed(1, 1), TimerLaw::off()};
  world.run(2);
  CHECK(world.steps.all == Sentences{"1: 1 compute/0", "1: 0 merge/0", "1: 0 publish/0 -> 1", "1.1: 1 merge/0 <- 0#0",
                                     "2: 0 compute/0", "2: 1 compute/0", "2: 1 publish/0 -> 2"});
}

TEST_CASE("coupled transmit ticks follow the computations") {
  TokenWorld world(topologies::path(2));
  world.push.compute = {TimerLaw::fixed(1, 0.5)};
  world.push.transmit = {TimerLaw::coupled(2, 1)};
  world.run(1.7);
  CHECK(world.steps.of(0) == Sentences{"0.5: 0 compute/0", "1.5: 0 compute/0", "1.5: 0 merge/0", "1.5: 0 publish/0 -> 1"});
}

TEST_CASE("every stream has a token and a phase of its own, and starts at a client of its own") {
  TokenWorld world(topologies::directed_ring(3));
  world.streams(4);
  world.run(1.5);
  CHECK(world.steps.all == Sentences{"1: 0 merge/0", "1: 0 merge/3", "1: 0 publish/0 -> 1", "1: 0 publish/3 -> 1", "1: 1 merge/1",
                                     "1: 1 publish/1 -> 2", "1: 2 merge/2", "1: 2 publish/2 -> 0", "1.1: 0 merge/2 <- 2#0",
                                     "1.1: 1 merge/0 <- 0#0", "1.1: 1 merge/3 <- 0#1", "1.1: 2 merge/1 <- 1#0"});
  CHECK(Token::streams(world.push) == 4);
}

TEST_CASE("a token walks to a neighbour drawn anew, each as often as any other") {
  TokenWorld world(topologies::star(5, {0}));
  world.run(4000);
  const auto visits = [&](std::uint32_t client) { return world.steps.count({.kind = StepKind::merge, .client = client}); };
  CHECK(visits(0) == doctest::Approx(2000).epsilon(0.01));
  for (std::uint32_t leaf = 1; leaf < 5; ++leaf) CHECK(visits(leaf) == doctest::Approx(500).epsilon(0.15));
}

TEST_CASE("a lost token is sent again at the deadline, from the copy of its last holder") {
  TokenWorld world(topologies::directed_ring(3));
  world.push.limits.deadline = 500ms;
  world.channel = std::make_unique<ScriptedLinks>(ScriptedLinks::Exceptions{{{0, 0, 1}, -1}});
  world.run(2.2);
  CHECK(world.steps.all == Sentences{"1: 0 merge/0", "1: 0 publish/0 -> 1 lost", "1.5: 0 publish/0 -> 1", "1.6: 1 merge/0 <- 0#1",
                                     "2: 1 publish/0 -> 2", "2.1: 2 merge/0 <- 1#0"});
}

TEST_CASE("a token that came is acknowledged and not sent again") {
  TokenWorld world(topologies::path(2));
  world.push.transmit = {ticks({1}), TimerLaw::off()};
  world.push.limits.deadline = 200ms;  // there and back
  world.run(9);
  CHECK(world.steps.all == Sentences{"1: 0 merge/0", "1: 0 publish/0 -> 1", "1.1: 1 merge/0 <- 0#0"});
}

TEST_CASE("a lost acknowledgement makes a second token, and the older incarnation is dropped where they meet") {
  // 0 has no acknowledgement at 1.5 and sends a new incarnation, which is at 1 from 1.6 on. The token of incarnation 0
  // has left 1 at 1.4 and comes back at 1.8.
  TokenWorld world(directed(3, {{{0}, {1}}, {{1}, {2}}, {{2}, {1}}}));
  world.push.limits.deadline = 500ms;
  world.push.transmit = {ticks({1}), ticks({1.4}), ticks({1.7})};
  world.channel = std::make_unique<ScriptedLinks>(ScriptedLinks::Exceptions{}, true);
  const MessageCounts counts = world.run(1.85).total_counts();
  CHECK(world.steps.of(0) == Sentences{"1: 0 merge/0", "1: 0 publish/0 -> 1", "1.5: 0 publish/0 -> 1"});
  CHECK(world.steps.of(1) ==
        Sentences{"1.1: 1 merge/0 <- 0#0", "1.4: 1 publish/0 -> 2", "1.6: 1 merge/0 <- 0#1", "1.8: 1 discard/0 <- 2#0"});
  CHECK(counts.superseded == 1);
}

TEST_CASE("a token older than the deadline is late, is not acknowledged, and comes again") {
  TokenWorld world(topologies::path(2));
  world.push.transmit = {ticks({1}), TimerLaw::off()};
  world.push.limits.deadline = 500ms;
  world.channel = std::make_unique<ScriptedLinks>(ScriptedLinks::Exceptions{{{0, 0, 1}, 0.7}});
  const MessageCounts counts = world.run(9).total_counts();
  CHECK(world.steps.all == Sentences{"1: 0 merge/0", "1: 0 publish/0 -> 1", "1.5: 0 publish/0 -> 1", "1.6: 1 merge/0 <- 0#1",
                                     "1.7: 1 discard/0 <- 0#0"});
  CHECK(counts.late == 1);
}

TEST_CASE("who has the token again does not send its old copy") {
  // 1 answers at 1.2 what 0 sent at 1, all acknowledgements are lost: 0 holds the token itself at the deadline.
  TokenWorld world(topologies::path(2));
  world.push.transmit = {ticks({1}), ticks({1.2})};
  world.push.limits.deadline = 500ms;
  world.channel = std::make_unique<ScriptedLinks>(ScriptedLinks::Exceptions{}, true);
  world.run(1.65);
  CHECK(world.steps.of(0) == Sentences{"1: 0 merge/0", "1: 0 publish/0 -> 1", "1.3: 0 merge/0 <- 1#0"});
}

TEST_CASE("a client without neighbours keeps its token") {
  TokenWorld world(Graph(1, false, {}));
  world.run(3);
  CHECK(world.steps.all == Sentences{"1: 0 merge/0"});
}

TEST_CASE("after losses and a calm time a stream has one token, every payload is dealt with") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    TokenWorld world(topologies::complete(5));
    world.streams(2);
    world.reseed(seed);
    world.push.transmit = {TimerLaw::poisson(2)};
    world.push.limits.deadline = 1s;
    world.push.may_duplicate = true;
    // Losses until 100 s, none behind it.
    class Calming final : public Channel {
     public:
      explicit Calming(std::uint64_t of) : seed{of} {}
      Fate carry(const LinkUse& use) const override {
        Fate fate;
        const auto address = static_cast<std::uint64_t>(use.now.time_since_epoch().count());
        const DrawnPair drawn = draw(seed, use.sender, Purpose::loss, address, use.receiver.value);
        fate.lost = use.now < Time{100s} && uniform01(drawn.first) < 0.4;
        fate.delay = from_seconds(0.01 + 0.4 * uniform01(drawn.second));
        fate.copies = use.kind == MessageKind::update && drawn.second % 3 == 0;
        fate.copy_delay = from_seconds(0.01 + 0.9 * uniform01(drawn.first));
        return fate;
      }
      std::uint64_t seed;
    };
    world.channel = std::make_unique<Calming>(seed);
    const Conductor& conductor = world.run(400);
    REQUIRE(conductor.total_counts().duplicates > 100);
    require_one_token_each(world.steps, 2);
    REQUIRE(world.steps.wanted() == conductor.under_way());
  }
}

TEST_CASE("two clients that create a stream's token again never give it the same incarnation") {
  // Whoever has it sends it to nobody that hears: each has seen the same, each creates it again and again.
  TokenWorld world(topologies::complete(5));
  world.push.limits.deadline = 1s;
  const std::uint32_t walking = 7 * Token::most_streams;
  std::set<std::uint32_t> tags;
  for (std::uint32_t i = 0; i < 5; ++i) {
    Lone<Token> client(world.push, i);
    CHECK(client.hears((i + 1) % 5, 0, walking, 1s) == Offer::kept);
    client.transmits(2s);
    for (Sequence sent = 0; sent < 100; ++sent) {
      client.meets_deadline(3s, sent);
      REQUIRE(client.effects.drafts().size() == 1);
      CHECK(client.effects.drafts().front().tag > walking);
      CHECK(tags.insert(client.effects.drafts().front().tag).second);
    }
  }
}

TEST_CASE("when the numbers of incarnations are used up the token is not created again") {
  // Of two clients this one creates the odd incarnations.
  for (const std::uint32_t seen : {Token::most_incarnations - 3, Token::most_incarnations - 1}) {
    TokenWorld world(topologies::path(2));
    world.push.limits.deadline = 1s;
    Lone<Token> client(world.push, 1);
    CHECK(client.hears(0, 0, seen * Token::most_streams, 1s) == Offer::kept);
    client.transmits(2s);
    client.meets_deadline(3s, 0);
    const bool has_one_left = seen < Token::most_incarnations - 1;
    REQUIRE(client.effects.drafts().size() == has_one_left);
  }
}

TEST_CASE("who stops creates no token again") {
  TokenWorld world(topologies::path(2));
  world.push.limits.deadline = 1s;
  for (const bool stops : {false, true}) {
    Lone<Token> client(world.push, 0);
    client.starts();
    client.transmits(1s);
    if (stops) client.protocol.on_stop();
    client.meets_deadline(2s, 0);
    REQUIRE(client.effects.drafts().size() == !stops);
  }
}

TEST_CASE("a token that went with its holder is created again after a long silence, by the first client behind the start") {
  TokenWorld world(topologies::complete(4));
  world.push.limits.deadline = 1s;
  // The first holder keeps it until it is gone, and never comes back.
  world.push.transmit = {ticks({}), TimerLaw::fixed(1, 1), TimerLaw::fixed(1, 1), TimerLaw::fixed(1, 1)};
  world.churn({crash(10s, {{0}})}, 2s);
  world.run(60);
  // 4 clients, 16 ticks and 16 deadlines: longer than that.
  CHECK(world.steps.all.front() == "17: 1 merge/0");
  CHECK(world.steps.of_kind(StepKind::merge).size() > 30);
}

TEST_CASE("tokens go on walking when clients are killed and come back, and there is one of each stream in the end") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    TokenWorld world(topologies::complete(5));
    world.streams(2);
    world.reseed(seed);
    world.push.transmit = {TimerLaw::poisson(2)};
    world.push.limits.deadline = 1s;
    std::vector<ChurnLine> lines;
    Stream draws(seed, {0}, Purpose::noise);
    for (int k = 0; k < 10; ++k) {
      const ClientId client{static_cast<std::uint32_t>(draws.below(5))};
      const Duration at = 5000ms + 10000ms * k + 100ms * static_cast<int>(draws.below(40));
      lines.push_back(crash(at, {client}));
      lines.push_back(restart(at + 5s, {client}));
    }
    world.churn(lines, 1s);
    const Conductor& conductor = world.run(400);
    require_one_token_each(world.steps, 2);
    REQUIRE(world.steps.wanted() == conductor.under_way());
  }
}
