// The actors of one run, from the first message to the last.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "actors/core/evaluator_actor.hpp"
#include "actors/core/reporter.hpp"
#include "actors/core/run_control.hpp"
#include "actors/core/run_options.hpp"
#include "actors/core/task.hpp"
#include "actors/virtual/conductor_actor.hpp"

namespace rubato {

class VirtualRun {
 public:
  /// Measure steps go to `probe` if there is one, else to the evaluators. `cast`: which clients are performed here; empty:
  /// all of them. Task, options and probe outlive the run.
  VirtualRun(const Task& task, const RunOptions& options, const ClientViews& views, SnapshotSink* probe = nullptr,
             const std::vector<bool>& cast = {});

  ClientPool& client_pool() { return client_pool_; }
  RunControl& control() { return control_; }

  /// Performs all steps of the source, which end at `desk`. Returns when the last is done, or passed over after a
  /// failure. `company` may be null. Where the source pauses, `on_pause` is called when all steps so far are done and
  /// reported.
  void perform(StepSource& source, StepDispatcher& dispatcher, const Credit& credit, Peers* peers = nullptr,
               const std::function<void()>& on_pause = {});

  /// From now on a step fails where a payload does not fit it: what other hosts send and records name may be anything.
  void validate_payloads() {
    for (const auto& client : client_pool_.clients)
      if (client) client->validate_payloads();
  }

  /// Before perform(): what samples of earlier lives have shown.
  void go_on_from(Divergences earlier) { earlier_ = std::move(earlier); }

  double wall_seconds() const { return wall_seconds_; }
  const Reporter& reporter() const { return *reporter_; }
  std::vector<Sample>& samples() { return reporter_->samples(); }

 private:
  void make_clients(const Task& task, const ClientViews& views, const std::vector<bool>& cast);
  void spawn_all(caf::actor_system& system, StepSource& source, StepDispatcher& dispatcher, const Credit& credit, Peers* peers);

  const RunOptions& options_;
  SnapshotSender sender_;
  bool evaluates_;
  ClientPool client_pool_;
  RunControl control_;
  std::unique_ptr<Reporter> reporter_;  // of the performance
  double wall_seconds_ = 0;
  Divergences earlier_;
};

}  // namespace rubato
