#include "experiment/build/timers.hpp"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace rubato {

Law law_of(const config::Law& law) {
  using Kind = LawKind;
  switch (law.law) {
    case Kind::constant:
      return Law::constant(law.value);
    case Kind::exponential:
      return {.kind = law.law, .first = law.mean};
    case Kind::uniform:
      return {.kind = Kind::uniform, .first = law.low, .second = law.high};
    case Kind::lognormal:
      return {.kind = Kind::lognormal, .first = law.mean, .second = law.sigma};
    case Kind::beta:
      return {.kind = Kind::beta, .first = law.a, .second = law.b};
    case Kind::gamma:
      return {.kind = Kind::gamma, .first = law.shape, .second = law.rate};
    case Kind::shifted_exponential:
      return {.kind = Kind::shifted_exponential, .first = law.min, .second = law.rate};
    case Kind::list:
      return {.kind = Kind::list, .values = law.values};
  }
  return {};
}

std::vector<std::vector<Time>> read_trace(const std::string& file, std::size_t clients) {
  std::ifstream lines(file);
  if (!lines) throw std::invalid_argument("cannot read the trace " + file);
  std::vector<std::vector<Time>> ticks;
  const auto refuse = [&](const char* why) {
    throw std::invalid_argument(fmt::format("{}: line {} {}", file, ticks.size() + 1, why));
  };
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line.front() == '#') continue;
    std::istringstream numbers(line);
    std::vector<Time> row;
    for (double seconds; numbers >> seconds;) {
      const Time tick{from_seconds(seconds)};
      if (seconds < 0 || (!row.empty() && tick <= row.back())) refuse("must ascend from 0");
      row.push_back(tick);
    }
    if (!numbers.eof()) refuse("holds something that is no number");
    ticks.push_back(std::move(row));
  }
  if (ticks.size() == clients) return ticks;
  throw std::invalid_argument(fmt::format("{} has {} lines, must have one per client: {}", file, ticks.size(), clients));
}

double above_zero(double value, ClientId client, std::string_view what) {
  if (value > 0 && std::isfinite(value)) return value;
  throw std::invalid_argument(fmt::format("{} of client {} is {:f}: must be greater than 0", what, client.value, value));
}

namespace {

std::vector<TimerLaw> tabled(std::vector<std::vector<Time>> ticks) {
  std::vector<TimerLaw> laws;
  for (auto& row : ticks) laws.push_back(TimerLaw::table(std::move(row)));
  return laws;
}

std::vector<std::vector<Time>> to_ticks(const std::vector<std::vector<double>>& table) {
  std::vector<std::vector<Time>> ticks;
  for (const auto& row : table) {
    ticks.emplace_back();
    for (const double seconds : row) ticks.back().push_back(Time{from_seconds(seconds)});
  }
  return ticks;
}

// One law for all clients where its numbers are the same for all, else a law each.
template <class Make>
std::vector<TimerLaw> spread(const config::Law& first, const config::Law& second, std::uint64_t seed, std::uint32_t stream,
                             std::size_t clients, Make make) {
  const PerClient one(first, seed, stream), other(second, seed, stream + 1);
  if (one.is_same_for_all() && other.is_same_for_all()) return {make(one.of({0}), other.of({0}), ClientId{0})};
  std::vector<TimerLaw> laws;
  for (std::uint32_t i = 0; i < clients; ++i) laws.push_back(make(one.of({i}), other.of({i}), ClientId{i}));
  return laws;
}

}  // namespace

std::vector<TimerLaw> to_timers(const config::TimerLaw& law, std::uint64_t seed, std::uint32_t stream, std::size_t clients) {
  using Kind = config::TimerKind;
  static const config::Law none;
  switch (law.law) {
    case Kind::poisson:
      return spread(law.rate, none, seed, stream, clients,
                    [](double rate, double, ClientId client) { return TimerLaw::poisson(above_zero(rate, client, "the rate")); });
    case Kind::fixed:
      return spread(law.period, law.phase, seed, stream, clients, [](double period, double phase, ClientId client) {
        return TimerLaw::fixed(above_zero(period, client, "the period"), phase);
      });
    case Kind::shifted_exp:
      return spread(law.min, law.rate, seed, stream, clients, [](double minimum, double rate, ClientId client) {
        return TimerLaw::shifted_exponential(minimum, above_zero(rate, client, "the rate"));
      });
    case Kind::gamma:
      return spread(law.shape, law.rate, seed, stream, clients, [](double shape, double rate, ClientId client) {
        return TimerLaw::gamma(above_zero(shape, client, "the shape"), above_zero(rate, client, "the rate"));
      });
    case Kind::lognormal:
      return spread(law.mean, law.sigma, seed, stream, clients, [](double mean, double sigma, ClientId client) {
        return TimerLaw::lognormal(above_zero(mean, client, "the mean interval"), sigma);
      });
    case Kind::trace:
      return tabled(read_trace(law.file.string(), clients));
    case Kind::table:
      return tabled(to_ticks(law.ticks));
    case Kind::coupled:
      return {TimerLaw::coupled(static_cast<std::uint32_t>(law.every), static_cast<std::uint32_t>(law.repeat))};
    case Kind::off:
      return {TimerLaw::off()};
  }
  const OwnTimerLaw& own = *own_timer_laws()[static_cast<std::size_t>(law.law) - static_cast<std::size_t>(Kind::off) - 1];
  const std::vector<double> numbers = law.numbers.value_or(std::vector<double>{});
  if (own.check) own.check(numbers);
  return {TimerLaw::own(own.interval, numbers, above_zero(own.mean_rate(numbers), ClientId{0}, "the mean rate"))};
}

}  // namespace rubato
