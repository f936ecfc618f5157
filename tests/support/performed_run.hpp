// A run on one thread: algorithms in their seats perform every step at once, and payloads are let go of when all are
// done.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "algos/catalogue.hpp"
#include "runtime/engine/step_source.hpp"

namespace rubato::test {

class PerformedRun final : public StepSink {
 public:
  /// Client i learns from learners[i] and starts from starts[i]; balances are kept.
  PerformedRun(const Graph& graph, std::vector<std::unique_ptr<Learner<double>>> learners, const AlgorithmFactory<double>& factory,
               const std::vector<Vector<double>>& starts, bool in_rounds, bool counts_increments = false)
      : graph_{graph}, learners_{std::move(learners)} {
    for (const auto& learner : learners_) samples_.push_back(learner->samples());
    for (std::uint32_t i = 0; i < learners_.size(); ++i) {
      const ClientView client_view{.client = {i},
                                   .senders = graph_.senders_to({i}),
                                   .receivers = graph_.receivers_of({i}),
                                   .samples = samples_,
                                   .in_rounds = in_rounds,
                                   .keeps_balance = true,
                                   .counts_increments = counts_increments};
      algorithms_.push_back(factory(client_view, read_only(starts[i]), pool_));
    }
  }

  const std::vector<std::unique_ptr<Algorithm<double>>>& algorithms() const { return algorithms_; }
  Vector<double> model(std::uint32_t client) const { return algorithms_.at(client)->model(); }

  SlotIndex open_slot(std::uint32_t receivers) override {
    waiting_.push_back(receivers);
    payloads_.emplace_back();
    return static_cast<SlotIndex>(payloads_.size() - 1);
  }
  void perform(const Step& step) override {
    if (step.kind == StepKind::measure) return;
    Algorithm<double>& algorithm = *algorithms_.at(step.client.value);
    const BatchPlan plan{1, step.client, 0, nullptr};
    Work<double> work(*learners_[step.client.value], plan, scratch_, pool_);
    if (step.kind == StepKind::begin) algorithm.begin(work);
    if (step.kind == StepKind::compute) algorithm.compute(work, step);
    if (step.kind == StepKind::publish) return publish(algorithm, work, step);
    if (step.kind == StepKind::reset) algorithm.reset(work);
    if (step.kind == StepKind::reclaim) algorithm.reclaim(work, step, payloads_[step.entries.front().slot]);
    if (step.kind == StepKind::save) saved_[{step.client, step.index}] = archived(algorithm);
    if (step.kind == StepKind::load) load(algorithm, saved_.at({step.client, step.index}));
    if (step.kind == StepKind::adopt)
      algorithm.adopt(numbers_of<double>(std::as_const(payloads_[step.entries.front().slot].common[0])));
    if (step.kind == StepKind::merge) {
      std::vector<Received<double>> window;
      for (const StepEntry& entry : step.entries)
        window.push_back({entry.peer, entry.sequence, entry.weight, entry.age, payloads_[entry.slot], entry.place});
      algorithm.merge(work, step, window);
    }
    if (step.kind == StepKind::decide) answers_.push_back(algorithm.decide(work, step));
    for (const StepEntry& entry : step.entries)
      if (--waiting_[entry.slot] == 0) payloads_[entry.slot] = {};
  }

  /// To the decide step that was performed last.
  bool answer() const { return answers_.back(); }

 private:
  static std::vector<std::byte> archived(Algorithm<double>& algorithm) {
    Archive archive;
    algorithm.archive(archive);
    return archive.take();
  }
  void load(Algorithm<double>& algorithm, const std::vector<std::byte>& state) {
    Archive archive(state, pool_);
    algorithm.archive(archive);
    archive.expect_end();
  }
  void publish(Algorithm<double>& algorithm, Work<double>& work, const Step& step) {
    Payload payload;
    if (step.message == MessageKind::model)
      payload.common[0] = copy_of<double>(algorithm.model(), pool_);
    else
      payload = algorithm.publish(work, step);
    if (!step.entries.empty()) payloads_[step.entries.front().slot] = std::move(payload);
  }

  TensorPool pool_;  // first: it outlives everything that holds tensors
  Scratch<double> scratch_;
  Graph graph_;
  std::vector<std::unique_ptr<Learner<double>>> learners_;
  std::vector<std::uint32_t> samples_;
  std::vector<std::unique_ptr<Algorithm<double>>> algorithms_;
  std::vector<Payload> payloads_;
  std::vector<std::uint32_t> waiting_;
  std::map<std::pair<ClientId, std::uint64_t>, std::vector<std::byte>> saved_;
  std::vector<bool> answers_;
};

}  // namespace rubato::test
