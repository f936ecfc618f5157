// ExperimentRun: a whole experiment on one thread and without actors: its conductor walks the timing, and plain
// performers do every step at once.
#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "actors/core/performer.hpp"
#include "actors/core/task.hpp"
#include "experiment/build/timing.hpp"
#include "runtime/engine/conductor.hpp"

namespace rubato::test {

/// What performers show, by name; what several show under one name is added up.
class AddedVectors final : public Probe {
 public:
  void vector(std::string_view name, std::span<const double> values) override {
    std::vector<double>& sum = sums[std::string(name)];
    sum.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) sum[i] += values[i];
  }
  double largest() const {
    double most = 0;
    for (const auto& [name, sum] : sums)
      for (const double number : sum) most = std::max(most, std::abs(number));
    return most;
  }
  std::map<std::string, std::vector<double>> sums;
};

class ExperimentRun final : public StepSink {
 public:
  explicit ExperimentRun(const config::Experiment& experiment)
      : resolved_{resolve_algorithm(experiment)},
        timing_{experiment, resolved_, notes_},
        task_{task_of(experiment)},
        views_{timing_.views(true)} {
    timing_.conductor.samples_rounds = timing_.protocol() == ProtocolKind::rounds && timing_.misses_nothing();
    for (std::uint32_t i = 0; i < views_.clients(); ++i) performers_.push_back(make_performer({i}));
  }

  /// Called before and after a step, with the payloads of its entries and with what it published.
  std::function<void(const Step&)> before = [](const Step&) {};
  std::function<void(const Step&, std::span<const Payload* const>, const Payload& published)> after = [](const Step&, auto,
                                                                                                         const Payload&) {};
  /// Called at the end of each round, where rounds miss nothing.
  std::function<void()> after_round = [] {};

  std::uint32_t clients() const { return static_cast<std::uint32_t>(performers_.size()); }
  Performer& performer(ClientId client) { return *performers_.at(client.value); }
  ThreadMemory& memory() { return memory_; }
  TensorPool& pool() { return pool_; }

  /// Another one for this seat, as it is at the start.
  std::unique_ptr<Performer> make_performer(ClientId client) {
    return task_->make_performer(views_.of(client, task_->samples()), pool_);
  }

  void run() {
    Conductor conductor(timing_.conductor, timing_.make_protocols(), *this);
    while (conductor.walk(1))
      if (conductor.awaits_answer()) conductor.answer(answer_);
  }

  /// All models, one after the other.
  std::vector<std::byte> models() const {
    std::vector<std::byte> all;
    for (const auto& performer : performers_) {
      const std::span<const std::byte> bytes = performer->model_bytes();
      all.insert(all.end(), bytes.begin(), bytes.end());
    }
    return all;
  }

  /// A step of this performer; returns what it publishes. The payloads are those of the step's entries.
  Payload perform(Performer& performer, const Step& step, std::span<const Payload* const> payloads) {
    StepResult result = performer.perform(step, payloads, memory_);
    if (step.kind == StepKind::decide) answer_ = result.is_yes;
    return std::move(result.published);
  }

  SlotIndex open_slot(std::uint32_t) override {
    messages_.emplace_back();
    return static_cast<SlotIndex>(messages_.size() - 1);
  }

  void perform(const Step& step) override {
    if (step.kind == StepKind::measure) {
      if (step.phase == rubato::after_round && step.client.value + 1 == clients()) after_round();
      return;
    }
    before(step);
    if (is_dead(step.client)) return;
    if (step.kind == StepKind::publish)
      publish(step);
    else
      take(step);
  }

  /// From now on this client does nothing, nobody sends to it, and what it sent before is lost.
  void bury(ClientId client) { dead_.push_back(client); }
  bool is_dead(ClientId client) const { return std::find(dead_.begin(), dead_.end(), client) != dead_.end(); }

  /// Everybody begins a new epoch: what is under way belongs to the old one and is never taken.
  void reset_all() {
    for (std::uint32_t i = 0; i < clients(); ++i)
      if (!is_dead({i})) performers_[i]->perform({.kind = StepKind::reset}, {}, memory_);
    first_of_epoch_ = static_cast<SlotIndex>(messages_.size());
  }

 private:
  struct Message {
    std::vector<ClientId> receivers;  // as its sender knew them
    Payload payload;
  };

  void publish(const Step& step) {
    std::vector<StepEntry> entries;
    for (const StepEntry& entry : step.entries)
      if (!is_dead(entry.peer)) entries.push_back(entry);
    Step to_the_living = step;
    to_the_living.entries = entries;
    Payload published = perform(performer(step.client), to_the_living, {});
    after(to_the_living, {}, published);
    if (entries.empty()) return;
    Message& message = messages_.at(entries.front().slot);
    for (const StepEntry& entry : entries) message.receivers.push_back(entry.peer);
    message.payload = std::move(published);
  }

  void take(const Step& step) {
    std::vector<StepEntry> entries;
    std::vector<const Payload*> payloads;
    for (const StepEntry& entry : step.entries) {
      if (entry.slot < first_of_epoch_ || is_dead(entry.peer)) continue;
      const Message& message = messages_.at(entry.slot);
      entries.push_back(entry);
      const auto own = std::ranges::find(message.receivers, step.client);  // the sender itself takes back at the end
      entries.back().place = static_cast<std::uint32_t>(own - message.receivers.begin());
      payloads.push_back(&message.payload);
    }
    if (payloads.empty() && (step.kind == StepKind::adopt || step.kind == StepKind::reclaim)) return;
    Step with_taken = step;
    with_taken.entries = entries;
    perform(performer(step.client), with_taken, payloads);
    after(with_taken, payloads, {});
  }

  static std::unique_ptr<Task> task_of(const config::Experiment& experiment) {
    if (experiment.precision == Scalar::float64) return make_task<double>(experiment, {}, {});
    return make_task<float>(experiment, {}, {});
  }

  TensorPool pool_;  // first: it outlives everything that holds tensors
  ThreadMemory memory_;
  std::ostringstream notes_;
  ResolvedAlgorithm resolved_;
  Timing timing_;
  std::unique_ptr<Task> task_;
  ClientViews views_;
  std::vector<std::unique_ptr<Performer>> performers_;
  std::vector<ClientId> dead_;
  std::deque<Message> messages_;  // by slot; they stay where they are
  SlotIndex first_of_epoch_ = 0;
  bool answer_ = false;
};

}  // namespace rubato::test
