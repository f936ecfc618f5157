#include "experiment/build/devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "experiment/build/meeting_rates.hpp"
#include "experiment/build/resolved_algorithm.hpp"
#include "experiment/build/timers.hpp"
#include "runtime/protocols/round_client.hpp"
#include "runtime/random.hpp"

namespace rubato {

namespace {

constexpr std::uint32_t dealing = 1000, drawing = 1001;  // details of Purpose::rate

std::vector<std::uint32_t> shuffled(std::size_t clients, std::uint64_t seed) {
  std::vector<std::uint32_t> order(clients);
  std::iota(order.begin(), order.end(), 0u);
  Stream stream(seed, no_client, Purpose::rate, dealing);
  for (std::size_t i = clients; i > 1; --i) std::swap(order[i - 1], order[stream.below(i)]);
  return order;
}

std::vector<double> costs(const config::Experiment& experiment, const config::Law& law, std::uint32_t which,
                          std::optional<double> config::DeviceClass::*cost) {
  const auto of_class = [=](const config::DeviceClass& device) {
    return device.*cost ? std::optional(config::Law::constant(*(device.*cost))) : std::nullopt;
  };
  std::vector<double> all = numbers_of(experiment, law, drawing + which, of_class);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!(all[i] >= 0) || !std::isfinite(all[i]))
      throw std::invalid_argument(fmt::format("[energy]: a cost of client {} is {:f}: must be at least 0", i, all[i]));
  return all;
}

}  // namespace

EnergyModel energy_model(const config::Experiment& experiment, double message_bytes) {
  const config::Energy& energy = experiment.energy;
  return {costs(experiment, energy.transmit_watts, 2, &config::DeviceClass::transmit_watts),
          costs(experiment, energy.compute_joules, 3, &config::DeviceClass::compute_joules),
          8 * message_bytes / energy.bits_per_second};
}

std::vector<double> numbers_of(const config::Experiment& experiment, const config::Law& law, std::uint32_t which,
                               const OfClass& of_class) {
  const config::Clients& clients = experiment.clients;
  const auto seed = static_cast<std::uint64_t>(experiment.seed);
  const PerClient usual(law, seed, which);
  const bool is_by_class = std::ranges::any_of(clients.classes, [&](const auto& device) { return of_class(device).has_value(); });
  if (!is_by_class && usual.is_same_for_all()) return {usual.of({0})};
  const auto classes = classes_of(clients, seed);
  std::vector<double> all;
  for (std::uint32_t i = 0; i < classes.size(); ++i) {
    const std::optional<config::Law> own = classes[i] ? of_class(clients.classes[*classes[i]]) : std::nullopt;
    all.push_back(own ? PerClient(*own, seed, which).of({i}) : usual.of({i}));
  }
  return all;
}

std::vector<std::optional<std::size_t>> classes_of(const config::Clients& clients, std::uint64_t seed) {
  const auto count = static_cast<std::size_t>(clients.count);
  std::vector<std::optional<std::size_t>> classes(count);
  if (clients.classes.empty()) return classes;
  const std::vector<std::uint32_t> order = shuffled(count, seed);
  double covered = 0;
  std::size_t dealt = 0;
  for (std::size_t k = 0; k < clients.classes.size(); ++k) {
    covered += clients.classes[k].share;
    const auto end = static_cast<std::size_t>(std::llround(std::min(covered, 1.0) * static_cast<double>(count)));
    for (; dealt < end; ++dealt) classes[order[dealt]] = k;
  }
  return classes;
}

TimerLaw with_rate(const TimerLaw& law, double rate) {
  using Kind = TimerLaw::Kind;
  TimerLaw changed = law;
  switch (law.kind) {
    case Kind::poisson:
      changed.first = rate;
      return changed;
    case Kind::fixed:
    case Kind::lognormal:
      changed.first = 1 / rate;
      return changed;
    case Kind::shifted_exponential:
    case Kind::gamma:
      changed.second = rate;
      return changed;
    case Kind::off:
    case Kind::table:
    case Kind::coupled:
    case Kind::own:
      break;
  }
  throw std::invalid_argument(
      "clients.classes: a rate of a class needs a timer of law poisson, fixed, shifted_exp, gamma or lognormal");
}

std::vector<TimerLaw> timers_of(const config::Experiment& experiment, bool is_transmit) {
  const config::Clients& clients = experiment.clients;
  const auto seed = static_cast<std::uint64_t>(experiment.seed);
  const std::vector<TimerLaw> laws = to_timers(is_transmit ? clients.transmit : clients.compute, seed, is_transmit ? 2 : 0,
                                               static_cast<std::size_t>(clients.count));
  const auto rate_of = [&](const config::DeviceClass& device) { return is_transmit ? device.transmit_rate : device.rate; };
  if (std::ranges::none_of(clients.classes, [&](const auto& device) { return rate_of(device).has_value(); })) return laws;
  const auto classes = classes_of(clients, seed);
  std::vector<TimerLaw> all(classes.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    all[i] = laws[laws.size() > 1 ? i : 0];
    if (!classes[i]) continue;
    const std::optional<config::Law> rate = rate_of(clients.classes[*classes[i]]);
    const std::string key = fmt::format("clients.classes[{}].{}", *classes[i], is_transmit ? "transmit_rate" : "rate");
    if (rate) all[i] = with_rate(all[i], above_zero(PerClient(*rate, seed, drawing + is_transmit).of({i}), {i}, key));
  }
  return all;
}

std::vector<double> straggler_chances(const config::Experiment& experiment) {
  using Kind = TimerLaw::Kind;
  const char* const key = "algorithm.straggling = \"law\"";
  if (!experiment.protocol.compute_phase)
    throw std::invalid_argument(fmt::format("{} needs protocol.compute_phase: without it no client straggles", key));
  const double phase = *experiment.protocol.compute_phase;
  const std::vector<TimerLaw> laws = timers_of(experiment, false);
  std::vector<double> chances;
  for (std::size_t i = 0; i < laws.size(); ++i) {
    const TimerLaw& law = laws[i];
    if (law.kind != Kind::poisson && law.kind != Kind::fixed && law.kind != Kind::shifted_exponential)
      throw std::invalid_argument(fmt::format("{} needs clients.compute.law = \"shifted_exp\", \"poisson\" or \"fixed\"", key));
    const double chance = law.kind == Kind::fixed                 ? static_cast<double>(law.first > phase)
                          : law.kind == Kind::shifted_exponential ? straggler_chance(phase, law.first, law.second)
                                                                  : straggler_chance(phase, 0, law.first);
    if (chance >= 1)
      throw std::invalid_argument(
          fmt::format("{}: no computation of client {} is ever done within protocol.compute_phase = {:g}", key, i, phase));
    chances.push_back(chance);
  }
  return chances;
}

AlgorithmOptions options_in_force(const config::Experiment& experiment) {
  AlgorithmOptions options = known_options(experiment);
  if (options.word("straggling", "nu") == "law") options.set("nu", straggler_chances(experiment));
  if (options.word("constants", "given") == "graph") {
    const AcidConstants constants = acid_constants_of(experiment);
    options.set("eta", constants.eta);
    options.set("alpha", constants.alpha);
    options.set("alpha_tilde", constants.alpha_tilde);
  }
  return options;
}

}  // namespace rubato
