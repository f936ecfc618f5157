#include "runtime/protocols/push.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/support/world.hpp"

using namespace rubato;
using namespace rubato::test;
using namespace std::chrono_literals;

namespace {

/// 0 sends to 1 and 2, 1 sends to 2.
Graph triangle() { return directed(3, {{{0}, {1}}, {{0}, {2}}, {{1}, {2}}}); }

/// "compute 0 @1.5", one a line, of the steps of one client.
std::vector<std::string> steps_of(const World& world, std::uint32_t client) {
  std::vector<std::string> all;
  for (const KeptStep& kept : world.steps.steps) {
    if (kept.step.client.value != client) continue;
    std::ostringstream words;
    words << name_of(kept.step.kind) << " " << kept.step.index << " @" << to_seconds(kept.step.at);
    for (const StepEntry& entry : kept.entries) words << " " << entry.peer.value << "#" << entry.sequence;
    all.push_back(words.str());
  }
  return all;
}

using Sentences = std::vector<std::string>;

}  // namespace

TEST_CASE("compute and transmit timers tick independently, and a computation comes first at the same instant") {
  World world(triangle());
  world.push.compute = {ticks({1, 2}), TimerLaw::off(), TimerLaw::off()};
  world.push.transmit = {ticks({0.5, 2}), TimerLaw::off(), TimerLaw::off()};
  world.run_until(Time{10s});
  CHECK(steps_of(world, 0) == Sentences{"publish 0 @0.5 1#0 2#0", "compute 0 @1", "compute 1 @2", "publish 1 @2 1#1 2#1"});
}

TEST_CASE("coupled with every K: a message after every K-th computation, at the same instant") {
  World world(triangle());
  world.push.compute = {TimerLaw::fixed(1, 1), TimerLaw::off(), TimerLaw::off()};
  world.push.transmit = {TimerLaw::coupled(2, 1), TimerLaw::off(), TimerLaw::off()};
  world.run_until(Time{5s});
  CHECK(steps_of(world, 0) == Sentences{"compute 0 @1", "compute 1 @2", "publish 0 @2 1#0 2#0", "compute 2 @3", "compute 3 @4",
                                        "publish 1 @4 1#1 2#1", "compute 4 @5"});
}

TEST_CASE("coupled with repeat Q: Q messages after a computation") {
  World world(triangle());
  world.push.compute = {ticks({1, 2}), TimerLaw::off(), TimerLaw::off()};
  world.push.transmit = {TimerLaw::coupled(2, 3), TimerLaw::off(), TimerLaw::off()};
  world.run_until(Time{5s});
  CHECK(steps_of(world, 0) ==
        Sentences{"compute 0 @1", "compute 1 @2", "publish 0 @2 1#0 2#0", "publish 1 @2 1#1 2#1", "publish 2 @2 1#2 2#2"});
}

TEST_CASE("send only if computed: a tick without news is silent, and takes a turn but no sequence number") {
  World world(triangle());
  world.push.needs.send_only_if_computed = true;
  world.push.compute = {ticks({1, 2, 3}), TimerLaw::off(), TimerLaw::off()};
  world.push.transmit = {ticks({0.5, 2.5, 2.75, 4}), TimerLaw::off(), TimerLaw::off()};
  world.run_until(Time{5s});
  CHECK(steps_of(world, 0) ==
        Sentences{"compute 0 @1", "compute 1 @2", "publish 0 @2.5 1#0 2#0", "compute 2 @3", "publish 1 @4 1#1 2#1"});
  std::vector<bool> sends;
  for (const Seen& tick : world.events.of_kind(Priority::transmit)) sends.push_back(tick.sends);
  CHECK(sends == std::vector{false, true, false, true});
  CHECK(world.conductor().total_counts().publications == 2);
  CHECK(world.conductor().total_counts().sent == 4);
  CHECK(world.conductor().total_counts().computations == 3);
}

TEST_CASE("with a timer per link every link has ticks of its own") {
  World world(triangle());
  world.push.transmit_per_link = true;
  world.push.transmit = {TimerLaw::poisson(1)};
  world.run_until(Time{1000s});
  std::vector<std::vector<Time>> by_link(3);
  for (const Seen& tick : world.events.of_kind(Priority::transmit)) {
    REQUIRE(tick.entries.size() == 1);
    by_link[tick.client.value + (tick.entries[0].peer.value == 2 && tick.client.value == 0 ? 2u : 0u)].push_back(tick.at);
  }
  for (std::uint32_t link = 0; link < 3; ++link) {
    CAPTURE(link);
    CHECK(by_link[link].size() == doctest::Approx(1000).epsilon(0.15));
    Timer timer;
    const ClientId sender{link == 1 ? 1u : 0u};
    const std::uint32_t stream = link == 2 ? 2 : 1;
    for (const Time tick : by_link[link])
      REQUIRE(tick == timer.next(TimerLaw::poisson(1), 1, sender, Purpose::transmit_timer, stream));
  }
}

TEST_CASE("a client that no other hears still ticks, and publishes to none") {
  World world(triangle());
  world.push.transmit = {TimerLaw::off(), TimerLaw::off(), ticks({1})};
  world.run_until(Time{5s});
  CHECK(steps_of(world, 2) == Sentences{"publish 0 @1"});
}

TEST_CASE("a message weighs what its link weighs in the window, and its share at departure") {
  World world(triangle());
  world.push.merge_weights = {{0.25, 0.5, 0.125}};  // links 0->1, 0->2, 1->2
  world.push.share_weights = {{3, 5, 7}};
  world.push.limits.window = 1s;
  world.push.transmit = {ticks({1}), ticks({1.5}), TimerLaw::off()};
  world.run_until(Time{5s});
  const auto publishes = world.steps.of_kind(StepKind::publish);
  REQUIRE(publishes.size() == 2);
  CHECK(publishes[0].entries[0].weight == 3);
  CHECK(publishes[0].entries[1].weight == 5);
  CHECK(publishes[1].entries[0].weight == 7);
  const auto merges = world.steps.of_kind(StepKind::merge);
  REQUIRE(merges.size() == 2);
  CHECK(in_words(merges[0]) == "2000001000 merge 0 of 1 [0#0 x0.25 age 1000001000]");
  CHECK(in_words(merges[1]) == "2000001000 merge 0 of 2 [0#0 x0.5 age 1000001000] [1#0 x0.125 age 500001000]");
}

TEST_CASE("weights by batch share one among the messages of a window") {
  World world(topologies::star(5, {0}));
  world.push.needs.weights_by_batch = true;
  world.push.merge_weights = {std::vector<double>(world.graph.links(), 9)};
  world.push.transmit = {TimerLaw::off(), ticks({1}), ticks({1, 2}), ticks({1}), ticks({1})};
  world.run_until(Time{5s});
  const auto merges = world.steps.of_kind(StepKind::merge);
  REQUIRE(merges.size() == 2);
  REQUIRE(merges[0].entries.size() == 4);
  for (const StepEntry& entry : merges[0].entries) CHECK(entry.weight == 0.25);
  CHECK(merges[1].entries.at(0).weight == 1);
}

TEST_CASE("newest only: a window hands over the newest message of each sender, senders ascending, and discards the rest") {
  // 2 hears 1 at 1.0 and 0 at 1.1, 1.2 and 1.3 in one window.
  World world(triangle());
  world.push.needs.keep = Keep::newest;
  world.push.limits.window = 1s;
  world.push.transmit = {ticks({1.1, 1.2, 1.3}), ticks({1}), TimerLaw::off()};
  world.run_until(Time{5s});
  CHECK(steps_of(world, 2) == Sentences{"merge 0 @2 0#2 1#0", "discard 0 @2 0#0", "discard 0 @2 0#1"});
  // 1 hears the same three of 0, whose window opens with the first of them.
  CHECK(world.conductor().total_counts().superseded == 4);
  CHECK(world.conductor().total_counts().kept == 7);
}

TEST_CASE("newest only goes by sequence, not by arrival") {
  // The first message of 0 takes 600 ms, the second, sent 100 ms later, takes 100 ms: it overtakes.
  World world(directed(2, {{{0}, {1}}}));
  world.push.needs.keep = Keep::newest;
  world.push.limits.window = 1s;
  world.push.transmit = {ticks({1, 1.1}), TimerLaw::off()};
  world.channel = std::make_unique<TableChannel>(
      std::vector<std::vector<TableChannel::Turn>>{{{{ClientId{1}, {false, 600ms}}}, {{ClientId{1}, {false, 100ms}}}}, {}});
  world.run_until(Time{5s});
  CHECK(steps_of(world, 1) == Sentences{"merge 0 @2.2 0#1", "discard 0 @2.2 0#0"});
}

TEST_CASE("late and capped messages are discarded at their arrival, with no weight") {
  World world(directed(2, {{{0}, {1}}}));
  world.push.limits = {.window = 1s, .deadline = 200ms, .cap = 1};
  world.push.transmit = {ticks({1, 2, 3}), TimerLaw::off()};
  world.channel = std::make_unique<TableChannel>(std::vector<std::vector<TableChannel::Turn>>{
      {{{ClientId{1}, {false, 300ms}}}, {{ClientId{1}, {false, 200ms}}}, {{ClientId{1}, {false, 100ms}}}}, {}});
  world.run_until(Time{9s});
  const auto discards = world.steps.of_kind(StepKind::discard);
  REQUIRE(discards.size() == 2);
  CHECK(in_words(discards[0]) == "1300000000 discard 0 of 1 [0#0 x0 age 300000000]");
  CHECK(in_words(discards[1]) == "3100000000 discard 0 of 1 [0#2 x0 age 100000000]");
  const MessageCounts counts = world.conductor().total_counts();
  CHECK(counts.late == 1);
  CHECK(counts.capped == 1);
  CHECK(counts.kept == 1);
}

TEST_CASE("snapshot at start: a begin step at the start and after each computation, of the computation to come") {
  World world(triangle());
  world.push.needs.fixes_model_at_start = true;
  world.push.compute = {ticks({1, 2}), TimerLaw::off(), TimerLaw::off()};
  world.push.transmit = {TimerLaw::coupled(1, 1), TimerLaw::off(), TimerLaw::off()};
  world.run_until(Time{5s});
  CHECK(steps_of(world, 0) == Sentences{"begin 0 @0", "compute 0 @1", "begin 1 @1", "publish 0 @1 1#0 2#0", "compute 1 @2",
                                        "begin 2 @2", "publish 1 @2 1#1 2#1"});
}

TEST_CASE("active links: a tick uses the links that the table names for its turn") {
  World world(triangle());
  world.push.links = LinkChoice(ActiveLinks{{{ClientId{2}}, {}, {ClientId{1}, ClientId{2}}}, {}, {}});
  world.push.transmit = {ticks({1, 2, 3}), TimerLaw::off(), TimerLaw::off()};
  world.run_until(Time{5s});
  CHECK(steps_of(world, 0) == Sentences{"publish 0 @1 2#0", "publish 1 @2", "publish 2 @3 1#2 2#2"});
}

TEST_CASE("a window that a unification has emptied does not close the next one early") {
  // Window 1 s. 1 hears 0 at 1.0 and again at 1.8; the unification at 1.5 throws the first away. The second window
  // closes at 2.8, not at 2.0.
  World world(directed(2, {{{0}, {1}}}));
  world.channel = std::make_unique<IdealChannel>(Duration{1ms});
  world.push.limits.window = 1s;
  world.push.transmit = {ticks({0.999, 1.799}), TimerLaw::off()};
  world.settings.unification.period = 1500ms;
  world.settings.unification.clears_mailbox = true;
  world.run_until(Time{2900ms});
  CHECK(steps_of(world, 1) == Sentences{"discard 0 @1.5 0#0", "adopt 1 @1.5 0#1", "merge 0 @2.8 0#1"});
}

TEST_CASE("a window that is open at a unification survives it, unless the plan says otherwise") {
  World world(directed(2, {{{0}, {1}}}));
  world.channel = std::make_unique<IdealChannel>(Duration{1ms});
  world.push.limits.window = 1s;
  world.push.transmit = {ticks({0.999}), TimerLaw::off()};
  world.settings.unification.period = 1500ms;
  world.run_until(Time{2900ms});
  CHECK(steps_of(world, 1) == Sentences{"adopt 1 @1.5 0#1", "merge 0 @2 0#0"});
}

// ---- order and duplicates ------------------------------------------------------------------------------------------

namespace {

// What a link has handed over: the next update that may follow, and how often a whole state was needed.
struct Followed {
  std::uint64_t next = 0;
  std::size_t updates = 0, states = 0;
};

}  // namespace

TEST_CASE(
    "in order: every update of a link follows the last one, or a whole state asked for, through loss, duplicates and "
    "reordering") {
  World world(topologies::ring(4));
  world.push.compute = {TimerLaw::poisson(1)};
  world.push.transmit = {TimerLaw::poisson(1)};
  world.push.needs.in_order = true;
  world.push.may_duplicate = true;
  world.push.limits.window = 100ms;
  world.channel = random_links(2, 0.5, 0.2, 0.3);
  world.run_until(at_seconds(400));

  std::vector<std::uint64_t> published(4);
  std::map<std::pair<ClientId, std::uint64_t>, std::uint64_t> state_after;  // (sender, number of the state) -> updates before it
  std::map<std::pair<ClientId, ClientId>, Followed> links;
  for (const KeptStep& kept : world.steps.steps) {
    const Step& step = kept.step;
    if (step.kind == StepKind::publish && step.message == MessageKind::update) ++published[step.client.value];
    if (step.kind == StepKind::publish && step.message == MessageKind::resync) {
      CHECK(kept.entries.size() == 1);
      state_after[{step.client, step.index}] = published[step.client.value];
    }
    if (step.kind != StepKind::merge) continue;
    for (const StepEntry& entry : kept.entries) {
      Followed& link = links[{entry.peer, step.client}];
      if (step.message == MessageKind::resync) {
        CHECK(state_after.at({entry.peer, entry.sequence}) >= link.next);  // never back
        link.next = state_after.at({entry.peer, entry.sequence});
        ++link.states;
      } else {
        CHECK(entry.sequence == link.next);
        link.next = entry.sequence + 1;
        ++link.updates;
      }
    }
  }
  CHECK(links.size() == 8);
  for (const auto& [ends, link] : links) {
    CHECK(link.updates > 50);
    CHECK(link.states > 10);
  }
  CHECK(world.conductor().total_counts().duplicates > 100);
}

TEST_CASE("a duplicate is known within 1,024 numbers of the highest, and what is older cannot be told from one") {
  DuplicateFilter filter;
  using Verdict = DuplicateFilter::Verdict;
  CHECK(filter.add(5) == Verdict::fresh);
  CHECK(filter.add(5) == Verdict::seen);
  CHECK(filter.add(3) == Verdict::fresh);
  CHECK(filter.add(3) == Verdict::seen);
  CHECK(filter.add(5 + 1023) == Verdict::fresh);
  CHECK(filter.add(5) == Verdict::seen);
  CHECK(filter.add(4) == Verdict::too_old);
  CHECK(filter.add(6) == Verdict::fresh);
  CHECK(filter.add(100'000) == Verdict::fresh);
  CHECK(filter.add(100'000 - 1023) == Verdict::fresh);
  CHECK(filter.add(100'000 - 1024) == Verdict::too_old);
}
