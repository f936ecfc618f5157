// A run under any protocol, without actors: every step is kept, and performed at once by algorithms that know their
// seats.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "algos/algorithm.hpp"
#include "algos/catalogue.hpp"
#include "tests/support/protocol_world.hpp"

namespace rubato::test {

/// What an algorithm shows, by name.
class ShownVectors final : public Probe {
 public:
  void vector(std::string_view name, std::span<const double> values) override {
    seen[std::string(name)] = Eigen::Map<const Vector<double>>(values.data(), static_cast<Index>(values.size()));
  }
  std::map<std::string, Vector<double>> seen;
};

/// The clients of a run. Give it to ProtocolWorld::run as its sink.
class SeatedRun final : public StepSink {
 public:
  /// Client i learns from learners[i] and starts from starts[i]; `choices` is empty or holds a table for each client.
  SeatedRun(Graph graph, std::vector<std::unique_ptr<Learner<double>>> learners, const AlgorithmFactory<double>& factory,
            const std::vector<Vector<double>>& starts, ClientId centre = {}, std::vector<ChoiceTable> choices = {},
            std::vector<std::uint32_t> samples = {})
      : graph_{std::move(graph)}, learners_{std::move(learners)}, choices_{std::move(choices)}, samples_{std::move(samples)} {
    if (samples_.empty())
      for (const auto& learner : learners_) samples_.push_back(learner->samples());
    for (std::uint32_t i = 0; i < starts.size(); ++i) {
      const Vector<double> start = starts[i];
      const ClientView client_view{.client = {i},
                                   .senders = graph_.senders_to({i}),
                                   .receivers = graph_.receivers_of({i}),
                                   .samples = samples_,
                                   .centre = centre};
      algorithms_.push_back(factory(client_view, view(start), pool_));
    }
  }

  /// Called after each step.
  std::function<void(const Step&)> after = [](const Step&) {};

  std::uint32_t clients() const { return static_cast<std::uint32_t>(algorithms_.size()); }
  Vector<double> model(std::uint32_t client) const { return algorithms_[client]->model(); }
  Vector<double> snapshot(std::uint32_t client) {
    const BatchPlan plan = plan_of({client});
    Work<double> work(*learners_[client], plan, scratch_, pool_);
    const Tensor copy = algorithms_[client]->snapshot(work);
    return numbers_of<double>(copy);
  }
  /// Throws std::out_of_range if the client shows nothing of this name.
  Vector<double> shown(std::uint32_t client, const std::string& name) const {
    ShownVectors probe;
    algorithms_[client]->inspect(probe);
    return probe.seen.at(name);
  }

  SlotIndex open_slot(std::uint32_t) override {
    payloads_.emplace_back();
    return static_cast<SlotIndex>(payloads_.size() - 1);
  }
  void perform(const Step& step) override {
    Algorithm<double>& algorithm = *algorithms_.at(step.client.value);
    const BatchPlan plan = plan_of(step.client);
    Work<double> work(*learners_[step.client.value], plan, scratch_, pool_);
    if (step.kind == StepKind::begin) algorithm.begin(work);
    if (step.kind == StepKind::compute) algorithm.compute(work, step);
    if (step.kind == StepKind::publish) payloads_.at(step.entries.front().slot) = algorithm.publish(work, step);
    if (step.kind == StepKind::merge) {
      std::vector<Received<double>> window;
      for (const StepEntry& entry : step.entries)
        window.push_back({entry.peer, entry.sequence, entry.weight, entry.age, payloads_.at(entry.slot), entry.place});
      algorithm.merge(work, step, window);
    }
    after(step);
  }

 private:
  BatchPlan plan_of(ClientId client) const { return {1, client, 0, choices_.empty() ? nullptr : &choices_[client.value]}; }

  TensorPool pool_;  // first: it outlives everything that holds tensors
  Scratch<double> scratch_;
  Graph graph_;
  std::vector<std::unique_ptr<Learner<double>>> learners_;
  std::vector<ChoiceTable> choices_;
  std::vector<std::uint32_t> samples_;
  std::vector<std::unique_ptr<Algorithm<double>>> algorithms_;
  std::vector<Payload> payloads_;
};

}  // namespace rubato::test
