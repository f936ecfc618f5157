#include "actors/core/evaluator_actor.hpp"

#include <map>

namespace rubato {

namespace {

// What a learner throws while it is scored is a failure of its client, like any other, also with the model of another.
template <class Act>
void guarded(RunControl& control, const ModelToScore& work, Act act) {
  Step step{.kind = StepKind::measure, .client = work.client, .index = work.sample, .at = work.at};
  const bool is_done = control.client_pool.guard(step, [&] {
    try {
      act();
    } catch (const LearnerFailed& failed) {
      step.client = failed.client;
      throw;
    }
  });
  if (!is_done) control.close_model(false);
}

class EvaluatorActor final : public HandedActor {
 public:
  EvaluatorActor(caf::actor_config& config, RunControl& control) : HandedActor(config), control_{control} {}
  caf::behavior make_behavior() override {
    return {[this](const ModelToScore& work) { guarded(control_, work, [&] { score(work); }); }};
  }

 private:
  void score(const ModelToScore& work) {
    const BusyWorker busy(control_);
    if (control_.is_closed.load()) return;
    const auto memory = control_.client_pool.lend();
    const std::int64_t since = control_.client_pool.math_clock();
    Scores scores = control_.evaluation.scores(work.client, work.snapshot.model, *memory);
    memory->evaluation_nanoseconds += control_.client_pool.math_clock() - since;
    hand(control_.gatherer, ScoredModel{work, std::move(scores)});
  }

  RunControl& control_;
};

class GathererActor final : public HandedActor {
 public:
  GathererActor(caf::actor_config& config, RunControl& control, std::function<void(const Sample&)> on_sample)
      : HandedActor(config), control_{control}, gatherer_{control.evaluation}, on_sample_{std::move(on_sample)} {}
  caf::behavior make_behavior() override {
    return {
        [this](const SampleOpens& opens) { gatherer_.open(opens.header); },
        [this](ScoredModel& scored) { guarded(control_, scored.model, [&] { gather(scored.model, scored.scores); }); },
    };
  }

 private:
  void gather(ModelToScore& model, Scores& scores) {
    const auto memory = control_.client_pool.lend();
    const auto sample = gatherer_.add(model.sample, model.client, std::move(model.snapshot), std::move(scores), *memory);
    if (sample) done_.emplace(model.sample, *sample);
    // Others finish earlier: a sample asks every client for what it has spent.
    while (!done_.empty() && (!control_.orders_samples || done_.begin()->first < gatherer_.first_open()))
      on_sample_(done_.extract(done_.begin()).mapped());
    control_.close_model(sample.has_value());
  }

  RunControl& control_;
  SampleGatherer gatherer_;
  std::map<std::uint64_t, Sample> done_;  // by number: not reported yet
  std::function<void(const Sample&)> on_sample_;
};

// Hands each vector that an algorithm shows to `see`.
template <class See>
class VectorProbe final : public Probe {
 public:
  explicit VectorProbe(See see) : see_{std::move(see)} {}
  void vector(std::string_view name, std::span<const double> values) override { see_(name, values); }

 private:
  See see_;
};

}  // namespace

void spawn_evaluators(caf::actor_system& system, RunControl& control, std::function<void(const Sample&)> on_sample) {
  constexpr auto quiet = caf::hidden + caf::lazy_init;
  for (int i = 0; i < control.workers; ++i) control.evaluators.push_back(system.spawn<EvaluatorActor, quiet>(std::ref(control)));
  control.gatherer = system.spawn<GathererActor, quiet>(std::ref(control), std::move(on_sample));
}

Snapshot take_snapshot(const Step& step, const Performer& performer, const Evaluation& evaluation, ThreadMemory& memory) {
  if (step.phase == traffic_only) return {.traffic = performer.traffic()};
  Snapshot snapshot{.model = performer.snapshot(memory), .traffic = performer.traffic()};
  const auto into = [](std::vector<NamedVector>& list) {
    return [&list](std::string_view name, std::span<const double> values) {
      list.push_back({std::string(name), {values.begin(), values.end()}});
    };
  };
  VectorProbe parts(into(snapshot.balance)), owed(into(snapshot.owed));
  performer.balance(parts);
  if (step.phase == after_round) performer.round_balance(parts);
  performer.owed(owed);
  const std::vector<std::string>& wanted = evaluation.measures().tracked;
  VectorProbe tracked([&](std::string_view name, std::span<const double> values) {
    const std::size_t place = snapshot.tracked.size();
    if (place < wanted.size() && name == wanted[place]) snapshot.tracked.push_back({wanted[place], {values.begin(), values.end()}});
  });
  if (!wanted.empty()) performer.inspect(tracked);
  if (evaluation.has_joint_objective()) snapshot.collaboration = performer.collaboration();
  return snapshot;
}

void SnapshotSender::on_measure(const Step& step, const Performer& performer, ThreadMemory& memory) {
  Snapshot snapshot = take_snapshot(step, performer, control_->evaluation, memory);
  control_->client_pool.outstanding.fetch_add(1);  // until it is gathered: models to score are bounded like steps
  control_->evaluate({step.index, step.client, step.at, std::move(snapshot)});
}

}  // namespace rubato
