// A run without actors: every step is performed at once, on this thread, in the order in which it was issued.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "algos/algorithm.hpp"
#include "algos/catalogue.hpp"
#include "runtime/engine/step_source.hpp"

namespace rubato::test {

template <class Real>
class SerialRun final : public StepSink {
 public:
  /// Client i learns from learners[i] and starts from starts[i].
  SerialRun(std::vector<std::unique_ptr<Learner<Real>>> learners, const AlgorithmFactory<Real>& factory,
            const std::vector<Vector<Real>>& starts)
      : learners_{std::move(learners)} {
    for (std::uint32_t i = 0; i < starts.size(); ++i) algorithms_.push_back(factory({i}, view(starts[i]), pool_));
  }

  /// Called before and after each step.
  std::function<void(const Step&)> before = [](const Step&) {};
  std::function<void(const Step&)> after = [](const Step&) {};

  Vector<Real> model(ClientId client) const { return algorithms_[client.value]->model(); }
  std::size_t clients() const { return algorithms_.size(); }
  const Payload& payload(SlotIndex slot) const { return payloads_.at(slot); }

  /// sum over clients of the squared distance to the mean model
  double disagreement() const {
    Vector<double> sum = Vector<double>::Zero(algorithms_[0]->model().size());
    for (const auto& algorithm : algorithms_) sum += algorithm->model().template cast<double>();
    sum /= static_cast<double>(clients());
    double squares = 0;
    for (const auto& algorithm : algorithms_) squares += (algorithm->model().template cast<double>() - sum).squaredNorm();
    return squares;
  }

  SlotIndex open_slot(std::uint32_t) override {
    payloads_.emplace_back();
    return static_cast<SlotIndex>(payloads_.size() - 1);
  }
  void perform(const Step& step) override {
    before(step);
    act(step);
    after(step);
  }

 private:
  void act(const Step& step) {
    Algorithm<Real>& algorithm = *algorithms_.at(step.client.value);
    const BatchPlan plan{1, step.client, 0, nullptr};
    Work<Real> work(*learners_.at(step.client.value), plan, scratch_, pool_);
    if (step.kind == StepKind::begin) algorithm.begin(work);
    if (step.kind == StepKind::compute) algorithm.compute(work, step);
    if (step.kind == StepKind::publish && !step.entries.empty())
      payloads_.at(step.entries.front().slot) = published(algorithm, work, step);
    if (step.kind == StepKind::merge) merge(algorithm, work, step);
    if (step.kind == StepKind::adopt)
      algorithm.adopt(numbers_of<Real>(std::as_const(payloads_.at(step.entries.front().slot).common[0])));
  }
  Payload published(Algorithm<Real>& algorithm, Work<Real>& work, const Step& step) {
    if (step.message == MessageKind::update) return algorithm.publish(work, step);
    Payload model;
    model.common[0] = copy_of<Real>(algorithm.model(), pool_);
    return model;
  }
  void merge(Algorithm<Real>& algorithm, Work<Real>& work, const Step& step) {
    std::vector<Received<Real>> window;
    for (const StepEntry& entry : step.entries)
      window.push_back({entry.peer, entry.sequence, entry.weight, entry.age, payloads_.at(entry.slot), entry.place});
    algorithm.merge(work, step, window);
  }

  TensorPool pool_;  // first: it outlives everything that holds tensors
  Scratch<Real> scratch_;
  std::vector<std::unique_ptr<Learner<Real>>> learners_;
  std::vector<std::unique_ptr<Algorithm<Real>>> algorithms_;
  std::vector<Payload> payloads_;
};

}  // namespace rubato::test
