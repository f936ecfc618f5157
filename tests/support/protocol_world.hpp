// A small world for any protocol: a graph, links, timers, and the steps of a run as sentences.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/conductor.hpp"
#include "runtime/protocols/push.hpp"
#include "runtime/world/channel.hpp"
#include "runtime/world/graph.hpp"

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
  void open_sample(std::uint64_t, Time, std::uint32_t) override {}

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

 private:
  std::uint64_t wanted_ = 0;
  SlotIndex slots_ = 0;
};

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
  PushSettings push;
  ConductorSettings settings;
  /// Called at the end of every round.
  std::function<void(Time, std::uint64_t)> on_round = [](Time, std::uint64_t) {};

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
  Observer observer_;
  std::unique_ptr<Conductor> conductor_;
};

/// Ticks at these seconds.
inline TimerLaw ticks_at(const std::vector<double>& seconds) {
  std::vector<Time> times;
  for (const double second : seconds) times.push_back(Time{from_seconds(second)});
  return TimerLaw::table(std::move(times));
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
