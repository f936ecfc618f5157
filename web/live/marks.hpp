// Marks: what the clients of a virtual run do, as it happens, for the score of a page. Nothing is kept unless it is watched, and
// what is not fetched in time is dropped and counted.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/engine/conductor.hpp"

namespace rubato::web {

/// Its words are in the order of docs/live.md.
enum class MarkKind : std::uint8_t {
  compute,
  publish,
  kept,
  late,
  capped,
  superseded,
  duplicate,
  lost,
  merge,
  absorbed,
  unification,
  come,
  leave,
  crash,
  pause,
  go_on,
  partition,
  heal,
};
inline constexpr std::string_view mark_words =
    "compute|publish|kept|late|capped|superseded|duplicate|lost|merge|absorbed|unification|come|leave|crash|pause|go_on|partition|"
    "heal";

struct Mark {
  Time at{}, since{};
  std::int32_t client = -1;  ///< -1: all
  std::int32_t other = 0;
  MarkKind kind = MarkKind::compute;
};

/// Written by one thread at a time, read by another. Holds `room` marks, a power of two.
class MarkRing {
 public:
  explicit MarkRing(std::size_t room) : marks_(room) {}
  void add(const Mark& mark) {
    const std::uint64_t end = end_.load(std::memory_order_relaxed);
    if (end - begin_.load(std::memory_order_acquire) == marks_.size()) {
      dropped_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    marks_[end & (marks_.size() - 1)] = mark;
    end_.store(end + 1, std::memory_order_release);
  }
  /// Calls take(mark) for all that are there.
  template <class Take>
  void take_all(Take take) {
    std::uint64_t begin = begin_.load(std::memory_order_relaxed);
    for (const std::uint64_t end = end_.load(std::memory_order_acquire); begin < end; ++begin)
      take(marks_[begin & (marks_.size() - 1)]);
    begin_.store(begin, std::memory_order_release);
  }
  std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  std::vector<Mark> marks_;
  alignas(64) std::atomic<std::uint64_t> begin_{0};
  alignas(64) std::atomic<std::uint64_t> end_{0};
  std::atomic<std::uint64_t> dropped_{0};
};

class MarkWatch final : public EventObserver {
 public:
  /// `on_event` hears of unifications and churn whether the marks are watched or not, on the thread of the timing.
  using OnEvent = std::function<void(MarkKind, Time, std::int32_t client)>;
  explicit MarkWatch(OnEvent on_event = {}) : on_event_{std::move(on_event)} {}

  /// Any thread.
  void watch(bool is_watched) { is_watched_.store(is_watched, std::memory_order_relaxed); }
  bool is_watched() const { return is_watched_.load(std::memory_order_relaxed); }
  /// Any thread: takes what has come; how many there have been so far.
  std::uint64_t collect() const;
  /// The frame of those with numbers from `from` on.
  std::string frame(std::uint64_t from) const;

  void on_unify(Time at, std::uint64_t index, ClientId hub) override;
  void on_arrival(const Arrival& arrival, ClientId receiver, Offer offer, std::uint32_t tokens_left) override;
  void on_window_close(Time at, ClientId client, std::span<const Arrival> batch, std::span<const StepEntry> used) override;
  void on_merge(Time at, ClientId client, std::span<const StepEntry> used) override;
  void on_compute(Time at, ClientId client) override;
  void on_transmit(Time at, ClientId client, const Step* publish) override;
  void on_churn(const ChurnEvent& event) override;

 private:
  void happened(MarkKind kind, Time at, std::int32_t client);
  void merged(Time at, Time opened, ClientId client, std::span<const StepEntry> used);

  const OnEvent on_event_;
  std::atomic<bool> is_watched_{false};
  mutable MarkRing fresh_{std::size_t{1} << 16};
  mutable std::mutex mutex_;  // guards what follows
  mutable std::deque<Mark> kept_;
  mutable std::uint64_t first_ = 0;  // the number of the first that is kept
};

}  // namespace rubato::web
