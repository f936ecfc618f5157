// The ensemble: what the actors of one run share, and how one client performs the steps it was given. No actors here:
// plain threads can play it too.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "actors/core/performer.hpp"
#include "runtime/limits.hpp"
#include "runtime/payload.hpp"
#include "runtime/step.hpp"
#include "runtime/step_batch.hpp"
#include "transports/in_process.hpp"

namespace rubato {

/// Where snapshots go. Called on the thread that performs the client's steps, between two of them.
class SnapshotSink {
 public:
  virtual ~SnapshotSink() = default;
  virtual void on_measure(const Step& step, const Performer& performer, ThreadMemory& memory) = 0;
};

/// Why a run could not go on: what a client threw, where and when.
struct RunFailure {
  ClientId client;
  StepKind step;
  std::uint64_t index;
  Time at;
  std::string what;
};

std::string to_string(const RunFailure& failure);

class ClientPool;

/// One client: its numbers, and the steps it has not performed yet. A thread with a reason for it to run calls enter();
/// the first one runs it, and those that come meanwhile make the runner look once more. So one thread at a time performs
/// its steps, in their order, and no reason is lost.
class Client : public Waiter {
 public:
  Client(ClientId self, std::unique_ptr<Performer> performer) : self_{self}, performer_{std::move(performer)} {}

  ClientId id() const { return self_; }
  const Performer& performer() const { return *performer_; }
  void validate_payloads() { performer_->validate_payloads(); }

  /// What save steps put away and load steps take back. Only while none of its steps is being performed.
  SavedStates& saved() { return saved_; }
  /// Writes all that later steps depend on, or takes it from an archive. Only while it has no steps. Throws BadArchive.
  void archive(Archive& archive) {
    Traffic traffic = performer_->traffic();
    archive(traffic);
    performer_->recall(traffic);
    performer_->screening().archive(archive);
    performer_->archive(archive);
    saved_.archive(archive);
  }

  /// One thread (the conductor's) adds blocks of steps; they follow those added before.
  void add(StepBatch& first);
  /// The payload that this client waits for is there. Call enter() next.
  void stop_waiting() { is_waiting_.store(false, std::memory_order_release); }

  /// True: the caller must run() the client now. False: its runner will look again.
  [[nodiscard]] bool enter() { return reasons_.fetch_add(1, std::memory_order_acq_rel) == 0; }

  /// Performs steps until none is left or one waits for a payload, and then leaves. The waiters for what this
  /// client publishes are handed to `wake`, once each. Returns the number of steps performed.
  template <class Wake>
  std::int64_t run(ClientPool& client_pool, ThreadMemory& memory, Wake wake);

 private:
  template <class Wake>
  std::int64_t perform_all(ClientPool& client_pool, ThreadMemory& memory, Wake wake);
  void take_added();
  bool payloads_are_there(const Step& step, ClientPool& client_pool);
  Waiter* perform(const Step& step, ClientPool& client_pool, ThreadMemory& memory);
  void measure(const Step& step, ClientPool& client_pool, ThreadMemory& memory);

  ClientId self_;
  std::atomic<bool> is_waiting_{false};
  std::atomic<std::uint32_t> reasons_{0};
  std::atomic<StepBatch*> added_{nullptr};  // newest first
  std::unique_ptr<Performer> performer_;
  SavedStates saved_;
  StepBatch* first_ = nullptr;
  StepBatch* last_ = nullptr;
};

/// Numbers of a model; below, asking for thread CPU time costs more than a step.
inline constexpr std::size_t small_model = 1024;

class ClientPool {
 public:
  /// `block_bytes`: room for the steps of one client between two hand-overs. `exact_time`: measure thread CPU time.
  ClientPool(SnapshotSink& snapshots, std::size_t block_bytes, bool exact_time)
      : batches{block_bytes}, snapshots_{snapshots}, exact_time_{exact_time} {}

  TensorPool pool;  // first: it outlives everything that holds tensors
  SlotTable slots;
  StepBatchPool batches;
  std::vector<std::unique_ptr<Client>> clients;

  /// Steps handed to clients and not yet performed.
  std::atomic<std::int64_t> outstanding{0};

  SnapshotSink& snapshots() { return snapshots_; }

  /// The step is done with its payloads: what it has published is in its slot, and those that it took are let go of.
  /// Returns the waiters for what was published.
  Waiter* settle(const Step& step, Payload published) {
    if (step.kind == StepKind::publish)
      return step.entries.empty() ? nullptr : slots.fill(step.entries.front().slot, std::move(published));
    for (const StepEntry& entry : step.entries) slots.release(entry.slot);
    return nullptr;
  }

  /// Hears of payloads that other hosts may need, on the thread that performs the client's steps. Empty in one process.
  std::function<void(const Step& step, const Payload& payload)> on_published;

  /// The answer to the decide step that was handed out last; below 0: there is none yet.
  std::atomic<int> answer{-1};

  /// Notes the first failure (by time, then client); from now on steps are passed over, not performed.
  void fail(const Step& step, std::string what);
  /// What `act` throws is a failure of this step, as it is then. False if it has thrown.
  template <class Act>
  bool guard(const Step& step, Act act) {
    try {
      act();
      return true;
    } catch (const std::exception& error) {
      fail(step, sentence_of(error));
    } catch (...) {
      fail(step, "something that is no std::exception");
    }
    return false;
  }
  bool has_failed() const { return has_failed_.load(std::memory_order_acquire); }
  std::optional<RunFailure> failure() const;

  struct TakeBack {
    ClientPool* client_pool;
    void operator()(ThreadMemory* memory) const { client_pool->take_back(*memory); }
  };
  /// Memory of a thread for as long as it is held.
  std::unique_ptr<ThreadMemory, TakeBack> lend();

  /// Thread CPU seconds spent in steps so far; complete when nothing is outstanding. With small models a monotonic
  /// clock stands in, because asking for CPU time would cost more than the step.
  double math_seconds() const { return seconds_of(&ThreadMemory::math_nanoseconds); }
  /// The same for copying and scoring samples.
  double evaluation_seconds() const { return seconds_of(&ThreadMemory::evaluation_nanoseconds); }

  /// Of math_seconds: those of steps that make messages or take them in. Not measured with small models.
  std::optional<double> message_seconds() const {
    return exact_time_ ? std::optional(seconds_of(&ThreadMemory::message_nanoseconds)) : std::nullopt;
  }

  /// A clock for differences, in nanoseconds.
  std::int64_t math_clock() const;

 private:
  void take_back(ThreadMemory& memory);
  double seconds_of(std::int64_t ThreadMemory::*nanoseconds) const;

  SnapshotSink& snapshots_;
  bool exact_time_;
  std::atomic<bool> has_failed_{false};
  mutable std::mutex mutex_;
  std::optional<RunFailure> failure_;
  std::vector<std::unique_ptr<ThreadMemory>> memories_;  // all there are, those on loan included
  std::vector<ThreadMemory*> at_home_;
};

template <class Wake>
std::int64_t Client::run(ClientPool& client_pool, ThreadMemory& memory, Wake wake) {
  std::int64_t performed = 0;
  std::uint32_t seen = reasons_.load(std::memory_order_acquire);
  while (true) {
    take_added();
    if (!is_waiting_.load(std::memory_order_acquire)) performed += perform_all(client_pool, memory, wake);
    const std::uint32_t before = reasons_.fetch_sub(seen, std::memory_order_acq_rel);
    if (before == seen) return performed;  // from here on the client may be another thread's
    seen = before - seen;
  }
}

template <class Wake>
std::int64_t Client::perform_all(ClientPool& client_pool, ThreadMemory& memory, Wake wake) {
  std::int64_t performed = 0;
  while (first_) {
    const Step* step = first_->current();
    if (!step) {
      StepBatch* done = first_;
      first_ = done->next;
      client_pool.batches.give_back(*done);
      continue;
    }
    if (!payloads_are_there(*step, client_pool)) return performed;
    if (step->kind == StepKind::measure) {
      measure(*step, client_pool, memory);
    } else {
      for (Waiter* waiter = perform(*step, client_pool, memory); waiter;) {
        Waiter* following = waiter->next;
        wake(static_cast<Client&>(*waiter));
        waiter = following;
      }
    }
    first_->pass();
    ++performed;
  }
  last_ = nullptr;
  return performed;
}

/// Runs a client that was entered, and then all that it wakes, on this thread: what a neighbour waits for is still
/// warm. `give_away` may take a woken client (entered already) to another thread: it returns true if it did.
/// `on_performed` hears of every few steps, so that the conductor's credit comes back in time.
template <class GiveAway, class OnPerformed>
void run_with_neighbours(Client& entered, ClientPool& client_pool, ThreadMemory& memory, GiveAway give_away,
                         OnPerformed on_performed) {
  constexpr std::int64_t few = 64;
  std::vector<Client*>& woken = memory.woken;
  woken.assign(1, &entered);
  std::int64_t performed = 0;
  const std::int64_t since = client_pool.math_clock();
  const std::int64_t evaluated = memory.evaluation_nanoseconds;
  while (!woken.empty()) {
    Client& client = *woken.back();
    woken.pop_back();
    while (!woken.empty() && give_away(*woken.back())) woken.pop_back();
    performed += client.run(client_pool, memory, [&](Client& waiting) {
      waiting.stop_waiting();
      if (waiting.enter() && !give_away(waiting)) woken.push_back(&waiting);
    });
    if (performed < few && !woken.empty()) continue;
    if (woken.empty())  // before the last steps are reported: after that the run may be over
      memory.math_nanoseconds += client_pool.math_clock() - since - (memory.evaluation_nanoseconds - evaluated);
    on_performed(performed);
    performed = 0;
  }
}

}  // namespace rubato
