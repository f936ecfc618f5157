// Evaluators score models beside the run; the gatherer puts the scores of a sample together in client order.
#pragma once

#include <functional>

#include "actors/core/run_control.hpp"

namespace rubato {

/// Scores one model after the other.
class EvaluatorActor final : public HandedActor {
 public:
  EvaluatorActor(caf::actor_config& config, RunControl& control) : HandedActor(config), control_{control} {}
  caf::behavior make_behavior() override;

 private:
  void score(const ModelToScore& work);

  RunControl& control_;
};

/// Adds scored models up and hands finished samples to `on_sample`, in the gatherer's thread of the moment.
class GathererActor final : public HandedActor {
 public:
  GathererActor(caf::actor_config& config, RunControl& control, std::function<void(const Sample&)> on_sample)
      : HandedActor(config), control_{control}, gatherer_{control.evaluation}, on_sample_{std::move(on_sample)} {}
  caf::behavior make_behavior() override;

 private:
  void gather(ScoredModel& scored);

  RunControl& control_;
  SampleGatherer gatherer_;
  std::function<void(const Sample&)> on_sample_;
};

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
