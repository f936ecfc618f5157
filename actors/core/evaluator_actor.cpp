#include "actors/core/evaluator_actor.hpp"

namespace rubato {

namespace {

// What a learner throws while it is scored is a failure of its client, like any other, also with the model of another.
template <class Work, class Do>
void guarded(RunControl& control, const Work& work, Do&& act) {
  const auto fail = [&](const char* what, ClientId client) {
    control.client_pool.fail({.kind = StepKind::measure, .client = client, .index = work.sample, .at = work.at}, what);
    control.close_model(false);
  };
  try {
    act();
  } catch (const LearnerFailed& failed) {
    fail(failed.what(), failed.client);
  } catch (const std::exception& error) {
    fail(error.what(), work.client);
  } catch (...) {
    fail("something that is no std::exception", work.client);
  }
}

}  // namespace

caf::behavior EvaluatorActor::make_behavior() {
  return {[this](const ModelToScore& work) { guarded(control_, work, [&] { score(work); }); }};
}

void EvaluatorActor::score(const ModelToScore& work) {
  const BusyWorker busy(control_);
  if (control_.is_closed.load()) return;
  ClientPool::Lease memory(control_.client_pool);
  const std::int64_t since = control_.client_pool.math_clock();
  Score score = control_.evaluation.score(work.client, work.snapshot.model, *memory);
  StationarityPart part;
  if (control_.evaluation.composite()) part = control_.evaluation.stationarity(work.client, work.snapshot.model, *memory);
  (*memory).evaluation_nanoseconds += control_.client_pool.math_clock() - since;
  hand(control_.gatherer, ScoredModel{work.sample, work.client, work.at, work.snapshot, std::move(score), std::move(part)});
}

caf::behavior GathererActor::make_behavior() {
  return {
      [this](const SampleOpens& opens) { gatherer_.open(opens.header); },
      [this](ScoredModel& scored) { guarded(control_, scored, [&] { gather(scored); }); },
  };
}

void GathererActor::gather(ScoredModel& scored) {
  ClientPool::Lease memory(control_.client_pool);
  const auto sample = gatherer_.add(scored.sample, scored.client, std::move(scored.snapshot), std::move(scored.score),
                                    std::move(scored.part), *memory);
  if (sample) on_sample_(*sample);
  control_.close_model(sample.has_value());
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
  Snapshot snapshot = take_snapshot(step, performer, control_->evaluation, memory);
  control_->client_pool.outstanding.fetch_add(1);  // until it is gathered: models to score are bounded like steps
  const caf::actor& evaluator = control_->evaluators[step.client.value % control_->evaluators.size()];
  hand(evaluator, ModelToScore{step.index, step.client, step.at, std::move(snapshot)});
}

}  // namespace rubato
