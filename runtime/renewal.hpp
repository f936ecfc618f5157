// The law of one timer: how long from one tick to the next.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/archive.hpp"
#include "runtime/random.hpp"
#include "runtime/time.hpp"

namespace rubato {

/// Seconds from one tick to the next: a function of the numbers and of what it draws, and nothing else.
using OwnInterval = double (*)(std::span<const double> numbers, Stream& stream);

/// One law with its numbers, in seconds and ticks per second. Shared by all timers that obey it.
struct TimerLaw {
  enum class Kind : std::uint8_t { off, poisson, fixed, shifted_exponential, gamma, lognormal, table, coupled, own };

  Kind kind = Kind::off;
  double first = 0;   // poisson: rate; fixed: period; shifted: minimum; gamma: shape; lognormal: mean of the interval
  double second = 0;  // fixed: phase of the first tick; shifted: rate; gamma: rate; lognormal: sigma of its logarithm
  std::shared_ptr<const std::vector<Time>> ticks{};      // table: ascending
  std::uint32_t every = 1;                               // coupled: a transmit tick after every this many computations,
  std::uint32_t repeat = 1;                              // this many times
  OwnInterval interval = nullptr;                        // own; first: its mean rate
  std::shared_ptr<const std::vector<double>> numbers{};  // own: what the interval is made from

  static TimerLaw off() { return {}; }
  static TimerLaw poisson(double rate_per_second) { return {.kind = Kind::poisson, .first = rate_per_second}; }
  static TimerLaw fixed(double period, double phase) { return {.kind = Kind::fixed, .first = period, .second = phase}; }
  static TimerLaw shifted_exponential(double minimum, double rate) {
    return {.kind = Kind::shifted_exponential, .first = minimum, .second = rate};
  }
  static TimerLaw gamma(double shape, double rate) { return {.kind = Kind::gamma, .first = shape, .second = rate}; }
  static TimerLaw lognormal(double mean, double sigma) { return {.kind = Kind::lognormal, .first = mean, .second = sigma}; }
  static TimerLaw table(std::vector<Time> ascending_ticks);
  static TimerLaw coupled(std::uint32_t every, std::uint32_t repeat) {
    return {.kind = Kind::coupled, .every = every, .repeat = repeat};
  }

  static TimerLaw own(OwnInterval interval, std::vector<double> numbers, double mean_rate);

  /// Mean ticks per second; of a table, over `until` seconds.
  double mean_rate(double until) const;
  bool ticks_by_itself() const { return kind != Kind::off && kind != Kind::coupled; }
};

/// The ticks of one timer. Each tick is measured from the last one, so nothing that happens in between moves it, and
/// two ticks of one timer are at least a nanosecond apart.
class Timer {
 public:
  /// The next tick, or never. `purpose` and `detail` name the stream; the law must stay the same from call to call.
  Time next(const TimerLaw& law, std::uint64_t seed, ClientId client, Purpose purpose, std::uint32_t detail = 0);

  /// One interval of the law, without moving the timer's own time line: rounds measure their computations with it.
  Duration interval(const TimerLaw& law, std::uint64_t seed, ClientId client, Purpose purpose, std::uint32_t detail = 0);

  /// Nothing ticked before this instant: what was due is left out, and the next interval begins here (of a table or a
  /// fixed period: where its own time line says).
  void skip_to(Time now, const TimerLaw& law);

  void archive(Archive& archive) { archive(last_, count_, spare_); }

  /// The last tick handed out; the start of the experiment before the first.
  Time last() const { return last_; }

 private:
  std::uint64_t bits(std::uint64_t seed, ClientId client, Purpose purpose, std::uint32_t detail);

  Time last_{};
  std::uint64_t count_ = 0;  // draws made, or ticks of a table handed out
  std::uint64_t spare_ = 0;
};

}  // namespace rubato
