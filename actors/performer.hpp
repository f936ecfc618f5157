// The numeric half of one client, ready to perform steps: algorithm, learner and batches behind one face for both scalars.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "algos/algorithm.hpp"
#include "transports/in_process.hpp"

namespace rubato {

class Client;

/// Memory of a worker thread; lent to whichever client it runs.
struct ThreadMemory {
  Scratch<float> floats;
  Scratch<double> doubles;
  std::vector<Received<float>> float_window;
  std::vector<Received<double>> double_window;
  std::vector<Client*> woken;               ///< clients that this thread is about to run
  std::int64_t math_nanoseconds = 0;        ///< spent in steps, samples left out
  std::int64_t evaluation_nanoseconds = 0;  ///< spent in copying and scoring samples

  template <class Real>
  Scratch<Real>& scratch() {
    if constexpr (std::is_same_v<Real, float>)
      return floats;
    else
      return doubles;
  }
  template <class Real>
  std::vector<Received<Real>>& window() {
    if constexpr (std::is_same_v<Real, float>)
      return float_window;
    else
      return double_window;
  }
};

class Performer {
 public:
  virtual ~Performer() = default;

  virtual void begin(ThreadMemory& memory) = 0;
  virtual void compute(const Step& step, ThreadMemory& memory) = 0;
  virtual Payload publish(const Step& step, ThreadMemory& memory) = 0;
  /// All payloads of the step are in their slots.
  virtual void merge(const Step& step, const SlotTable& slots, ThreadMemory& memory) = 0;
  virtual void adopt(const Payload& payload) = 0;
  virtual void reclaim(const Payload& payload, ThreadMemory& memory) = 0;

  /// A copy of the model as it is evaluated.
  virtual Tensor snapshot() const = 0;
  virtual std::span<const std::byte> model_bytes() const = 0;
  virtual void inspect(Probe& probe) const = 0;
};

template <class Real>
class PerformerOf final : public Performer {
 public:
  /// The learner and the pool outlive the performer.
  PerformerOf(std::unique_ptr<Algorithm<Real>> algorithm, const Learner<Real>& learner, const BatchPlan& batches,
              TensorPool& pool)
      : algorithm_{std::move(algorithm)}, learner_{learner}, batches_{batches}, pool_{pool} {}

  void begin(ThreadMemory& memory) override {
    Work<Real> work = work_with(memory);
    algorithm_->begin(work);
  }

  void compute(const Step& step, ThreadMemory& memory) override {
    Work<Real> work = work_with(memory);
    algorithm_->compute(work, step);
  }

  Payload publish(const Step& step, ThreadMemory& memory) override {
    if (step.message == MessageKind::model) return model_payload();
    Work<Real> work = work_with(memory);
    return algorithm_->publish(work, step);
  }

  void merge(const Step& step, const SlotTable& slots, ThreadMemory& memory) override {
    Work<Real> work = work_with(memory);
    std::vector<Received<Real>>& window = memory.window<Real>();
    window.clear();
    for (const StepEntry& entry : step.entries)
      window.push_back({entry.peer, entry.sequence, entry.weight, entry.age, slots.payload(entry.slot), entry.place});
    algorithm_->merge(work, window);
  }

  void adopt(const Payload& payload) override { algorithm_->adopt(numbers_of<Real>(payload.common[0])); }

  void reclaim(const Payload& payload, ThreadMemory& memory) override {
    Work<Real> work = work_with(memory);
    algorithm_->reclaim(work, payload);
  }

  Tensor snapshot() const override { return copy_of<Real>(algorithm_->model(), pool_); }
  std::span<const std::byte> model_bytes() const override {
    const ConstVectorRef<Real> model = algorithm_->model();
    return std::as_bytes(std::span{model.data(), static_cast<std::size_t>(model.size())});
  }
  void inspect(Probe& probe) const override { algorithm_->inspect(probe); }

 private:
  Work<Real> work_with(ThreadMemory& memory) {
    return Work<Real>(learner_, batches_, memory.scratch<Real>(), pool_);
  }
  Payload model_payload() const {
    Payload payload;
    payload.common[0] = snapshot();
    return payload;
  }

  std::unique_ptr<Algorithm<Real>> algorithm_;
  const Learner<Real>& learner_;
  BatchPlan batches_;
  TensorPool& pool_;
};

}  // namespace rubato
