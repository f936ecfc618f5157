// Time and Duration: whole nanoseconds since the start of the experiment. They do not tell what time it is now.
#pragma once

#include <chrono>
#include <cmath>

namespace rubato {

/// A length of time of the experiment, in whole nanoseconds: about 292 years either way.
using Duration = std::chrono::nanoseconds;

/// The experiment's own time line. It has no now(): only the conductor and the wall clock know the time.
struct ExperimentClock {
  using duration = Duration;                                              ///< as std::chrono asks of a clock
  using rep = Duration::rep;                                              ///< likewise
  using period = Duration::period;                                        ///< likewise
  using time_point = std::chrono::time_point<ExperimentClock, Duration>;  ///< likewise
  static constexpr bool is_steady = true;                                 ///< it never goes back
};

/// An instant: nanoseconds since the start of the experiment.
using Time = ExperimentClock::time_point;

/// Later than every instant of a run.
inline constexpr Time never = Time::max();

/// Rounds to the nearest nanosecond. Saturates: what does not fit becomes the largest representable duration.
inline Duration from_seconds(double seconds) {
  const double nanoseconds = seconds * 1e9;
  if (!(nanoseconds < 9.2e18)) return Duration::max();
  return nanoseconds < -9.2e18 ? Duration::min() : Duration{std::llround(nanoseconds)};
}

/// Rounded to the nearest double.
constexpr double to_seconds(Duration duration) { return static_cast<double>(duration.count()) / 1e9; }
/// Seconds since the start of the experiment.
constexpr double to_seconds(Time time) { return to_seconds(time.time_since_epoch()); }

/// base + step without overflow: the far end of time stays never.
constexpr Time later(Time base, Duration step) { return base > never - step ? never : base + step; }

}  // namespace rubato
