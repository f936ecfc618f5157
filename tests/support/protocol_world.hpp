// A small world for any protocol: a graph, links, timers, and the steps of a run as sentences.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/world/churn.hpp"
#include "tests/support/world.hpp"

namespace rubato::test {

using Sentences = std::vector<std::string>;

/// "1.5: 0 publish/1 -> 2 3", "2: 3 merge/0 <- 0#4": time, client, kind and phase; receivers, or senders and sequences.
inline std::string sentence_of(const Step& step) {
  std::ostringstream words;
  words << to_seconds(step.at) << ": " << step.client.value << " " << name_of(step.kind) << "/" << unsigned{step.phase};
  if (!step.entries.empty()) words << (step.kind == StepKind::publish ? " ->" : " <-");
  for (const StepEntry& entry : step.entries) {
    words << " " << entry.peer.value;
    if (step.kind != StepKind::publish) words << "#" << entry.sequence;
    if (entry.lost) words << " lost";
  }
  return words.str();
}

/// Keeps the steps as sentences, and counts receivers that have done nothing about a payload.
class StepSentences final : public StepSink {
 public:
  SlotIndex open_slot(std::uint32_t receivers) override {
    wanted_ += receivers;
    return slots_++;
  }
  void perform(const Step& step) override {
    all.push_back(sentence_of(step));
    steps.push_back(step);
    steps.back().entries = {};
    if (step.kind != StepKind::publish) wanted_ -= step.entries.size();
  }

  Sentences all;
  std::vector<Step> steps;  // without entries
  std::uint64_t wanted() const { return wanted_; }

  /// The sentences of one client.
  Sentences of(std::uint32_t client) const {
    Sentences some;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (steps[i].client.value == client) some.push_back(all[i]);
    return some;
  }
  Sentences of_kind(StepKind kind) const {
    Sentences some;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (steps[i].kind == kind) some.push_back(all[i]);
    return some;
  }

  struct Which {
    StepKind kind{};
    std::uint32_t client = 0;
    std::uint8_t phase = 0;
    Time from{}, until = Time::max();
  };
  std::int64_t count(const Which& which) const {
    return std::ranges::count_if(steps, [&](const Step& step) {
      return step.kind == which.kind && step.client.value == which.client && step.phase == which.phase && which.from <= step.at &&
             step.at < which.until;
    });
  }

 private:
  std::uint64_t wanted_ = 0;
  SlotIndex slots_ = 0;
};

inline ChurnLine crash(Duration at, std::vector<ClientId> clients) {
  return {.at = Time{at}, .what = ChurnLine::What::crash, .clients = std::move(clients)};
}
/// With their first states.
inline ChurnLine restart(Duration at, std::vector<ClientId> clients) {
  return {.at = Time{at}, .what = ChurnLine::What::restart, .clients = std::move(clients), .from = Origin::start};
}

/// Set what differs from the usual, then run once. As it stands: no timer ticks, links take a tenth of a second,
/// nothing is lost or late.
class ProtocolWorld {
 public:
  explicit ProtocolWorld(Graph of, std::uint64_t seed = 1) : graph{std::move(of)} {
    push.graph = &graph;
    push.seed = seed;
    push.compute = {TimerLaw::off()};
    push.transmit = {TimerLaw::off()};
    settings.seed = seed;
    settings.graph = &graph;
    settings.samples_last_state = false;
  }
  ProtocolWorld(const ProtocolWorld&) = delete;
  ProtocolWorld& operator=(const ProtocolWorld&) = delete;

  Graph graph;
  std::unique_ptr<Channel> channel = std::make_unique<IdealChannel>(Duration{100'000'000});
  ClientSettings push;
  ConductorSettings settings;
  /// Called at the end of every round.
  std::function<void(Time, std::uint64_t)> on_round = [](Time, std::uint64_t) {};

  /// These clients have ticks at these seconds, and no other has any.
  void compute_of(const std::map<std::uint32_t, std::vector<double>>& seconds) { push.compute = laws_of(seconds); }
  void transmit_of(const std::map<std::uint32_t, std::vector<double>>& seconds) { push.transmit = laws_of(seconds); }

  void reseed(std::uint64_t seed) { push.seed = settings.seed = seed; }
  /// Who comes and goes; a crash is noticed so much later.
  void churn(const std::vector<ChurnLine>& lines, Duration notice) {
    plan_ = ChurnPlan(graph.clients(), lines, {.notice = notice, .checkpoint_every = {}});
    settings.churn = &plan_;
  }

  /// make(client) makes the automaton of a client.
  template <class Make>
  Conductor& run(Make make, StepSink& sink, double seconds) {
    settings.channel = channel.get();
    settings.until = Time{from_seconds(seconds)};
    std::vector<std::unique_ptr<Protocol>> protocols;
    for (std::uint32_t i = 0; i < graph.clients(); ++i) protocols.push_back(make(ClientId{i}));
    observer_.world = this;
    conductor_ = std::make_unique<Conductor>(settings, std::move(protocols), sink, &observer_);
    while (conductor_->walk(1000)) {
    }
    return *conductor_;
  }

 private:
  class Observer final : public EventObserver {
   public:
    void on_round(Time at, std::uint64_t round) override { world->on_round(at, round); }
    ProtocolWorld* world = nullptr;
  };
  std::vector<TimerLaw> laws_of(const std::map<std::uint32_t, std::vector<double>>& seconds) const {
    std::vector<TimerLaw> laws(graph.clients(), TimerLaw::off());
    for (const auto& [client, at] : seconds) laws[client] = ticks(at);
    return laws;
  }

  Observer observer_;
  ChurnPlan plan_;
  std::unique_ptr<Conductor> conductor_;
};

/// Ends of rounds: number, seconds.
using Marks = std::vector<std::pair<std::uint64_t, double>>;

/// For protocols in rounds: client i computes for i + 1 seconds.
struct RoundWorld : ProtocolWorld {
  explicit RoundWorld(Graph of) : ProtocolWorld(std::move(of)) {
    push.compute.clear();
    for (std::uint32_t i = 0; i < graph.clients(); ++i) push.compute.push_back(TimerLaw::fixed(i + 1.0, 0));
    on_round = [&](Time at, std::uint64_t round) { rounds.push_back({round, to_seconds(at)}); };
  }

  StepSentences steps;
  Marks rounds;
};

/// Messages are late, lost and, for every fourth seed, doubled; for every fifth there is no deadline and lost ones are
/// sent again. True where they are doubled.
inline bool under_bad_links(ProtocolWorld& world, std::uint64_t seed) {
  const bool doubles = seed % 4 == 0, waits = seed % 5 == 0;
  world.reseed(seed);
  world.push.compute = {TimerLaw::gamma(2, 3)};
  world.push.limits.deadline = waits ? Duration::max() : Duration{std::chrono::seconds(2)};
  world.settings.retransmits = waits;
  world.channel = random_links(seed, 0.5, 0.3, doubles ? 0.3 : 0);
  return doubles;
}

/// REQUIREs that it is known of each message what has become of it.
inline void require_balance(const Conductor& conductor, bool doubles) {
  const MessageCounts counts = conductor.total_counts();
  const std::uint64_t known = counts.lost + counts.kept + counts.late + counts.duplicates + conductor.under_way();
  REQUIRE((doubles ? counts.sent <= known : counts.sent == known));
  REQUIRE(doubles == (counts.duplicates > 0));
}

/// Links that take a tenth of a second, but for these messages: (sender, sequence, receiver) -> seconds, negative if
/// lost. Requests are lost, all of them, or none.
class ScriptedLinks final : public Channel {
 public:
  using Exceptions = std::map<std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>, double>;

  explicit ScriptedLinks(Exceptions exceptions, bool loses_requests = false)
      : exceptions_{std::move(exceptions)}, loses_requests_{loses_requests} {}
  Fate carry(const LinkUse& use) const override {
    Fate usual;
    usual.delay = Duration{100'000'000};
    usual.lost = use.kind == MessageKind::request && loses_requests_;
    if (use.kind == MessageKind::request || use.attempt > 0) return usual;
    const auto found = exceptions_.find({use.sender.value, use.turn, use.receiver.value});
    if (found == exceptions_.end()) return usual;
    usual.lost = found->second < 0;
    if (!usual.lost) usual.delay = from_seconds(found->second);
    return usual;
  }

 private:
  Exceptions exceptions_;
  bool loses_requests_;
};

}  // namespace rubato::test
