// The ensemble: what the actors of one run share, and how one client performs the steps it was given. No actors here:
// plain threads can play it too.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "actors/performer.hpp"
#include "actors/step_batch.hpp"
#include "runtime/payload.hpp"
#include "runtime/slots.hpp"
#include "runtime/step.hpp"

namespace rubato {

/// Where snapshots go. Called on the thread that performs the client's steps, between two of them.
class SnapshotSink {
 public:
  virtual ~SnapshotSink() = default;
  virtual void on_measure(const Step& step, const Performer& performer) = 0;
};

/// Why a run could not go on: what a client threw, where and when.
struct Failure {
  ClientId client;
  StepKind step;
  std::uint64_t index;
  Time at;
  std::string what;
};

std::string to_string(const Failure& failure);

class Ensemble;

/// One client: its numbers, and the steps it has not performed yet. One thread at a time.
class Client : public Waiter {
 public:
  Client(ClientId self, std::unique_ptr<Performer> performer) : self_{self}, performer_{std::move(performer)} {}

  ClientId id() const { return self_; }
  const Performer& performer() const { return *performer_; }

  /// Takes over a list of blocks, to be performed after those it has.
  void take(StepBatch& first);

  /// Performs steps until none is left or one waits for a payload. Whoever waits for what this client publishes is handed
  /// to `wake`. Returns the number of steps performed.
  template <class Wake>
  std::uint32_t perform_all(Ensemble& ensemble, ThreadMemory& memory, Wake wake);

  bool is_waiting() const { return is_waiting_; }
  void go_on() { is_waiting_ = false; }

 private:
  bool payloads_are_there(const Step& step, Ensemble& ensemble);
  Waiter* perform(const Step& step, Ensemble& ensemble, ThreadMemory& memory);

  ClientId self_;
  bool is_waiting_ = false;
  std::unique_ptr<Performer> performer_;
  StepBatch* first_ = nullptr;
  StepBatch* last_ = nullptr;
};

class Ensemble {
 public:
  /// `block_bytes`: room for the steps of one client between two hand-overs. `exact_time`: measure thread CPU time.
  Ensemble(SnapshotSink& snapshots, std::size_t block_bytes, bool exact_time)
      : batches{block_bytes}, snapshots_{snapshots}, exact_time_{exact_time} {}

  TensorPool pool;  // first: it outlives everything that holds tensors
  SlotTable slots;
  StepBatchPool batches;
  std::vector<std::unique_ptr<Client>> clients;

  /// Steps handed to clients and not yet performed.
  std::atomic<std::int64_t> outstanding{0};

  SnapshotSink& snapshots() { return snapshots_; }

  /// Notes the first failure (by time, then client); from now on steps are passed over, not performed.
  void fail(const Step& step, std::string what);
  bool has_failed() const { return has_failed_.load(std::memory_order_acquire); }
  std::optional<Failure> failure() const;

  /// Memory of a thread for as long as the lease lives.
  class Lease {
   public:
    explicit Lease(Ensemble& ensemble) : ensemble_{ensemble}, memory_{ensemble.lend()} {}
    ~Lease() { ensemble_.take_back(std::move(memory_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ThreadMemory& operator*() { return *memory_; }

   private:
    Ensemble& ensemble_;
    std::unique_ptr<ThreadMemory> memory_;
  };

  /// Thread CPU seconds spent in steps so far; complete when nothing is outstanding. With small models a monotonic clock
  /// stands in, because asking for CPU time would cost more than the step.
  double math_seconds() const;
  /// The same for copying and scoring samples.
  double evaluation_seconds() const;

  /// A clock for differences, in nanoseconds.
  std::int64_t math_clock() const;

 private:
  std::unique_ptr<ThreadMemory> lend();
  void take_back(std::unique_ptr<ThreadMemory> memory);

  SnapshotSink& snapshots_;
  bool exact_time_;
  std::atomic<bool> has_failed_{false};
  mutable std::mutex mutex_;
  std::optional<Failure> failure_;
  std::vector<std::unique_ptr<ThreadMemory>> memories_;
};

template <class Wake>
std::uint32_t Client::perform_all(Ensemble& ensemble, ThreadMemory& memory, Wake wake) {
  std::uint32_t performed = 0;
  std::int64_t since = ensemble.math_clock();
  while (first_) {
    const Step* step = first_->current();
    if (!step) {
      StepBatch* done = first_;
      first_ = done->next;
      ensemble.batches.give_back(*done);
      continue;
    }
    if (!payloads_are_there(*step, ensemble)) break;
    if (step->kind == StepKind::measure) {  // samples are not counted as mathematics
      const std::int64_t before = ensemble.math_clock();
      memory.math_nanoseconds += before - since;
      if (!ensemble.has_failed()) ensemble.snapshots().on_measure(*step, *performer_);
      const std::int64_t measured = ensemble.math_clock();
      memory.evaluation_nanoseconds += measured - before;
      since = measured;
    } else {
      for (Waiter* waiter = perform(*step, ensemble, memory); waiter;) {
        Waiter* following = waiter->next;
        wake(static_cast<Client&>(*waiter));
        waiter = following;
      }
    }
    first_->pass();
    ++performed;
  }
  if (!first_) last_ = nullptr;
  memory.math_nanoseconds += ensemble.math_clock() - since;
  return performed;
}

}  // namespace rubato
