// Checkpointer: writes checkpoints of a virtual run while it stands still, and brings a new life of the run to one.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "actors/core/run_options.hpp"
#include "actors/virtual/virtual_run.hpp"
#include "results/run_checkpoint.hpp"
#include "runtime/engine/conductor.hpp"

namespace rubato {

/// Stands before the step dispatcher: gives the payloads of a virtual run names that a second walk of its timing finds again,
/// and passes over the steps that an earlier life of the run has performed. A payload's name is the number of its
/// publication: the first that opened a slot is 1.
class ResumingDispatcher final : public StepSink {
 public:
  /// Both outlive it. `passes_over`: steps are written down and their slots opened and closed; nothing is performed.
  ResumingDispatcher(StepDispatcher& dispatcher, ClientPool& client_pool, bool passes_over)
      : dispatcher_{dispatcher}, client_pool_{client_pool}, passes_over_{passes_over} {}

  SlotIndex open_slot(std::uint32_t receivers) override;
  void perform(const Step& step) override;
  void open_sample(const SampleHeader& header) override;
  void on_answer(bool yes) override { answers_.add(yes); }

  /// From now on steps are performed.
  void perform_from_here() { passes_over_ = false; }
  const Answers& answers() const { return answers_; }

  struct Named {
    std::uint64_t name;
    SlotIndex slot;
    auto operator<=>(const Named&) const = default;
  };
  /// The slots in use in the order of their names; only while no steps are performed.
  std::vector<Named> payloads() const;

 private:
  StepDispatcher& dispatcher_;
  ClientPool& client_pool_;
  bool passes_over_;
  std::uint64_t publications_ = 0;
  std::vector<std::uint64_t> names_;  // by slot
  Answers answers_;
};

/// A checkpoint holds what depends on models: the states of the clients, payloads under way, answers to questions. The
/// timing is no part of it: a new life walks it again without arithmetic, which must lead to the same digest of steps.
class Checkpointer {
 public:
  /// True if the options ask for checkpoints or to go on from one.
  static bool is_asked_for(const config::Experiment& experiment, const RunOptions& options);

  /// Before anything of the earlier life is overwritten: throws where the checkpoint to go on from is damaged, or of another
  /// run, build or data.
  static void judge(const config::Experiment& experiment, const RunOptions& options, const Task& task);

  /// All outlive it.
  Checkpointer(const config::Experiment& experiment, const RunOptions& options, const Task& task, VirtualRun& virtual_run,
               StepDispatcher& dispatcher);

  /// Where the conductor hands its steps to.
  StepSink& sink() { return dispatcher_; }
  /// Before the first step is performed: goes to where the checkpoint was written if there is one. Throws
  /// std::invalid_argument if it is of another run, build or data.
  void begin(Conductor& conductor);
  /// The run stands still: writes a checkpoint. Throws RunFailed if the disk does not take it.
  void on_pause();
  /// Adds to the result of this life what the lives before did.
  void complete(RunResult& result) const;

 private:
  using Clock = std::chrono::steady_clock;

  void go_back(const std::filesystem::path& file);
  void walk_again(const std::filesystem::path& file);
  void load(SealedReader& reader);
  void set_next_mark(Time next_event);
  void write();
  RunCheckpoint describe() const;

  const RunOptions& options_;
  VirtualRun& virtual_run_;
  ClientPool& client_pool_;
  ResumingDispatcher dispatcher_;
  RunIdentity identity_;
  Time until_;
  Duration every_;
  std::uint64_t payload_bytes_;
  Conductor* conductor_ = nullptr;
  RunCheckpoint earlier_;  // of the lives before
  std::uint64_t number_ = 0;
  Time mark_{};
  Clock::time_point start_;
};

}  // namespace rubato
