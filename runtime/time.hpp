// Time and Duration: whole nanoseconds since the start of the experiment. Nobody can ask them what time it is.
#pragma once

#include <chrono>
#include <cstdint>

namespace rubato {

using Duration = std::chrono::nanoseconds;

/// The experiment's own time line. It has no now(): only the conductor and the wall clock know the time.
struct ExperimentClock {
  using duration = Duration;
  using rep = Duration::rep;
  using period = Duration::period;
  using time_point = std::chrono::time_point<ExperimentClock, Duration>;
  static constexpr bool is_steady = true;
};

using Time = ExperimentClock::time_point;

inline constexpr Time never = Time::max();

/// Rounds to the nearest nanosecond. Saturates: what does not fit becomes the largest representable duration.
Duration from_seconds(double seconds);

constexpr double to_seconds(Duration duration) { return static_cast<double>(duration.count()) / 1e9; }
constexpr double to_seconds(Time time) { return to_seconds(time.time_since_epoch()); }

/// base + step without overflow: the far end of time stays never.
constexpr Time later(Time base, Duration step) { return base > never - step ? never : base + step; }

}  // namespace rubato
