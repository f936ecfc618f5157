#include "runtime/renewal.hpp"

#include <algorithm>
#include <utility>

#include "runtime/elementary.hpp"

namespace rubato {

TimerLaw TimerLaw::table(std::vector<Time> ascending_ticks) {
  return {.kind = Kind::table, .ticks = std::make_shared<const std::vector<Time>>(std::move(ascending_ticks))};
}

TimerLaw TimerLaw::own(OwnInterval interval, std::vector<double> numbers, double mean_rate) {
  return {.kind = Kind::own,
          .first = mean_rate,
          .interval = interval,
          .numbers = std::make_shared<const std::vector<double>>(std::move(numbers))};
}

double TimerLaw::mean_rate(double until) const {
  switch (kind) {
    case Kind::poisson:
    case Kind::own:
      return first;
    case Kind::fixed:
    case Kind::lognormal:
      return 1 / first;
    case Kind::shifted_exponential:
      return 1 / (first + 1 / second);
    case Kind::gamma:
      return second / first;
    case Kind::table:
      return static_cast<double>(ticks->size()) / until;
    case Kind::off:
    case Kind::coupled:
      break;
  }
  return 0;
}

std::uint64_t Timer::bits(std::uint64_t seed, ClientId client, Purpose purpose, std::uint32_t detail) {
  if (count_++ % 2 == 1) return spare_;
  const DrawnPair pair = draw(seed, client, purpose, (count_ - 1) / 2, detail);
  spare_ = pair.second;
  return pair.first;
}

Duration Timer::interval(const TimerLaw& law, std::uint64_t seed, ClientId client, Purpose purpose, std::uint32_t detail) {
  const auto bits = [&] { return this->bits(seed, client, purpose, detail); };
  const auto from = [](double seconds) { return std::max(from_seconds(seconds), Duration{1}); };
  switch (law.kind) {
    case TimerLaw::Kind::poisson:
      return from(exponential(bits()) / law.first);
    case TimerLaw::Kind::shifted_exponential:
      return from(law.first + exponential(bits()) / law.second);
    case TimerLaw::Kind::fixed:
      return from(law.first);
    case TimerLaw::Kind::lognormal:
      return from(law.first * elementary::exp(law.second * normal(bits()) - 0.5 * law.second * law.second));
    case TimerLaw::Kind::gamma: {
      Stream stream(seed, client, purpose, detail);
      stream.seek(count_);
      const double seconds = stream.gamma(law.first) / law.second;
      count_ = stream.position() + stream.position() % 2;
      return from(seconds);
    }
    case TimerLaw::Kind::own: {
      Stream stream(seed, client, purpose, detail);
      stream.seek(count_);
      const double seconds = law.interval(*law.numbers, stream);
      count_ = stream.position() + stream.position() % 2;
      return seconds <= to_seconds(Duration::max()) / 2 ? from(seconds) : Duration::max();  // not a number: never
    }
    case TimerLaw::Kind::table: {
      const auto& ticks = *law.ticks;
      if (count_ >= ticks.size()) return Duration::max();
      const Time previous = count_ == 0 ? Time{} : ticks[count_ - 1];
      return ticks[count_++] - previous;
    }
    case TimerLaw::Kind::off:
    case TimerLaw::Kind::coupled:
      break;
  }
  return Duration::max();
}

void Timer::skip_to(Time now, const TimerLaw& law) {
  if (last_ >= now) return;
  if (law.kind == TimerLaw::Kind::table) {
    while (count_ < law.ticks->size() && (*law.ticks)[count_] < now) ++count_;
    if (count_ > 0) last_ = (*law.ticks)[count_ - 1];
    return;
  }
  if (law.kind != TimerLaw::Kind::fixed) {
    last_ = now;
    return;
  }
  const Duration period = std::max(from_seconds(law.first), Duration{1});
  if (count_ == 0) {
    const Time first{from_seconds(law.second)};
    if (first >= now) return;  // it has not ticked yet
    count_ = 1;
    last_ = first;
  }
  last_ += (now - last_ - Duration{1}) / period * period;
}

Time Timer::next(const TimerLaw& law, std::uint64_t seed, ClientId client, Purpose purpose, std::uint32_t detail) {
  if (law.kind == TimerLaw::Kind::fixed && count_ == 0) {
    count_ = 1;
    return last_ = Time{from_seconds(law.second)};
  }
  last_ = later(last_, interval(law, seed, client, purpose, detail));
  return last_;
}

}  // namespace rubato
