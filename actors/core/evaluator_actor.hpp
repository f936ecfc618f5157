// Evaluators score models beside the run; the gatherer puts the scores of a sample together in client order.
#pragma once

#include <functional>

#include "actors/core/run_control.hpp"

namespace rubato {

/// Adds evaluators, which score one model after the other, and the gatherer of their scores to the run. The gatherer hands
/// finished samples to `on_sample`, in its thread of the moment.
void spawn_evaluators(caf::actor_system& system, RunControl& control, std::function<void(const Sample&)> on_sample);

/// What a measure step asks for.
Snapshot take_snapshot(const Step& step, const Performer& performer, const Evaluation& evaluation, ThreadMemory& memory);

/// Copies the model of a measure step and sends it to an evaluator.
class SnapshotSender final : public SnapshotSink {
 public:
  void on_measure(const Step& step, const Performer& performer, ThreadMemory& memory) override;
  void use(RunControl& control) { control_ = &control; }

 private:
  RunControl* control_ = nullptr;
};

}  // namespace rubato
