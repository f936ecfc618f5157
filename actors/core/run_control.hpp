// What the actors of one run know of each other, and the messages between them. CAF is named in this folder only.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "actors/core/caf.hpp"
#include "actors/core/client_pool.hpp"
#include "results/evaluation.hpp"
#include "results/stop_rule.hpp"
#include "runtime/engine/step_source.hpp"

namespace rubato {

/// To a client: there are more steps for you.
struct StepsForYou {};

/// To a client that another thread has entered: run now.
struct YourTurn {};

/// To the conductor: clients have caught up, go on.
struct GoOn {};

/// To an evaluator, then to the gatherer: the model of one client in one sample.
struct ModelToScore {
  std::uint64_t sample;
  ClientId client;
  Time at;
  Snapshot snapshot;
};

struct ScoredModel {
  ModelToScore model;
  Scores scores;
};

/// To the gatherer: a sample begins; models of so many clients will come.
struct SampleOpens {
  SampleHeader header;
};

struct RunControl {
  RunControl(ClientPool& shared, const Evaluation& scoring, int worker_threads)
      : client_pool{shared}, evaluation{scoring}, workers{worker_threads} {}

  ClientPool& client_pool;
  const Evaluation& evaluation;
  std::vector<caf::actor> clients;  ///< by client; null: at another host
  std::vector<caf::actor> evaluators;
  caf::actor gatherer;
  caf::actor conductor;

  int workers;
  /// Workers in the middle of a handler.
  alignas(64) std::atomic<int> busy{0};
  bool has_idle_worker() const { return busy.load(std::memory_order_relaxed) < workers; }

  /// The conductor sleeps until the outstanding steps fall to `wake_at`, or a sample is complete.
  alignas(64) std::atomic<bool> conductor_sleeps{false};
  std::atomic<std::int64_t> wake_at{0};
  std::atomic<int> open_samples{0};

  bool orders_samples = true;            ///< virtual time: none is left out, so they are reported in their order
  bool stops_on_nan = false;             ///< at the first sample with a model that is not finite
  bool may_end_at_samples = false;       ///< virtual time: nothing follows a sample before it is judged
  StopRule* stop_rule = nullptr;         ///< metrics.stop, where there is one; asked by the reporter alone
  std::atomic<bool> is_stopping{false};  ///< the run is to end with what it has
  /// A sample has been judged to be the last one, and it was because a model is not finite. Set before is_stopping.
  std::atomic<bool> ends_at_sample{false}, is_nan_stop{false};
  std::atomic<bool> is_closed{false};  ///< handlers that begin now leave everything alone
  std::atomic<std::int64_t> now_nanoseconds{0};
  std::atomic<std::uint64_t> events{0};
  /// Of a run in rounds, as far as the thread that reports has been told.
  std::atomic<bool> goes_in_rounds{false};
  std::atomic<std::uint64_t> rounds{0}, awaited_computations{0}, awaited_messages{0};
  void tell(const RoundsSoFar& so_far) {
    rounds.store(so_far.done, std::memory_order_relaxed);
    awaited_computations.store(so_far.waiting.computations, std::memory_order_relaxed);
    awaited_messages.store(so_far.waiting.messages, std::memory_order_relaxed);
    goes_in_rounds.store(true, std::memory_order_release);
  }

  /// The counters are asked for; the thread that has them shows them soon.
  std::atomic<bool> wants_glance{false};
  bool is_looked_at() { return wants_glance.load(std::memory_order_relaxed) && wants_glance.exchange(false); }
  void show(std::optional<Glance> now) {
    const std::lock_guard lock(mutex);
    glance = std::move(now);
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Glance> glance;  ///< guarded: the newest that was not handed on
  bool is_done = false;
  bool is_paused = false;  ///< guarded: nothing moves until the thread that called for the run has said go_on()

  /// A snapshot with a model goes to an evaluator, one without straight to the gatherer.
  void evaluate(ModelToScore model) {
    if (!model.snapshot.model) return hand(gatherer, ScoredModel{std::move(model), {}});
    const caf::actor& evaluator = evaluators[model.client.value % evaluators.size()];
    hand(evaluator, std::move(model));
  }
  /// A model of a sample is dealt with, for better or worse.
  void close_model(bool ends_sample) {
    if (ends_sample) --open_samples;
    const bool is_low = client_pool.outstanding.fetch_sub(1) - 1 <= wake_at.load();
    if (ends_sample || is_low || client_pool.has_failed()) wake_conductor();
  }
  void wake_conductor() {
    if (conductor_sleeps.exchange(false)) hand(conductor, GoOn{});
  }
  void finish() {
    const std::lock_guard lock(mutex);
    is_done = true;
    changed.notify_all();
  }
  void pause() {
    const std::lock_guard lock(mutex);
    is_paused = true;
    changed.notify_all();
  }
  void go_on() {
    {
      const std::lock_guard lock(mutex);
      is_paused = false;
    }
    hand(conductor, GoOn{});
  }
  /// Waits for handlers that are at work; those that come later find the stage closed.
  void close() {
    is_closed.store(true);
    while (busy.load() > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  /// Actors must not outlive the run: an idle one ends when nothing refers to it any more.
  void let_go() {
    clients.clear();
    evaluators.clear();
    gatherer = conductor = nullptr;
  }
};

/// Counts its thread as busy while it lives.
class BusyWorker {
 public:
  explicit BusyWorker(RunControl& control) : control_{control} { control_.busy.fetch_add(1); }
  ~BusyWorker() { control_.busy.fetch_sub(1); }
  BusyWorker(const BusyWorker&) = delete;
  BusyWorker& operator=(const BusyWorker&) = delete;

 private:
  RunControl& control_;
};

}  // namespace rubato

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(rubato::StepsForYou)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(rubato::YourTurn)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(rubato::GoOn)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(rubato::ModelToScore)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(rubato::ScoredModel)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(rubato::SampleOpens)
