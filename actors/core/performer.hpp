// The numeric half of one client, ready to perform steps: algorithm, learner and batches behind one face for both
// scalars.
#pragma once

#include <time.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "algos/air_noise.hpp"
#include "algos/algorithm.hpp"
#include "algos/screening.hpp"
#include "algos/thread_memory.hpp"
#include "results/sample.hpp"
#include "runtime/archive.hpp"
#include "runtime/payload.hpp"
#include "runtime/world/air.hpp"
#include "runtime/world/saved_states.hpp"

namespace rubato {

/// CPU time of this thread.
inline std::int64_t thread_nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

/// What a step gives back.
struct StepResult {
  Payload published{};  ///< by a publish step
  bool is_yes = false;  ///< the answer to a decide step
};

class Performer {
 public:
  virtual ~Performer() = default;

  /// The step's arithmetic; nothing where it has none. `payloads`: those of the step's entries, in their order, if it needs
  /// them.
  virtual StepResult perform(const Step& step, std::span<const Payload* const> payloads, ThreadMemory& memory) = 0;
  /// Whether such a step can take this payload, the model of an adopt step included.
  virtual bool fits(const Payload& payload, const Step& step, std::uint32_t place) const = 0;
  /// From now on steps throw std::runtime_error where a payload does not fit.
  virtual void validate_payloads() = 0;
  /// From now on models are heard with the noise of the air. It outlives the performer.
  virtual void set_air(const Air& air, ClientId self) = 0;
  /// Writes all that later steps depend on, or takes it from an archive of the same client. Its traffic and its screening are no
  /// part of that: what a client has sent stays sent, also when it goes back to an earlier state. Throws BadArchive; then the
  /// client is in no state at all until a load succeeds.
  virtual void archive(Archive& archive) = 0;

  /// A copy of the model as it is evaluated.
  virtual Tensor snapshot(ThreadMemory& memory) const = 0;
  /// A copy of the model as it is.
  virtual Tensor model() const = 0;
  virtual std::span<const std::byte> model_bytes() const = 0;
  virtual void inspect(Probe& probe) const = 0;
  virtual void balance(Probe& probe) const = 0;
  virtual void round_balance(Probe& probe) const = 0;
  virtual void owed(Probe& probe) const = 0;
  /// See Algorithm::collaboration.
  virtual std::vector<PeerWeight> collaboration() const { return {}; }
  virtual const Traffic& traffic() const = 0;
  /// What it has left out of merges and adoptions; in real time the client itself adds what it has refused before.
  virtual Screening& screening() = 0;
  virtual const Screening& screening() const = 0;
  /// Of a client whose process goes on from a checkpoint.
  virtual void recall(const Traffic& traffic) = 0;
};

/// The entries of such a step name messages whose payloads it needs; those of others name none, or what is let go of.
constexpr bool needs_payloads(StepKind kind) {
  return kind == StepKind::merge || kind == StepKind::adopt || kind == StepKind::reclaim;
}

/// Steps that make messages, or take them in.
constexpr bool is_about_messages(StepKind kind) { return kind == StepKind::publish || needs_payloads(kind); }

/// The one place where steps are performed, in either clock: save puts a state among the saved ones, load goes back to one
/// of them, and the others are the performer's.
inline StepResult perform(Performer& performer, SavedStates& saved, const Step& step, std::span<const Payload* const> payloads,
                          ThreadMemory& memory, TensorPool& pool) {
  if (step.kind == StepKind::save) {
    Archive archive;
    performer.archive(archive);
    saved.keep(step.index, archive.take());
  } else if (step.kind == StepKind::load) {
    Archive archive(saved.at(step.index), pool);
    performer.archive(archive);
    archive.expect_end();
  }
  if (!memory.times_messages || !is_about_messages(step.kind)) return performer.perform(step, payloads, memory);
  const std::int64_t since = thread_nanoseconds();
  StepResult result = performer.perform(step, payloads, memory);
  memory.message_nanoseconds += thread_nanoseconds() - since;
  return result;
}

template <class Real>
class PerformerOf final : public Performer {
 public:
  /// The learner and the pool outlive the performer.
  PerformerOf(std::unique_ptr<Algorithm<Real>> algorithm, const Learner<Real>& learner, const BatchPlan& batches, TensorPool& pool,
              double norm_limit = 0)
      : algorithm_{std::move(algorithm)}, learner_{learner}, batches_{batches}, pool_{pool}, screening_{norm_limit} {}

  StepResult perform(const Step& step, std::span<const Payload* const> payloads, ThreadMemory& memory) override {
    Work<Real> work = work_with(memory);
    if (validates_payloads_) require_fitting(step, payloads);
    switch (step.kind) {
      case StepKind::begin:
        algorithm_->begin(work);
        break;
      case StepKind::compute:
        algorithm_->compute(work, step);
        traffic_.gradients += step.with_gradient;
        break;
      case StepKind::publish:
        return {publish(work, step)};
      case StepKind::merge:
        merge(work, step, payloads, memory.window<Real>());
        break;
      case StepKind::adopt:
        if (takes(step.entries.front(), *payloads.front())) algorithm_->adopt(numbers_of<Real>(payloads.front()->common[0]));
        break;
      case StepKind::reclaim:
        algorithm_->reclaim(work, step, *payloads.front());
        break;
      case StepKind::decide:
        return {{}, algorithm_->decide(work, step)};
      case StepKind::reset:
        algorithm_->reset(work);
        break;
      case StepKind::discard:
      case StepKind::measure:
      case StepKind::save:
      case StepKind::load:
        break;
    }
    return {};
  }

  bool fits(const Payload& payload, const Step& step, std::uint32_t place) const override {
    return step.message == MessageKind::model ? is_model(payload) : algorithm_->fits(payload, step, place);
  }

  void validate_payloads() override { validates_payloads_ = true; }

  void set_air(const Air& air, ClientId self) override { air_ = std::make_unique<AirNoise>(air, self); }

  void archive(Archive& archive) override {
    algorithm_->archive(archive);
    if (air_) air_->archive(archive);
  }

  Tensor snapshot(ThreadMemory& memory) const override {
    Work<Real> work = work_with(memory);
    return algorithm_->snapshot(work);
  }
  Tensor model() const override { return copy_of<Real>(algorithm_->model(), pool_); }
  std::span<const std::byte> model_bytes() const override {
    const ConstVectorRef<Real> model = algorithm_->model();
    return std::as_bytes(std::span{model.data(), static_cast<std::size_t>(model.size())});
  }
  void inspect(Probe& probe) const override { algorithm_->inspect(probe); }
  void balance(Probe& probe) const override { algorithm_->balance(probe); }
  void round_balance(Probe& probe) const override { algorithm_->round_balance(probe); }
  void owed(Probe& probe) const override { algorithm_->owed(probe); }
  std::vector<PeerWeight> collaboration() const override { return algorithm_->collaboration(); }
  const Traffic& traffic() const override { return traffic_; }
  Screening& screening() override { return screening_; }
  const Screening& screening() const override { return screening_; }
  void recall(const Traffic& traffic) override { traffic_ = traffic; }

 private:
  bool takes(const StepEntry& message, const Payload& payload) {
    return screening_.takes<Real>(message.peer, payload, message.place, algorithm_->model());
  }

  bool is_model(const Payload& payload) const {
    return holds<Real>(payload.common[0], static_cast<std::size_t>(algorithm_->model().size()));
  }

  void require_fitting(const Step& step, std::span<const Payload* const> payloads) const {
    if ((step.kind == StepKind::adopt || step.kind == StepKind::reclaim) && payloads.size() != 1)
      throw std::runtime_error("a step that takes one message names " + std::to_string(payloads.size()));
    for (std::size_t i = 0; i < payloads.size(); ++i) {
      const StepEntry& entry = step.entries[i];
      const bool is_fitting =
          step.kind == StepKind::adopt ? is_model(*payloads[i]) : algorithm_->fits(*payloads[i], step, entry.place);
      if (!is_fitting)
        throw std::runtime_error("message " + std::to_string(entry.sequence) + " of client " + std::to_string(entry.peer.value) +
                                 " has not the form of one");
    }
  }

  Work<Real> work_with(ThreadMemory& memory) const { return Work<Real>(learner_, batches_, memory.scratch<Real>(), pool_); }

  Payload publish(Work<Real>& work, const Step& step) {
    Payload payload;
    if (step.message == MessageKind::model)
      payload.common[0] = model();
    else
      payload = algorithm_->publish(work, step);
    const std::size_t receivers = step.entries.size();
    traffic_.messages += receivers;
    traffic_.bytes += receivers * payload.message_bytes();
    traffic_.paper_bits += static_cast<double>(receivers) * payload.message_paper_bits();
    return payload;
  }

  void merge(Work<Real>& work, const Step& step, std::span<const Payload* const> payloads, std::vector<Received<Real>>& window) {
    std::vector<std::size_t> refused;  // takes no memory where there is none
    for (std::size_t i = 0; i < payloads.size(); ++i)
      if (!takes(step.entries[i], *payloads[i])) refused.push_back(i);
    if (refused.empty()) return merge_all(work, step, payloads, window);
    std::vector<StepEntry> entries(step.entries.begin(), step.entries.end());
    std::vector<const Payload*> taken(payloads.begin(), payloads.end());
    for (auto place = refused.rbegin(); place != refused.rend(); ++place) {
      entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(*place));
      taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(*place));
    }
    Step rest = step;
    rest.entries = entries;
    merge_all(work, rest, taken, window);
  }

  void merge_all(Work<Real>& work, const Step& step, std::span<const Payload* const> payloads,
                 std::vector<Received<Real>>& window) {
    const std::vector<Payload> heard = air_ ? air_->hear<Real>(step, payloads, pool_) : std::vector<Payload>{};
    window.clear();
    for (std::size_t i = 0; i < payloads.size(); ++i) {
      const StepEntry& entry = step.entries[i];
      window.push_back({entry.peer, entry.sequence, entry.weight, entry.age, air_ ? heard[i] : *payloads[i], entry.place});
    }
    algorithm_->merge(work, step, window);
  }

  std::unique_ptr<Algorithm<Real>> algorithm_;
  const Learner<Real>& learner_;
  BatchPlan batches_;
  TensorPool& pool_;
  Traffic traffic_;
  Screening screening_;
  std::unique_ptr<AirNoise> air_;
  bool validates_payloads_ = false;
};

}  // namespace rubato
