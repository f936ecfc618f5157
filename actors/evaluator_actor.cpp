#include "actors/evaluator_actor.hpp"

namespace rubato {

namespace {

// What a learner throws while it is scored is a failure of its client, like any other.
template <class Work, class Do>
void guarded(Stage& stage, const Work& work, Do&& act) {
  const auto fail = [&](const char* what) {
    stage.ensemble.fail({.kind = StepKind::measure, .client = work.client, .index = work.sample, .at = work.at}, what);
    stage.close_model(false);
  };
  try {
    act();
  } catch (const std::exception& error) {
    fail(error.what());
  } catch (...) {
    fail("something that is no std::exception");
  }
}

}  // namespace

caf::behavior EvaluatorActor::make_behavior() {
  return {[this](const ModelToScore& work) { guarded(stage_, work, [&] { score(work); }); }};
}

void EvaluatorActor::score(const ModelToScore& work) {
  const BusyWorker busy(stage_);
  if (stage_.is_closed.load()) return;
  Ensemble::Lease memory(stage_.ensemble);
  const std::int64_t since = stage_.ensemble.math_clock();
  Score score = stage_.evaluation.score(work.client, work.snapshot.model, *memory);
  StationarityPart part;
  if (stage_.evaluation.composite()) part = stage_.evaluation.stationarity(work.client, work.snapshot.model, *memory);
  (*memory).evaluation_nanoseconds += stage_.ensemble.math_clock() - since;
  hand(stage_.gatherer, ScoredModel{work.sample, work.client, work.at, work.snapshot, std::move(score), std::move(part)});
}

caf::behavior GathererActor::make_behavior() {
  return {
      [this](const SampleOpens& opens) { gatherer_.open(opens.header); },
      [this](ScoredModel& scored) { guarded(stage_, scored, [&] { gather(scored); }); },
  };
}

void GathererActor::gather(ScoredModel& scored) {
  Ensemble::Lease memory(stage_.ensemble);
  const auto sample =
      gatherer_.add(scored.sample, scored.client, std::move(scored.snapshot), std::move(scored.score),
                    std::move(scored.part), *memory);
  if (sample) on_sample_(*sample);
  stage_.close_model(sample.has_value());
}

namespace {

class BalanceProbe final : public Probe {
 public:
  explicit BalanceProbe(std::vector<NamedVector>& parts) : parts_{parts} {}
  void vector(std::string_view name, std::span<const double> values) override {
    parts_.push_back({std::string(name), {values.begin(), values.end()}});
  }

 private:
  std::vector<NamedVector>& parts_;
};

// The tracker among what an algorithm shows.
class TrackerProbe final : public Probe {
 public:
  explicit TrackerProbe(Vector<double>& tracker) : tracker_{tracker} {}
  void vector(std::string_view name, std::span<const double> values) override {
    if (name != "nu") return;
    tracker_ = Eigen::Map<const Vector<double>>(values.data(), static_cast<Index>(values.size()));
  }

 private:
  Vector<double>& tracker_;
};

}  // namespace

Snapshot take_snapshot(const Step& step, const Performer& performer, const Evaluation& evaluation, ThreadMemory& memory) {
  Snapshot snapshot{performer.snapshot(memory), performer.traffic(), {}, {}};
  BalanceProbe probe(snapshot.balance);
  performer.balance(probe);
  if (step.phase == after_round) performer.round_balance(probe);
  if (evaluation.composite()) {
    TrackerProbe trackers(snapshot.tracker);
    performer.inspect(trackers);
  }
  return snapshot;
}

void SnapshotSender::on_measure(const Step& step, const Performer& performer, ThreadMemory& memory) {
  Snapshot snapshot = take_snapshot(step, performer, stage_->evaluation, memory);
  stage_->ensemble.outstanding.fetch_add(1);  // until it is gathered: models to score are bounded like steps
  const caf::actor& evaluator = stage_->evaluators[step.client.value % stage_->evaluators.size()];
  hand(evaluator, ModelToScore{step.index, step.client, step.at, std::move(snapshot)});
}

}  // namespace rubato
