// Reporter: hands samples and progress from the threads of a run to the thread that called for it.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "actors/core/run_control.hpp"
#include "actors/core/run_options.hpp"
#include "results/divergence.hpp"
#include "results/run_result.hpp"

namespace rubato {

class Reporter {
 public:
  /// Both outlive the reporter.
  Reporter(const RunOptions& options, RunControl& control) : options_{options}, control_{control} {}

  /// Any thread: a sample is complete. Where a run may end at samples, returns when it is judged.
  void take(const Sample& sample);

  /// Until the stage is done: hears the wish to stop, and reports ten times a second. `look` is called each time, under
  /// no lock; `on_pause` while the stage is paused and everything was reported, then the stage goes on. The caller's
  /// functions may throw: then the run is asked to stop, and `on_pause` is not called any more.
  void wait(const std::function<void()>& look = {}, const std::function<void()>& on_pause = {});
  /// Calls one of the caller's functions; what it throws is kept, and the run is asked to stop.
  void guarded(const std::function<void()>& act);
  /// One of the caller's functions has thrown.
  bool has_thrown() const { return thrown_ != nullptr; }
  /// Throws what the caller's functions have thrown.
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }
  /// Says what is new, now.
  void report();

  /// What ended the run before `until`, if that was before now: "stop", "stop_when", "metrics.stop", "metrics.stop_on_nan"; else
  /// empty.
  std::string reason_to_stop(Time now, Time until) const;

  std::vector<Sample>& samples() { return samples_; }
  /// What the samples so far, those of earlier lives too, have shown.
  const Divergences& divergences() const { return divergences_; }
  /// Before the first sample of this life.
  void go_on_from(Divergences earlier) { divergences_ = std::move(earlier); }
  double wall_seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;

  bool judges_samples() const { return options_.stop_when || control_.stop_rule; }
  void end_at_sample(const char* reason);
  void keep(Sample sample);
  void note_waiting();
  void hand_on_glance();
  Progress progress() const;

  const RunOptions& options_;
  RunControl& control_;
  Clock::time_point start_ = Clock::now();
  std::vector<Sample> fresh_;   // guarded by the stage's mutex, like the next one
  std::uint64_t unjudged_ = 0;  // samples taken and not yet seen by the caller's functions
  std::string ended_by_;        // the first that has judged a sample to be the last
  std::vector<Sample> samples_;
  Divergences divergences_;
  std::uint64_t rounds_ = 0;   // that were over when it looked last
  double silent_since_ = 0;    // real seconds: the last round has ended, or it was said what the next one waits for
  std::exception_ptr thrown_;  // by the caller's functions
};

}  // namespace rubato
