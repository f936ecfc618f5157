// WallClock: real time as the experiment counts it, and alarms in it, on one io thread.
#pragma once

#include <functional>
#include <memory>

#include "runtime/time.hpp"
#include "transports/transport.hpp"

namespace rubato {

/// Monotonic time only: no change of the machine's date moves it. All functions may be called on any thread.
class WallClock {
 public:
  /// `scale` seconds of the experiment pass in a real one.
  explicit WallClock(double scale);
  ~WallClock();
  WallClock(const WallClock&) = delete;
  WallClock& operator=(const WallClock&) = delete;

  /// The experiment's time is `now` at the instant `at` of the machine's monotonic clock; alarms ring from here on.
  /// Until it is `first`, now() says `first`. Called once.
  void start(Time now, Duration at, Time first = Time::min());
  void start() { start(Time{}, monotonic_now()); }

  /// Before the start: 0. Never decreases.
  Time now() const;
  /// The experiment's time at an instant of the machine's monotonic clock.
  Time at(Duration machine) const;
  /// What now() said at that instant.
  Time told_at(Duration machine) const;
  /// So much of the experiment's time passes meanwhile.
  Duration scaled(Duration real) const;
  /// So much real time passes meanwhile.
  Duration unscaled(Duration experiment) const;

  /// Calls `ring` on the io thread when the time has come, at once if it is past. Alarms of one instant ring in the
  /// order in which they were set. It must not block for long: others wait. After stop() nothing rings.
  void alarm(Time when, std::function<void()> ring);

  /// Waits for the alarm that is ringing; the others are dropped.
  void stop();

 private:
  struct Io;

  double scale_;
  std::unique_ptr<Io> io_;
};

}  // namespace rubato
