#include "actors/evaluator_actor.hpp"

namespace rubato {

caf::behavior EvaluatorActor::make_behavior() {
  return {[this](const ModelToScore& work) {
    Ensemble::Lease memory(stage_.ensemble);
    const std::int64_t since = stage_.ensemble.math_clock();
    Score score = stage_.evaluation.score(work.client, work.model, *memory);
    (*memory).evaluation_nanoseconds += stage_.ensemble.math_clock() - since;
    caf::anon_send(stage_.gatherer, ScoredModel{work.sample, work.client, work.model, std::move(score)});
  }};
}

caf::behavior GathererActor::make_behavior() {
  return {
      [this](const SampleOpens& opens) { gatherer_.open(opens.header); },
      [this](ScoredModel& scored) {
        Ensemble::Lease memory(stage_.ensemble);
        const auto sample =
            gatherer_.add(scored.sample, scored.client, std::move(scored.model), std::move(scored.score), *memory);
        if (sample) {
          on_sample_(*sample);
          --stage_.open_samples;
        }
        const bool is_low = stage_.ensemble.outstanding.fetch_sub(1) - 1 <= stage_.wake_at.load();
        if (sample || is_low) stage_.wake_conductor();
      },
  };
}

void SnapshotSender::on_measure(const Step& step, const Performer& performer) {
  stage_->ensemble.outstanding.fetch_add(1);  // until it is gathered: models to score are bounded like steps
  const caf::actor& evaluator = stage_->evaluators[step.client.value % stage_->evaluators.size()];
  caf::anon_send(evaluator, ModelToScore{step.index, step.client, performer.snapshot()});
}

}  // namespace rubato
