#include "runtime/protocols/local_rounds.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/support/world.hpp"

using namespace rubato;
using namespace rubato::test;
using namespace std::chrono_literals;

namespace {

// What becomes of one message or note on its way.
struct Way {
  bool is_lost = false;      // by the real link: nobody knows
  bool is_modelled = false;  // a loss that the sender knows of
  Duration delay = 1ms;
  unsigned copies = 0;
};

struct OnTheWay {
  ClientId from, to;
  std::uint32_t tag = 0;
  Sequence sequence = 0;
  std::uint64_t trip = 0;  // of all that ever set out
  MessageKind kind = MessageKind::update;
};

/// Clients in local rounds, their real links, and what is done in their place: alarms, letters, letters once more. No
/// clock.
class Village {
 public:
  explicit Village(Graph of, std::uint64_t seed = 3) : graph{std::move(of)} {
    push.graph = &graph;
    push.seed = seed;
    push.compute = {TimerLaw::fixed(1, 0)};
    push.transmit = {TimerLaw::off()};
    rules.settings = &push;
    rules.unification = &plan;
    rules.ask_after = 100ms;
  }

  Graph graph;
  ClientSettings push;
  RoundSettings rules;
  UnificationPlan plan;
  std::function<Way(const OnTheWay&)> way = [](const OnTheWay&) { return Way{}; };
  std::vector<KeptStep> steps;
  std::size_t asked = 0;

  LocalRounds& client(std::uint32_t i) { return *clients_.at(i).protocol; }

  Village& run_until(Time until) {
    if (clients_.empty()) begin();
    while (!events_.empty() && events_.begin()->first.first <= until) {
      const auto event = events_.begin();
      now_ = event->first.first;
      const auto act = std::move(event->second);
      events_.erase(event);
      act();
    }
    now_ = until;
    return *this;
  }

  /// Nothing that it does or hears counts any more; the others know.
  void leave(std::uint32_t i) {
    fall(i);
    tell_of(i, false);
  }
  /// The same, but nobody has noticed it yet.
  void fall(std::uint32_t i) {
    clients_[i].is_here = false;
    ++clients_[i].life;
  }
  /// With what it had written down, under a new life.
  void come_back(std::uint32_t i, std::span<const std::byte> state) {
    House& house = clients_[i];
    house.is_here = true;
    house.protocol = std::make_unique<LocalRounds>(rules, ClientId{i});
    Archive archive(state);
    house.protocol->archive(archive);
    house.kept.clear();
    tell_of(i, true);
    for (std::uint32_t other = 0; other < clients_.size(); ++other)
      if (other != i) clients_[other].protocol->on_new_life({i});
    act(i, [&](Effects& effects) { house.protocol->resume(now_, effects); });
  }
  void tell_of(std::uint32_t i, bool is_here) {
    for (std::uint32_t other = 0; other < clients_.size(); ++other)
      if (other != i && clients_[other].is_here)
        act(other, [&](Effects& effects) { clients_[other].protocol->on_presence({i}, is_here, now_, effects); });
  }
  std::vector<std::byte> written_down(std::uint32_t i) {
    Archive archive;
    clients_[i].protocol->archive(archive);
    return archive.take();
  }
  /// A message to client i belongs to an older epoch.
  void outdate(std::uint32_t i, ClientId from, std::uint32_t tag) {
    act(i, [&](Effects& effects) {
      clients_[i].protocol->on_outdated({{.id = {from, 0, 0}, .tag = tag, .sent = now_}, no_slot, now_}, effects);
    });
  }
  void at(Time when, std::function<void()> what) { events_[{when, order_++}] = std::move(what); }

  /// The senders of a client's merge steps, a row an exchange.
  std::vector<std::vector<std::uint32_t>> merged_by(std::uint32_t client) const {
    std::vector<std::vector<std::uint32_t>> rows;
    for (const KeptStep& kept : steps) {
      if (kept.step.client != ClientId{client} || kept.step.kind != StepKind::merge) continue;
      rows.emplace_back();
      for (const StepEntry& entry : kept.entries) rows.back().push_back(entry.peer.value);
    }
    return rows;
  }
  MessageCounts counts() const {
    MessageCounts all;
    for (const House& house : clients_) all += house.protocol->counts();
    return all;
  }

 private:
  struct Kept {
    MessageKind kind;
    Sequence sequence;
    std::uint32_t tag;
    Time sent;
    std::vector<ClientId> receivers;
  };
  struct House {
    std::unique_ptr<LocalRounds> protocol;
    std::deque<Kept> kept{};
    std::uint32_t life = 0;
    bool is_here = true;
  };

  void begin() {
    for (std::uint32_t i = 0; i < graph.clients(); ++i) clients_.push_back({std::make_unique<LocalRounds>(rules, ClientId{i})});
    for (std::uint32_t i = 0; i < graph.clients(); ++i) act(i, [&](Effects& effects) { clients_[i].protocol->start(effects); });
  }

  void act(std::uint32_t i, const std::function<void(Effects&)>& what) {
    Effects effects;
    what(effects);
    for (std::size_t k = 0; k < effects.drafts().size(); ++k) {
      Effects::Draft draft = effects.drafts()[k];
      std::vector<StepEntry> entries(effects.entries().begin() + static_cast<std::ptrdiff_t>(draft.first_entry),
                                     effects.entries().begin() + static_cast<std::ptrdiff_t>(draft.first_entry + draft.entries));
      draft.step.entries = entries;
      steps.emplace_back(draft.step);
      if (draft.step.kind == StepKind::publish) publish(i, draft, entries, effects);
    }
    for (const Effects::Request& note : effects.requests()) {
      asked += note.tag % 2 == 0;
      if (const Way taken = way({note.from, note.to, note.tag, 0, trips_++, MessageKind::request}); !taken.is_lost)
        reach(note.to, taken.delay,
              [this, note](LocalRounds& protocol, Effects& more) { protocol.on_request(now_, note.from, note.tag, more); });
    }
    for (const Effects::Repetition& again : effects.repetitions())
      for (const Kept& kept : clients_[i].kept)
        if (kept.kind == again.kind && kept.sequence == again.sequence &&
            std::ranges::find(kept.receivers, again.to) != kept.receivers.end())
          send(i, kept, again.to);
    for (const Wake& wake : effects.wakes()) {
      const std::uint32_t life = clients_[i].life;
      at(wake.at, [this, i, wake, life] {
        if (clients_[i].life != life || !clients_[i].is_here) return;
        act(i, [&](Effects& more) {
          if (wake.priority == Priority::compute)
            clients_[i].protocol->on_compute(now_, wake.detail, more);
          else
            clients_[i].protocol->on_transmit(now_, wake.detail, more);
        });
      });
    }
  }

  void publish(std::uint32_t i, const Effects::Draft& draft, const std::vector<StepEntry>& entries, Effects& effects) {
    if (entries.empty()) return;
    Kept kept{draft.step.message, entries.front().sequence, draft.tag, now_, {}};
    for (const StepEntry& entry : entries) {
      if (way({{i}, entry.peer, draft.tag, entry.sequence, trips_++, draft.step.message}).is_modelled)
        clients_[i].protocol->on_lost(entry.peer, draft.step.message, effects);
      else
        kept.receivers.push_back(entry.peer);
    }
    for (const ClientId receiver : kept.receivers) send(i, kept, receiver);
    REQUIRE(draft.kept_among > 0);
    std::deque<Kept>& all = clients_[i].kept;
    const auto is_alike = [&](const Kept& one) { return one.kind == kept.kind; };
    if (static_cast<std::size_t>(std::ranges::count_if(all, is_alike)) >= draft.kept_among)
      all.erase(std::ranges::find_if(all, is_alike));
    all.push_back(std::move(kept));
  }

  void send(std::uint32_t i, const Kept& kept, ClientId to) {
    const Way taken = way({{i}, to, kept.tag, kept.sequence, trips_++, kept.kind});
    if (taken.is_lost) return;
    const std::uint32_t life = clients_[i].life;
    for (unsigned copy = 0; copy <= taken.copies; ++copy)
      reach(to, taken.delay * (copy + 1), [this, i, to, kept, life](LocalRounds& protocol, Effects& more) {
        if (clients_[i].life != life) return;
        const Arrival arrival{{{{i}, life, kept.sequence}, kept.tag, {}, kept.sent, kept.kind},
                              0,
                              now_,
                              graph.find_link({i}, to).value_or(outside_graph)};
        if (kept.kind == MessageKind::model)
          CHECK(protocol.on_model(arrival, more));
        else
          static_cast<void>(protocol.on_arrival(arrival, more));
      });
  }

  void reach(ClientId to, Duration delay, std::function<void(LocalRounds&, Effects&)> what) {
    const std::uint32_t life = clients_[to.value].life;
    at(now_ + delay, [this, to, life, what = std::move(what)] {
      House& house = clients_[to.value];
      if (house.is_here && house.life == life) act(to.value, [&](Effects& more) { what(*house.protocol, more); });
    });
  }

  std::vector<House> clients_;
  std::map<std::pair<Time, std::uint64_t>, std::function<void()>> events_;
  std::uint64_t order_ = 0, trips_ = 0;
  Time now_{};
};

// What a client does, without saying when.
std::string what_of(const KeptStep& kept) {
  std::string text = std::string(name_of(kept.step.kind)) + " " + std::to_string(kept.step.index) + "/" +
                     std::to_string(kept.step.phase) + (kept.step.with_gradient ? "" : " without gradient");
  for (const StepEntry& entry : kept.entries)
    text += " " + std::to_string(entry.peer.value) + "#" + std::to_string(entry.sequence) + "x" + std::to_string(entry.weight);
  return text;
}

std::vector<std::vector<std::string>> by_client(const std::vector<KeptStep>& steps, std::size_t clients) {
  std::vector<std::vector<std::string>> all(clients);
  for (const KeptStep& kept : steps)
    if (kept.step.kind != StepKind::discard && kept.step.message != MessageKind::model)
      all[kept.step.client.value].push_back(what_of(kept));
  return all;
}

void check_begins_alike(const std::vector<std::vector<std::string>>& one, const std::vector<std::vector<std::string>>& other,
                        std::size_t least) {
  REQUIRE(one.size() == other.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    CAPTURE(i);
    const std::size_t common = std::min(one[i].size(), other[i].size());
    REQUIRE(common >= least);
    for (std::size_t k = 0; k < common; ++k) REQUIRE(one[i][k] == other[i][k]);
  }
}

bool by_chance(const OnTheWay& message, double chance, std::uint32_t salt) {
  return uniform01(draw(salt, message.from, Purpose::delay, message.trip).first) < chance;
}

}  // namespace

TEST_CASE("phases are counted as a loop over all rounds counts them") {
  const PhaseKind exchange = PhaseKind::exchange;
  const RoundProgram programs[] = {
      {},
      {.opening = {Phase{}, Phase{exchange}}, .round = {Phase{exchange}, Phase{}, Phase{exchange}}},
      {.round = {Phase{.kind = exchange, .every = 3, .offset = 1, .first = 4},
                 Phase{.kind = exchange, .every = 5, .offset = 2, .span = 2}}},
      {.round = {Phase{.kind = exchange, .every = 4, .offset = 3, .first = 2, .span = 9}, Phase{.every = 4, .span = 3}}},
  };
  for (const RoundProgram& program : programs) {
    const CountedPhases phases(program);
    std::uint64_t exchanges = 0;
    for (std::uint64_t number = 0; number < 200; ++number) {
      CAPTURE(number);
      REQUIRE(phases.exchanges_before(number) == exchanges);
      exchanges += phases.is_exchange(number);
    }
    CHECK(exchanges > 10);
  }
}

TEST_CASE("every client takes the steps it takes under the barrier of all, however the messages overtake each other") {
  const RoundProgram programs[] = {
      {},
      {.opening = {Phase{PhaseKind::compute}},
       .round = {Phase{.kind = PhaseKind::exchange, .number = 0}, Phase{PhaseKind::compute},
                 Phase{.kind = PhaseKind::exchange, .number = 1}}},
      {.round = {Phase{PhaseKind::begin}, Phase{.kind = PhaseKind::compute, .repeat = 3},
                 Phase{.kind = PhaseKind::exchange, .first = 1}}},
      {.opening = {Phase{PhaseKind::compute}, Phase{PhaseKind::exchange}},
       .round = {Phase{.kind = PhaseKind::exchange, .number = 2, .every = 3, .offset = 2}, Phase{PhaseKind::compute},
                 Phase{.kind = PhaseKind::exchange, .number = 3, .every = 2, .first = 3}}}};
  for (std::uint64_t seed = 1; seed <= 40; ++seed)
    for (const RoundProgram& program : programs) {
      CAPTURE(seed);
      const Graph graph = seed % 2 == 0   ? topologies::ring(6)
                          : seed % 3 == 0 ? topologies::directed_ring(6)
                                          : topologies::exponential(6);
      World world(graph, seed);
      world.in_rounds = true;
      world.push.compute = {TimerLaw::gamma(2, 3)};
      world.push.needs.program = program;
      if (seed % 3 == 0) world.board.send_probability = 0.6;
      if (seed % 5 == 0) world.push.limits.cap = 5, world.board.refill_every = 2;
      if (seed % 4 == 0) {
        world.push.chances.computes.assign(6, 0.5);
        world.push.needs.sporadic.computes = true;
      }
      if (seed % 7 == 0) world.push.links = LinkChoice(graph, seed, {.share = 0.5}, {}, {});
      world.run_until(Time{60s});

      Village village(graph, seed);
      village.push = world.push;
      village.push.graph = &village.graph;
      village.rules.send_probability = world.board.send_probability;
      village.rules.refill_every = world.board.refill_every;
      village.way = [&](const OnTheWay& message) {
        return Way{.delay = by_chance(message, 0.3, 1) ? Duration{2s} : Duration{10ms}, .copies = by_chance(message, 0.2, 2)};
      };
      village.run_until(Time{100s});
      check_begins_alike(by_client(village.steps, 6), by_client(world.steps.steps, 6), 20);
    }
}

TEST_CASE("a neighbour waits for its own neighbours only") {
  Village village(topologies::path(4));
  village.push.compute = {TimerLaw::fixed(1, 0), TimerLaw::fixed(1, 0), TimerLaw::fixed(1, 0), TimerLaw::fixed(5, 0)};
  village.run_until(Time{5s - 1ms});
  CHECK(village.client(2).round() == 0);  // waits for the slow one
  CHECK(village.client(1).round() == 1);
  CHECK(village.client(0).round() == 2);  // one ahead of its neighbour
}

TEST_CASE("what the links lose is asked for and comes again, and nothing is missing") {
  const auto messages_of = [](double loss) {
    Village village(topologies::ring(5));
    village.way = [&](const OnTheWay& message) {
      return Way{.is_lost = by_chance(message, loss, 1), .copies = by_chance(message, loss, 2)};
    };
    village.run_until(Time{60s});
    CHECK((village.asked > 0) == (loss > 0));
    CHECK(village.counts().late == 0);
    CHECK((village.counts().duplicates > 0) == (loss > 0));
    return by_client(village.steps, 5);
  };
  check_begins_alike(messages_of(0.3), messages_of(0), 60);
}

TEST_CASE("who waits in vain waits twice as long before it asks again, up to a limit") {
  Village village(topologies::path(2));
  village.push.compute = {TimerLaw::fixed(1, 0), TimerLaw::fixed(8.5, 0)};
  village.run_until(Time{8500ms});
  CHECK(village.asked == 7);  // 0.1, 0.3, 0.7, 1.5, 3.1, 4.7 and 6.3 s after 1 s
}

TEST_CASE("a message that a modelled link has lost is missing, and no client waits for it") {
  Village village(topologies::complete(3));
  village.way = [](const OnTheWay& message) {
    return Way{.is_modelled = message.kind == MessageKind::update && message.from.value == 0 && message.to.value == 1};
  };
  village.run_until(Time{10s});
  const auto merged = village.merged_by(1);
  CHECK(merged.size() == 9);  // a round takes a second and a little more
  for (const auto& senders : merged) CHECK(senders == std::vector{2u});
  for (const auto& senders : village.merged_by(2)) CHECK(senders == std::vector{0u, 1u});
  CHECK(village.asked == 0);
}

TEST_CASE("in real time stars tell those that they have heard, and the others do not wait") {
  Village village(topologies::complete(3));
  village.push.needs.fanout = {.chosen_by_receiver = true, .stars = Stars::all};
  village.push.needs.program.round = {Phase{.kind = PhaseKind::compute}, Phase{.kind = PhaseKind::exchange},
                                      Phase{.kind = PhaseKind::exchange, .number = 1}};
  village.way = [](const OnTheWay& message) {
    return Way{.is_modelled = message.kind == MessageKind::update && message.from.value == 0 && message.to.value == 1};
  };
  village.run_until(Time{5s});
  const auto merged = village.merged_by(0);
  REQUIRE(merged.size() >= 6);
  for (std::size_t k = 0; k < merged.size(); ++k)  // client 1 has not heard client 0, and tells it nothing
    CHECK(merged[k] == (k % 2 == 0 ? std::vector{1u, 2u} : std::vector{2u}));
  for (const auto& senders : village.merged_by(2)) CHECK(senders == std::vector{0u, 1u});
  CHECK(village.asked == 0);
}

TEST_CASE("whose patience has a limit goes on after it, and what comes later is late") {
  Village village(topologies::path(2));
  village.push.compute = {TimerLaw::fixed(1, 0), TimerLaw::fixed(1.5, 0)};
  village.rules.patience = 200ms;
  village.run_until(Time{3s});
  // 0 sends at 1 and 2.2, 1 at 1.5: 0 has gone on at 1.2.
  CHECK(village.merged_by(0) == std::vector<std::vector<std::uint32_t>>{{}, {}});
  CHECK(village.merged_by(1).front() == std::vector{0u});
  CHECK(village.client(0).counts().late >= 1);
  CHECK(village.asked == 0);
}

TEST_CASE("a message that was under way for longer than the deadline has been waited for and is discarded") {
  Village village(topologies::path(2));
  village.push.limits.deadline = 2s;
  village.way = [](const OnTheWay& message) { return Way{.delay = message.from.value == 0 ? Duration{2s + 1ns} : Duration{2s}}; };
  village.run_until(Time{3500ms});
  CHECK(village.merged_by(0) == std::vector<std::vector<std::uint32_t>>{{1}});
  CHECK(village.merged_by(1) == std::vector<std::vector<std::uint32_t>>{{}});
  CHECK(village.client(1).counts().late == 1);
}

TEST_CASE("a slow client whose neighbours do not wait for it jumps to their round, and holds only what it can still use") {
  Village village(topologies::complete(3));
  village.push.compute = {TimerLaw::fixed(1, 0), TimerLaw::fixed(1, 0), TimerLaw::fixed(7, 0)};
  village.rules.patience = 100ms;
  for (int second = 0; second < 100; ++second) {
    village.run_until(Time{std::chrono::seconds(second)});
    CHECK(village.client(2).held() <= 2 * 3);
  }
  CHECK(village.client(0).round() > 80);
  CHECK(village.client(2).round() + 8 > village.client(0).round());
  CHECK(village.client(2).counts().computations < 16);
}

TEST_CASE("a slow client takes all its local steps while its neighbours wait for it at an exchange many rounds ahead") {
  Village village(topologies::path(2));
  village.push.needs.program.round = {Phase{PhaseKind::compute}, Phase{.kind = PhaseKind::exchange, .every = 20, .offset = 19}};
  village.push.compute = {TimerLaw::fixed(1, 0), TimerLaw::fixed(0.2, 0)};
  village.push.limits.deadline = village.rules.patience = 1000s;
  village.run_until(Time{100s});
  CHECK(village.client(0).round() == 100);
  CHECK(village.counts().late == 0);
  std::size_t computed = 0;
  for (const KeptStep& kept : village.steps) computed += kept.step.kind == StepKind::compute && kept.step.client == ClientId{0};
  CHECK(computed == 100);
}

TEST_CASE("a straggler that has nothing new to say tells its neighbours, and its job goes on in the next round") {
  Village village(topologies::complete(3));
  village.push.needs.send_only_if_computed = true;
  village.push.compute = {TimerLaw::fixed(0.5, 0), TimerLaw::fixed(0.5, 0), TimerLaw::fixed(2.5, 0)};
  village.rules.jobs.phase = 1s;
  village.run_until(Time{7s});
  // Phases of one second: client 2 is done in the third, sixth, ... round.
  const auto merged = village.merged_by(0);
  REQUIRE(merged.size() == 6);
  for (std::size_t round = 0; round < merged.size(); ++round)
    CHECK(merged[round] == (round % 3 == 2 ? std::vector{1u, 2u} : std::vector{1u}));
  CHECK(village.asked == 0);
}

TEST_CASE("who has gone is not waited for, and nothing is sent to it") {
  Village village(topologies::ring(4));
  village.at(Time{2500ms}, [&] { village.leave(3); });
  village.run_until(Time{20s});
  CHECK(village.client(0).round() >= 18);
  CHECK(village.merged_by(0).front() == std::vector{1u, 3u});
  CHECK(village.merged_by(0).back() == std::vector{1u});
  const KeptStep& last = *std::find_if(village.steps.rbegin(), village.steps.rend(), [](const KeptStep& kept) {
    return kept.step.kind == StepKind::publish && kept.step.client == ClientId{0};
  });
  REQUIRE(last.entries.size() == 1);
  CHECK(last.entries.front().peer == ClientId{1});
}

TEST_CASE("who comes back finds the round of the others, and is waited for again") {
  for (const bool is_ring : {true, false}) {
    Village village(is_ring ? topologies::ring(4) : directed(4, {{{0}, {1}}, {{1}, {2}}, {{2}, {3}}, {{3}, {0}}}));
    std::vector<std::byte> state;
    village.at(Time{2500ms}, [&] { state = village.written_down(3); });
    village.at(Time{4500ms}, [&] { village.leave(3); });
    village.at(Time{20500ms}, [&] { village.come_back(3, state); });
    village.run_until(Time{40s});
    CHECK(village.client(0).round() >= 30);
    CHECK(village.client(3).round() + 2 >= village.client(0).round());
    CHECK(village.merged_by(0).back() == (is_ring ? std::vector{1u, 3u} : std::vector{3u}));
    CHECK(village.merged_by(3).back() == (is_ring ? std::vector{0u, 2u} : std::vector{2u}));
  }
}

TEST_CASE("who comes back and says an exchange once more is merged once") {
  Village village(topologies::path(3));
  village.push.compute = {TimerLaw::fixed(1, 0), TimerLaw::fixed(1, 0), TimerLaw::fixed(4, 0)};
  std::vector<std::byte> early;
  village.at(Time{4500ms}, [&] { early = village.written_down(0); });  // 1 waits for 2, and has the message of 0
  village.at(Time{5500ms}, [&] { village.leave(0), village.come_back(0, early); });
  village.run_until(Time{60s});
  CHECK(village.client(1).round() > 10);
  for (const auto& senders : village.merged_by(1)) CHECK(std::ranges::adjacent_find(senders) == senders.end());
}

TEST_CASE("a hub that comes back from an early state is told where the others wait for it") {
  Village village(topologies::ring(4));
  village.rules.unify_every = 100;
  village.way = [](const OnTheWay& message) { return Way{.is_lost = message.kind == MessageKind::model}; };
  std::vector<std::byte> early;
  village.at(Time{1500ms}, [&] { early = village.written_down(0); });
  village.at(Time{101s}, [&] {  // the others wait for its model
    village.fall(0);
    village.way = [](const OnTheWay&) { return Way{}; };
    village.come_back(0, early);
  });
  village.run_until(Time{115s});
  for (std::uint32_t i = 0; i < 4; ++i) CHECK(village.client(i).round() >= 105);
}

TEST_CASE("a question of a client that is far away, or is no neighbour, moves no client that is on its way") {
  Village village(topologies::ring(10));
  village.rules.unify_every = 8;
  village.run_until(Time{}).tell_of(5, true);  // so that somebody has been away
  village.run_until(Time{3500ms});
  const std::uint64_t before = village.client(0).round();
  Effects effects;
  village.client(0).on_request(Time{3500ms}, {3}, 2 * (2 * 8 + (1u << 30)),
                               effects);                                        // where does the hub of round 8 stay?
  village.client(0).on_request(Time{3500ms}, {3}, 2 * (2 * 100 + 1), effects);  // client 3 hears nothing from client 0
  village.run_until(Time{20s});
  CHECK(before == 3);
  std::uint64_t computed = 0;
  for (const KeptStep& kept : village.steps) computed += kept.step.kind == StepKind::compute && kept.step.client == ClientId{0};
  CHECK(computed == village.client(0).round());
}

TEST_CASE("a client that was saved between its local steps takes the rest of them") {
  Village village(topologies::path(2));
  village.push.needs.program.round = {Phase{.kind = PhaseKind::compute, .repeat = 5}, Phase{PhaseKind::exchange}};
  std::vector<std::byte> saved;
  village.at(Time{7500ms}, [&] { saved = village.written_down(0); });  // 2 of round 1
  village.at(Time{8500ms}, [&] { village.leave(0), village.come_back(0, saved); });
  std::size_t before = 0;
  village.at(Time{8500ms}, [&] { before = village.steps.size(); });
  village.run_until(Time{30s});
  std::size_t computed = 0;
  for (std::size_t i = before; i < village.steps.size(); ++i) {
    const Step& step = village.steps[i].step;
    if (step.client != ClientId{0}) continue;
    if (step.kind == StepKind::publish) break;
    computed += step.kind == StepKind::compute;
  }
  CHECK(computed == 3);
}

TEST_CASE("a neighbour that claims to be anywhere moves no client that is waited for, and what it may leave here is bounded") {
  for (const bool has_patience : {false, true}) {
    Village village(topologies::path(3));
    if (has_patience) village.rules.patience = 10s;
    village.push.compute = {TimerLaw::fixed(1, 0), TimerLaw::fixed(1, 0), TimerLaw::off()};
    village.run_until(Time{1500ms});
    Effects effects;
    const MessageCounts before = village.counts();
    for (std::uint32_t i = 0; i < 5000; ++i) {
      const std::uint32_t tag = i < 3000 ? 2 * i + 1 : (1u << 30) - 2 * i + 1;
      static_cast<void>(
          village.client(1).on_arrival({{.id = {{2}, 0, 1000 + i}, .tag = tag, .sent = Time{1s}}, 0, Time{1500ms}}, effects));
    }
    CHECK(village.client(1).held() < 40);
    CHECK(village.counts().kept < before.kept + (has_patience ? 4000 : 40));
  }
}

TEST_CASE("a message of an older epoch is not used, and not waited for either") {
  Village village(topologies::path(2));
  village.push.compute = {TimerLaw::fixed(1, 0), TimerLaw::fixed(100, 0)};
  village.run_until(Time{2s}).outdate(0, {1}, 1);
  CHECK(village.client(0).round() == 1);
  CHECK(village.merged_by(0) == std::vector<std::vector<std::uint32_t>>{{}});
  village.outdate(0, {1}, 3);  // before it waits for it
  village.run_until(Time{4s});
  CHECK(village.client(0).round() == 2);
}

TEST_CASE("two who come back at once to where they were, one of them further, meet again") {
  Village village(topologies::path(2));
  std::vector<std::byte> early, late;
  village.at(Time{2500ms}, [&] { early = village.written_down(0); });
  village.at(Time{6500ms}, [&] { late = village.written_down(1); });
  village.at(Time{8500ms}, [&] { village.leave(0), village.leave(1); });
  village.at(Time{9s}, [&] { village.come_back(0, early); });
  village.at(Time{9s}, [&] { village.come_back(1, late); });
  village.run_until(Time{30s});
  CHECK(village.client(0).round() > 20);
  CHECK(village.merged_by(0).back() == std::vector{1u});
  CHECK(village.merged_by(1).back() == std::vector{0u});
}

TEST_CASE("no client waits for ever, whatever is lost and whichever clients come and go") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    Village village(seed % 2 == 0 ? topologies::ring(5) : topologies::exponential(5), seed);
    village.push.compute = {TimerLaw::gamma(2, 3)};
    village.push.needs.program.round = {Phase{.kind = PhaseKind::exchange, .number = 1}, Phase{PhaseKind::compute},
                                        Phase{.kind = PhaseKind::exchange, .every = 2}};
    if (seed % 3 == 0) village.rules.patience = 700ms;
    if (seed % 5 == 0) village.rules.unify_every = 4;
    if (seed % 7 == 0) village.rules.send_probability = 0.5;
    village.way = [&](const OnTheWay& message) {
      const auto salt = static_cast<std::uint32_t>(seed);
      return Way{.is_lost = by_chance(message, 0.15, salt),
                 .is_modelled = by_chance(message, 0.1, salt + 1000),
                 .delay = by_chance(message, 0.2, salt + 2000) ? Duration{1500ms} : Duration{5ms},
                 .copies = by_chance(message, 0.1, salt + 3000)};
    };
    std::vector<std::vector<std::byte>> states(5);
    Stream chance(seed, no_client, Purpose::churn);
    Time when{};
    for (int visit = 0; visit < 12; ++visit) {
      const auto who = static_cast<std::uint32_t>(chance.below(5));
      when += std::chrono::milliseconds(200 + chance.below(3000));
      village.at(when, [&village, &states, who] { states[who] = village.written_down(who); });
      when += std::chrono::milliseconds(chance.below(3000));
      village.at(when, [&village, who] { village.leave(who); });
      when += std::chrono::milliseconds(chance.below(3000));
      village.at(when, [&village, &states, who] { village.come_back(who, states[who]); });
    }
    village.run_until(when);
    village.way = [](const OnTheWay&) { return Way{}; };
    village.run_until(when + 60s);
    std::uint64_t least = ~std::uint64_t{0}, most = 0;
    std::vector<std::uint64_t> before;
    for (std::uint32_t i = 0; i < 5; ++i) before.push_back(village.client(i).round());
    village.run_until(when + 120s);
    for (std::uint32_t i = 0; i < 5; ++i) {
      CHECK(village.client(i).round() > before[i] + 15);
      least = std::min(least, village.client(i).round());
      most = std::max(most, village.client(i).round());
    }
    CHECK(least + 20 > most);
  }
}

TEST_CASE("at a unification everybody takes the hub's model before the next round, once, and who lost it asks for it") {
  for (const double loss : {0.0, 0.4}) {
    Village village(topologies::ring(4));
    village.rules.unify_every = 2;
    village.way = [&](const OnTheWay& message) { return Way{.is_lost = by_chance(message, loss, 1)}; };
    village.run_until(Time{100s});
    std::vector<std::vector<std::string>> of(4);
    for (const KeptStep& kept : village.steps)
      if (kept.step.kind != StepKind::discard) of[kept.step.client.value].push_back(what_of(kept));
    const std::vector<std::string> one_round{"compute", "publish", "merge"};
    for (std::uint32_t i = 0; i < 4; ++i) {
      std::vector<std::string> expected;
      for (std::uint64_t round = 1; expected.size() < of[i].size(); ++round) {
        expected.insert(expected.end(), one_round.begin(), one_round.end());
        if (round % 2 == 0) expected.push_back((round / 2 - 1) % 4 == i ? "publish" : "adopt");
      }
      REQUIRE(of[i].size() > 30);
      for (std::size_t k = 0; k < of[i].size(); ++k) REQUIRE(of[i][k].substr(0, expected[k].size()) == expected[k]);
    }
  }
}

TEST_CASE("phases are counted through the opening and the rounds, and so are the exchanges before them") {
  const RoundProgram program{.opening = {Phase{PhaseKind::compute}, Phase{PhaseKind::exchange}},
                             .round = {Phase{.kind = PhaseKind::exchange, .every = 3, .offset = 2}, Phase{PhaseKind::compute},
                                       Phase{.kind = PhaseKind::exchange, .every = 2, .first = 3}}};
  const CountedPhases phases(program);
  std::uint64_t exchanges = 0;
  for (std::uint64_t number = 0; number < 100; ++number) {
    CAPTURE(number);
    CHECK(phases.exchanges_before(number) == exchanges);
    CHECK(phases.round_of(number) == (number < 2 ? 0 : (number - 2) / 3));
    exchanges += phases.is_exchange(number);
  }
  CHECK(exchanges > 20);
}
