#include "runtime/engine/conductor.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tests/sim/random_world.hpp"

using namespace rubato;
using namespace rubato::test;
using namespace std::chrono_literals;

namespace {

/// Fates by any rule.
class RuledChannel final : public Channel {
 public:
  explicit RuledChannel(std::function<Fate(const LinkUse&)> rule) : rule_{std::move(rule)} {}
  Fate carry(const LinkUse& use) const override { return rule_(use); }

 private:
  std::function<Fate(const LinkUse&)> rule_;
};

std::vector<std::uint32_t> hubs_of(World& world) {
  world.settings.unification.period = 1s;
  world.run_until(Time{6s});
  std::vector<std::uint32_t> hubs;
  for (const Seen& unify : world.events.of_kind(Priority::unify)) hubs.push_back(unify.client.value);
  return hubs;
}

std::vector<std::uint64_t> hashes_of(const Conductor& conductor) {
  std::vector<std::uint64_t> words;
  for (const StepHash& hash : conductor.hashes()) {
    words.push_back(hash.low());
    words.push_back(hash.high());
  }
  return words;
}

using Hubs = std::vector<std::uint32_t>;
using Sentences = std::vector<std::string>;

}  // namespace

TEST_CASE("at every multiple of the period all others take the hub's model, before anything arrives or ticks") {
  World world(directed(3, {{{0}, {1}}, {{0}, {2}}}));
  world.channel = std::make_unique<IdealChannel>(Duration{1s});
  world.push.transmit = {ticks({1, 2}), TimerLaw::off(), TimerLaw::off()};
  world.settings.unification.period = 2s;
  world.run_until(Time{2s});
  CHECK(world.steps.sentences() ==
        Sentences{"1000000000 publish 0 of 0 [1#0 x1 age 0] [2#0 x1 age 0]",
                  "2000000000 publish model 1 of 0 [1#1 x1 age 0] [2#1 x1 age 0]", "2000000000 adopt model 1 of 1 [0#1 x1 age 0]",
                  "2000000000 adopt model 1 of 2 [0#1 x1 age 0]", "2000000000 merge 0 of 1 [0#0 x1 age 1000000000]",
                  "2000000000 merge 0 of 2 [0#0 x1 age 1000000000]", "2000000000 publish 1 of 0 [1#1 x1 age 0] [2#1 x1 age 0]"});
  CHECK(world.conductor().unifications() == 1);
  CHECK(world.conductor().model_messages() == 2);
}

TEST_CASE("hubs go round, stay fixed, follow a table or the greatest degree, or are drawn by seed") {
  World round(topologies::ring(4));
  CHECK(hubs_of(round) == Hubs{0, 1, 2, 3, 0, 1});
  World fixed(topologies::ring(4));
  fixed.settings.unification.policy = HubPolicy::fixed;
  fixed.settings.unification.fixed = {2};
  CHECK(hubs_of(fixed) == Hubs{2, 2, 2, 2, 2, 2});
  World table(topologies::ring(4));
  table.settings.unification.policy = HubPolicy::table;
  table.settings.unification.table = {{3}, {1}, {1}, {0}};
  CHECK(hubs_of(table) == Hubs{3, 1, 1, 0, 3, 1});
  World degree(topologies::path(5));  // 1, 2 and 3 have two neighbours: the lowest
  degree.settings.unification.policy = HubPolicy::max_degree;
  CHECK(hubs_of(degree) == Hubs{1, 1, 1, 1, 1, 1});
  std::set<Hubs> drawn;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    World world(topologies::ring(4), seed);
    world.settings.unification.policy = HubPolicy::random;
    const Hubs hubs = hubs_of(world);
    CHECK(*std::max_element(hubs.begin(), hubs.end()) < 4);
    drawn.insert(hubs);
  }
  CHECK(drawn.size() > 8);
}

TEST_CASE("by transport models take the links' time and losses, and the hub of a unification ignores older ones") {
  // Three clients, unifications at 1 s (hub 0) and 2 s (hub 1). Model 1 reaches 1 at 1.5 s and 2 at 2.6 s; model 2
  // reaches 2 at 2.5 s and 0 never. So 2 adopts model 2, and model 1, which comes after it, is thrown away.
  World world(Graph(3, true, {}));
  world.channel = std::make_unique<RuledChannel>([](const LinkUse& use) -> Fate {
    if (use.receiver.value == 0) return {true, 1s};
    if (use.turn == 1 && use.receiver.value == 2) return {false, 1600ms};
    return {false, 500ms};
  });
  world.settings.unification.period = 1s;
  world.settings.unification.via_transport = true;
  world.run_until(Time{2900ms});
  CHECK(world.steps.sentences() == Sentences{"1000000000 publish model 1 of 0 [1#1 x1 age 0] [2#1 x1 age 0]",
                                             "1500000000 adopt model 1 of 1 [0#1 x1 age 500000000]",
                                             "2000000000 publish model 2 of 1 [0#2 lost x1 age 0] [2#2 x1 age 0]",
                                             "2500000000 adopt model 2 of 2 [1#2 x1 age 500000000]",
                                             "2600000000 discard model 1 of 2 [0#1 x1 age 1600000000]"});
  CHECK(world.conductor().events() == 3);  // three deliveries
  CHECK(world.conductor().total_counts().sent == 0);
}

TEST_CASE("a model that travels takes no token and opens no window") {
  World world(directed(2, {{{0}, {1}}}));
  world.push.limits = {.window = 1s, .cap = 1};
  world.settings.unification.period = 1s;
  world.settings.unification.via_transport = true;
  world.push.transmit = {ticks({3.5}), TimerLaw::off()};
  world.run_until(Time{3600ms});
  const auto arrivals = world.events.of_kind(Priority::arrival);
  REQUIRE(arrivals.size() == 1);
  CHECK(arrivals[0].outcome == Offer::kept);
  CHECK(arrivals[0].tokens == 0);
}

TEST_CASE("tokens are refilled at every multiple of the period of the cap, before a unification of the same instant") {
  World world(topologies::ring(3));
  world.settings.cap_period = 2s;
  world.settings.unification.period = 3s;
  world.run_until(Time{7s});
  CHECK(world.events.sentences() == Sentences{"2000000000 period of 0 number 1", "3000000000 unify of 0 number 1",
                                              "4000000000 period of 0 number 2", "6000000000 period of 0 number 3",
                                              "6000000000 unify of 1 number 2"});
}

TEST_CASE("events at the end of the run still happen, later ones do not") {
  World world(directed(2, {{{0}, {1}}}));
  world.channel = std::make_unique<IdealChannel>(Duration{1s});
  world.push.compute = {TimerLaw::table({Time{5s}, Time{5s + 1ns}}), TimerLaw::off()};
  world.push.transmit = {TimerLaw::table({Time{4s}, Time{4s + 1ns}}), TimerLaw::off()};
  world.run_until(Time{5s});
  CHECK(world.conductor().events() == 4);  // two transmit ticks, one delivery, one compute tick
  CHECK(world.steps.of_kind(StepKind::merge).size() == 1);
  CHECK(world.conductor().flights() == 1);
  CHECK(world.conductor().now() == Time{5s});
}

TEST_CASE("an event is a timer tick or a delivery, kept or refused; nothing else counts") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    const auto world = random_world(seed);
    world->settings.sample_every = 500ms;
    world->run_until(world->settings.until);
    std::uint64_t events = 0;
    for (const Seen& seen : world->events.seen)
      events += seen.kind == Priority::compute || seen.kind == Priority::transmit || seen.kind == Priority::arrival;
    if (world->settings.unification.via_transport)
      for (const KeptStep& kept : world->steps.steps)
        events += kept.step.message == MessageKind::model && kept.step.kind != StepKind::publish;
    REQUIRE(world->conductor().events() == events);
  }
}

TEST_CASE("evaluation changes no event, no step and no hash, by events, by seconds or not at all") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    const auto plain = random_world(seed), watched = random_world(seed);
    watched->settings.sample_every_events = 1 + seed % 7;
    watched->settings.sample_every = 370ms;
    watched->settings.samples_before_unifications = seed % 2 == 0;
    watched->settings.samples_last_state = true;
    plain->run_until(plain->settings.until);
    watched->run_until(watched->settings.until);
    REQUIRE(watched->conductor().samples() > 20);
    REQUIRE(plain->conductor().samples() == 0);
    REQUIRE(plain->events.sentences() == watched->events.sentences());
    REQUIRE(plain->steps.sentences() == watched->steps.sentences());
    REQUIRE(hashes_of(plain->conductor()) == hashes_of(watched->conductor()));
    REQUIRE(plain->conductor().events() == watched->conductor().events());
  }
}

TEST_CASE("a sample every N events is taken at the instant of every N-th event, after all else of that instant") {
  // Ticks at 1, 2, 3, 3, 5, 6, 7 s: the second is at 2, the fourth at 3, the sixth at 6.
  World world(Graph(2, true, {}));
  world.push.compute = {ticks({1, 2, 3, 5, 6, 7}), ticks({3})};
  world.settings.sample_every_events = 2;
  world.run_until(Time{10s});
  std::vector<Time> times;
  for (const StepLog::Sample& sample : world.steps.samples) times.push_back(sample.at);
  CHECK(times == std::vector{Time{2s}, Time{3s}, Time{6s}});
}

TEST_CASE("a sample every so many seconds is taken from the first period on, and at the end") {
  World world(Graph(3, true, {}));
  world.push.compute = {TimerLaw::fixed(0.1, 0.05)};
  world.settings.sample_every = 2s;
  world.settings.samples_last_state = true;
  world.run_until(Time{5s});
  std::vector<Time> times;
  for (const StepLog::Sample& sample : world.steps.samples) times.push_back(sample.at);
  CHECK(times == std::vector{Time{2s}, Time{4s}, Time{5s}});
  std::vector<std::uint32_t> measured;
  for (const KeptStep& measure : world.steps.measures) measured.push_back(measure.step.client.value);
  CHECK(measured == std::vector{0u, 1u, 2u, 0u, 1u, 2u, 0u, 1u, 2u});
  CHECK(world.steps.measures.back().step.index == 2);
}

TEST_CASE("a sample before each unification comes before its steps, once, and the unification takes place") {
  World world(Graph(3, true, {}));
  world.push.compute = {TimerLaw::fixed(1, 0.5)};
  world.settings.unification.period = 2s;
  world.settings.sample_every = 3s;
  world.settings.samples_before_unifications = true;
  world.run_until(Time{6s});
  std::vector<Time> times;
  for (const StepLog::Sample& sample : world.steps.samples) times.push_back(sample.at);
  CHECK(times == std::vector{Time{2s}, Time{3s}, Time{4s}, Time{6s}, Time{6s}});
  for (const std::size_t before : {0u, 2u, 3u}) {
    const std::size_t steps = world.steps.samples[before].steps;
    REQUIRE(steps < world.steps.steps.size());
    CHECK(world.steps.steps[steps].step.message == MessageKind::model);
    CHECK(world.steps.steps[steps].step.at == times[before]);
  }
  CHECK(world.conductor().unifications() == 3);
}

TEST_CASE("a state is not sampled twice, and only as many clients as asked for are measured") {
  World world(Graph(5, true, {}));
  world.push.compute = {TimerLaw::fixed(1, 1)};
  world.settings.sample_every = 1s;
  world.settings.sample_every_events = 5;
  world.settings.samples_last_state = true;
  world.settings.measured = std::make_shared<const std::vector<ClientId>>(std::vector{ClientId{1}, ClientId{3}});
  world.run_until(Time{3s});
  CHECK(world.steps.samples.size() == 3);
  CHECK(world.steps.samples[0].clients == 2);
  const auto asks_for_a_state = [](const KeptStep& kept) { return kept.step.phase != traffic_only; };
  CHECK(std::ranges::count_if(world.steps.measures, asks_for_a_state) == 6);
  CHECK(world.steps.measures.size() == 15);  // the others are asked what they have spent
}

TEST_CASE("the timing alone is the timing of a full run") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    const auto full = random_world(seed), dry = random_world(seed);
    full->run_until(full->settings.until);
    NoSteps nobody;
    dry->build(nobody, nullptr);
    dry->run_until(dry->settings.until);
    REQUIRE(hashes_of(full->conductor()) == hashes_of(dry->conductor()));
    REQUIRE(full->conductor().events() == dry->conductor().events());
    REQUIRE(full->conductor().steps() == dry->conductor().steps());
  }
}

TEST_CASE("another seed gives another timeline, and every client's hash tells") {
  const auto hashes = [](std::uint64_t seed) {
    World world(topologies::ring(5), seed);
    world.push.compute = {TimerLaw::poisson(1)};
    world.run_until(Time{10s});
    return hashes_of(world.conductor());
  };
  const auto one = hashes(1), other = hashes(2);
  CHECK(one == hashes(1));
  for (std::size_t word = 0; word < one.size(); ++word) CHECK(one[word] != other[word]);
}

TEST_CASE("how far the conductor walks at a time changes nothing") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    const auto whole = random_world(seed), stepwise = random_world(seed);
    for (World* world : {whole.get(), stepwise.get()}) {
      world->settings.sample_every_events = 10;
      world->settings.samples_last_state = true;
    }
    while (whole->conductor().walk(1'000'000)) {
    }
    std::size_t before = 0;
    while (stepwise->conductor().walk(1)) {
      const std::size_t after = stepwise->steps.steps.size() + stepwise->steps.measures.size();
      REQUIRE(after <= before + 1 + 2 * stepwise->graph.clients() * 16);  // one event's steps at most
      before = after;
    }
    REQUIRE(whole->steps.sentences() == stepwise->steps.sentences());
    REQUIRE(whole->steps.measures.size() == stepwise->steps.measures.size());
    REQUIRE(whole->events.sentences() == stepwise->events.sentences());
  }
}

TEST_CASE("a unification is handed out step by step, so that nothing has to hold it whole") {
  World world(Graph(1000, true, {}));
  world.settings.unification.period = 1s;
  world.settings.until = Time{1s};
  CHECK(world.conductor().walk(10));
  CHECK(world.steps.steps.size() == 10);
}

TEST_CASE("a walk ends where a sample opens, and its measurements are handed out as many at a time as asked for") {
  World world(Graph(1000, true, {}));
  world.push.compute = {TimerLaw::fixed(1, 1)};
  world.settings.sample_every = 1s;
  world.settings.until = Time{1s};
  CHECK(world.conductor().to_measure() == 0);
  CHECK(world.conductor().walk(1'000'000));
  CHECK(world.steps.measures.empty());
  CHECK(world.conductor().to_measure() == 1000);
  CHECK(world.conductor().walk(10));
  CHECK(world.steps.measures.size() == 10);
  CHECK(world.conductor().to_measure() == 990);
}

TEST_CASE("clients with other numbers live the same lives") {
  // Irregular ticks that never coincide: no tie has to be broken by a client's number.
  const auto tick_table = [](std::uint32_t client) {
    std::vector<double> seconds;
    Stream chance(9, {client}, Purpose::batch);
    for (double at = chance.uniform(); at < 20; at += chance.uniform()) seconds.push_back(at);
    return ticks(std::move(seconds));
  };
  constexpr std::uint32_t clients = 6;
  const std::vector<std::uint32_t> renamed{4, 2, 0, 5, 1, 3};
  const auto lives = [&](const std::function<std::uint32_t(std::uint32_t)>& name) {
    const Graph original = random_digraph(4, clients, 0.6);
    std::vector<Edge> edges;
    for (const Edge& edge : original.edges()) edges.push_back({{name(edge.source.value)}, {name(edge.target.value)}});
    World world(directed(clients, std::move(edges)));
    world.channel = std::make_unique<IdealChannel>(Duration{77'777});
    world.push.limits = {.window = 300ms, .cap = 3};
    world.settings.cap_period = 2s;
    world.push.compute.resize(clients);
    world.push.transmit.resize(clients);
    for (std::uint32_t i = 0; i < clients; ++i) {
      world.push.compute[name(i)] = tick_table(i);
      world.push.transmit[name(i)] = tick_table(i + 100);
    }
    world.run_until(Time{20s});
    std::vector<Seen> seen = world.events.seen;
    std::vector<std::uint32_t> original_of(clients);
    for (std::uint32_t i = 0; i < clients; ++i) original_of[name(i)] = i;
    Sentences sentences;
    for (Seen& one : seen) {
      if (one.kind != Priority::period) one.client.value = original_of[one.client.value];
      if (one.kind == Priority::arrival) one.source.value = original_of[one.source.value];
      for (StepEntry& entry : one.entries) entry.peer.value = original_of[entry.peer.value];
      std::sort(one.entries.begin(), one.entries.end(),
                [](const StepEntry& a, const StepEntry& b) { return std::tie(a.age, a.peer) < std::tie(b.age, b.peer); });
      for (MessageId& id : one.held) id.sender.value = original_of[id.sender.value];
      std::sort(one.held.begin(), one.held.end());
      sentences.push_back(in_words(one));
    }
    std::sort(sentences.begin(), sentences.end());  // copies of one message arrive at one instant
    return sentences;
  };
  const auto same = lives([](std::uint32_t i) { return i; });
  CHECK(same.size() > 500);
  CHECK(same == lives([&](std::uint32_t i) { return renamed[i]; }));
}

TEST_CASE("a run that is stopped ends with the steps it began and one last sample") {
  World world(topologies::ring(10));
  world.push.compute = {TimerLaw::poisson(1)};
  world.settings.unification.period = 1s;
  world.settings.samples_last_state = true;
  world.settings.until = Time{100s};
  while (world.steps.of_kind(StepKind::adopt).size() < 4 && world.conductor().walk(1)) {
  }
  world.conductor().stop();
  world.conductor().stop();  // once is enough
  while (world.conductor().walk(1)) {
  }
  CHECK(world.conductor().is_over());
  CHECK_FALSE(world.conductor().walk(1000));
  CHECK(world.steps.of_kind(StepKind::adopt).size() == 9);  // the unification is carried through
  CHECK(world.conductor().now() == Time{1s});
  CHECK(world.steps.samples.size() == 1);
  CHECK(world.steps.measures.size() == 10);
}

TEST_CASE("the counters of links tell what each of them carried") {
  World world(directed(3, {{{0}, {1}}, {{1}, {2}}}));
  world.settings.counts_links = true;
  world.push.limits = {.deadline = 1s};
  world.push.transmit = {TimerLaw::fixed(1, 1)};
  world.channel = std::make_unique<RuledChannel>([](const LinkUse& use) -> Fate {
    if (use.sender.value == 0) return {use.turn % 2 == 1, 10ms};
    return {false, use.turn < 3 ? Duration{2s} : Duration{1s}};
  });
  world.run_until(Time{11s - 1ns});
  const auto& links = world.conductor().link_counts();
  REQUIRE(links.size() == 2);
  CHECK(links[0].sent == 10);
  CHECK(links[0].lost == 5);
  CHECK(links[0].kept == 5);
  CHECK(links[0].refused() == 0);
  CHECK(links[1].sent == 10);
  CHECK(links[1].lost == 0);
  CHECK(links[1].refused() == 3);
  CHECK(links[1].kept == 6);  // the tenth is under way
}

TEST_CASE("staleness is the age of merged messages when they are merged") {
  World world(directed(2, {{{0}, {1}}}));
  world.channel = std::make_unique<IdealChannel>(Duration{300ms});
  world.push.limits.window = 1s;
  world.push.transmit = {ticks({1, 2}), TimerLaw::off()};
  world.run_until(Time{9s});
  // Both arrive in one window: from 1.3 s to 2.3 s. Ages 1.3 s and 0.3 s.
  CHECK(world.conductor().staleness().count() == 2);
  CHECK(world.conductor().staleness().mean_seconds() == doctest::Approx(0.8));
}

TEST_CASE("a run in which nothing ticks is over at once, at its end") {
  World world(topologies::ring(3));
  world.settings.samples_last_state = true;
  world.run_until(Time{50s});
  CHECK(world.conductor().now() == Time{50s});
  CHECK(world.conductor().events() == 0);
  CHECK(world.steps.samples.size() == 1);
}
