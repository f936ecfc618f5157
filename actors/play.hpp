// The actors of one run, from the first message to the last.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <mutex>
#include <vector>

#include "actors/conductor_actor.hpp"
#include "actors/evaluator_actor.hpp"
#include "actors/experiment.hpp"
#include "actors/stage.hpp"

namespace rubato {

class Play {
 public:
  /// Measure steps go to `probe` if there is one, else to the evaluators. Task, options and probe outlive the play.
  Play(const Task& task, const RunOptions& options, const Seating& seating, SnapshotSink* probe = nullptr);

  Ensemble& ensemble() { return ensemble_; }
  Stage& stage() { return stage_; }

  /// Performs all steps of the source, whose sink is `desk`. Returns when the last is done, or passed over after a
  /// failure.
  void perform(StepSource& source, StepDesk& desk, const Credit& credit);

  double wall_seconds() const { return wall_seconds_; }
  std::vector<Sample>& samples() { return samples_; }

 private:
  using Clock = std::chrono::steady_clock;

  void make_clients(const Task& task, const Seating& seating);
  void make_room(const Task& task, std::size_t clients);
  void spawn_all(caf::actor_system& system, StepSource& source, StepDesk& desk, const Credit& credit);
  void spawn_evaluators(caf::actor_system& system);
  void wait(Clock::time_point start);
  void report(std::unique_lock<std::mutex>& lock, Clock::time_point start);
  void keep(Sample sample);
  Progress progress(Clock::time_point start) const;
  void let_go();

  const RunOptions& options_;
  SnapshotSender sender_;
  bool evaluates_;
  Ensemble ensemble_;
  Stage stage_;
  std::vector<Sample> new_samples_;  // guarded by the stage's mutex
  std::vector<Sample> samples_;
  double wall_seconds_ = 0;
  std::exception_ptr thrown_;  // by the caller's functions
};

}  // namespace rubato
