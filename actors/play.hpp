// The actors of one run, from the first message to the last.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "actors/conductor_actor.hpp"
#include "actors/evaluator_actor.hpp"
#include "actors/experiment.hpp"
#include "actors/reporter.hpp"
#include "actors/stage.hpp"

namespace rubato {

class Play {
 public:
  /// Measure steps go to `probe` if there is one, else to the evaluators. `cast`: who is played here, by client; empty:
  /// everybody. Task, options and probe outlive the play.
  Play(const Task& task, const RunOptions& options, const Seating& seating, SnapshotSink* probe = nullptr,
       const std::vector<bool>& cast = {});

  Ensemble& ensemble() { return ensemble_; }
  Stage& stage() { return stage_; }

  /// Performs all steps of the source, which end at `desk`. Returns when the last is done, or passed over after a
  /// failure. `company` may be null. Where the source pauses, `on_pause` is called when all steps so far are done and
  /// reported.
  void perform(StepSource& source, StepDesk& desk, const Credit& credit, Company* company = nullptr,
               const std::function<void()>& on_pause = {});

  double wall_seconds() const { return wall_seconds_; }
  std::vector<Sample>& samples() { return reporter_->samples(); }

 private:
  void make_clients(const Task& task, const Seating& seating, const std::vector<bool>& cast);
  void make_room(const Task& task, std::size_t clients);
  void spawn_all(caf::actor_system& system, StepSource& source, StepDesk& desk, const Credit& credit, Company* company);
  caf::actor spawn_client(caf::actor_system& system, std::uint32_t client);
  void spawn_evaluators(caf::actor_system& system);
  void let_go();

  const RunOptions& options_;
  SnapshotSender sender_;
  bool evaluates_;
  Ensemble ensemble_;
  Stage stage_;
  std::unique_ptr<Reporter> reporter_;  // of the performance
  double wall_seconds_ = 0;
};

}  // namespace rubato
