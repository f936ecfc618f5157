#include "actors/core/reporter.hpp"

#include <fmt/format.h>

#include <utility>

namespace rubato {

void Reporter::take(const Sample& sample) {
  if (control_.stops_on_nan && !sample.diverged.empty()) {
    control_.is_nan_stop.store(true);
    control_.ends_at_sample.store(true);
    control_.is_stopping.store(true);
  }
  std::unique_lock lock(control_.mutex);
  fresh_.push_back(sample);
  ++unjudged_;
  control_.changed.notify_all();
  if (judges_samples() && control_.may_end_at_samples) control_.changed.wait(lock, [this] { return unjudged_ == 0; });
}

std::string Reporter::reason_to_stop(Time now, Time until) const {
  if (options_.stop && options_.stop->load()) return "stop";
  if (now >= until || !control_.is_stopping.load()) return {};
  return ended_by_.empty() ? "metrics.stop_on_nan" : ended_by_;
}

void Reporter::end_at_sample(const char* reason) {
  if (!ended_by_.empty()) return;
  ended_by_ = reason;
  control_.ends_at_sample.store(true);
  control_.is_stopping.store(true);
}

void Reporter::wait(const std::function<void()>& look, const std::function<void()>& on_pause) {
  std::unique_lock lock(control_.mutex);
  while (!control_.is_done) {
    if (!control_.is_paused) control_.changed.wait_for(lock, std::chrono::milliseconds(100));
    const bool is_paused = control_.is_paused;
    if (options_.stop && options_.stop->load()) control_.is_stopping.store(true);
    lock.unlock();
    if (look) guarded(look);
    report();
    if (is_paused) {
      if (!thrown_) guarded(on_pause);  // else something that was reported may be missing where it belongs
      control_.go_on();
    }
    lock.lock();
  }
  lock.unlock();
  report();
}

// Without the lock. If the caller's function throws, the run ends first.
void Reporter::guarded(const std::function<void()>& act) {
  try {
    act();
  } catch (...) {
    if (!thrown_) thrown_ = std::current_exception();
    control_.is_stopping.store(true);
  }
}

void Reporter::report() {
  std::vector<Sample> fresh;
  {
    const std::lock_guard lock(control_.mutex);
    fresh.swap(fresh_);
  }
  guarded([&] {
    for (Sample& sample : fresh) keep(std::move(sample));
    if (options_.on_progress) options_.on_progress(progress());
    note_waiting();
    hand_on_glance();
  });
  if (fresh.empty()) return;
  const std::lock_guard lock(control_.mutex);
  unjudged_ -= fresh.size();
  control_.changed.notify_all();
}

// Numbers per client are kept of the last sample only: memory must not grow with the length of a run.
void Reporter::keep(Sample sample) {
  if (!samples_.empty()) {
    samples_.back().accuracies = {};
    samples_.back().losses = {};
    if (!options_.keeps_samples) samples_.clear();
  }
  for (const std::string& sentence : divergences_.look_at(sample))
    if (options_.on_note) options_.on_note(sentence);
  samples_.push_back(std::move(sample));
  if (options_.on_sample) options_.on_sample(samples_.back());
  if (!ended_by_.empty()) return;
  if (control_.stop_rule && control_.stop_rule->holds_at(samples_.back())) end_at_sample("metrics.stop");
  if (options_.stop_when && options_.stop_when(samples_.back())) end_at_sample("stop_when");
}

void Reporter::note_waiting() {
  if (!control_.goes_in_rounds.load(std::memory_order_acquire)) return;
  const std::uint64_t rounds = control_.rounds.load();
  const double now = wall_seconds();
  if (rounds != std::exchange(rounds_, rounds)) silent_since_ = now;
  if (!options_.on_note || options_.says_waiting_after <= 0 || now - silent_since_ < options_.says_waiting_after) return;
  options_.on_note(
      fmt::format("no round has ended for {:.0f} s: {} are over, the next one waits for {} computations and {} messages",
                  now - silent_since_, rounds, control_.awaited_computations.load(), control_.awaited_messages.load()));
  silent_since_ = now;
}

void Reporter::hand_on_glance() {
  if (!options_.on_glance) return;
  std::optional<Glance> fresh;
  {
    const std::lock_guard lock(control_.mutex);
    fresh.swap(control_.glance);
  }
  if (fresh) options_.on_glance(*fresh);
  if (options_.wants_glance && options_.wants_glance()) control_.wants_glance.store(true, std::memory_order_relaxed);
}

Progress Reporter::progress() const {
  Progress progress{static_cast<double>(control_.now_nanoseconds.load()) * 1e-9, wall_seconds(), control_.events.load(),
                    std::nullopt};
  if (!samples_.empty() && samples_.back().is_classified) progress.accuracy = samples_.back().accuracy_mean;
  return progress;
}

}  // namespace rubato
