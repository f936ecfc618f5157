#include "experiment/build/sampling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "experiment/build/timing.hpp"
#include "runtime/random.hpp"

namespace rubato {

namespace {

using config::Experiment;

constexpr std::int64_t most_clients = 256, most_rows = 2000;
constexpr double most_share = 0.1;

// Work is counted in multiply-adds of a model that is scored on many rows at once, about 0.03 ns each. The same in a gradient
// costs more, because it has few rows and three products; a number of a vector that is copied or added costs a visit to
// memory; a step, a scored model and a client that is only counted cost these beside their numbers: events, messages between
// actors, memory that is out of the caches. Measured on the quick start and on quadratics of 16 numbers, 10,000 clients.
constexpr double gradient_work = 7, vector_work = 8, step_work = 25e3, scored_work = 120e3, counted_work = 45e3;

struct Expected {
  double computations = 0, messages = 0;
};

// From the laws of the timers, rather too few: what waits for others computes less often than its timer says, by about the
// mean of the slowest of all exponential intervals; a token is with one client at a time.
Expected expected(const Experiment& experiment, const Timing& timing) {
  const auto& laws = timing.settings.compute;
  const auto clients = static_cast<double>(timing.graph.clients());
  double rate = 0;
  for (const TimerLaw& law : laws) rate += law.mean_rate(experiment.until) / static_cast<double>(laws.size());
  Expected run{clients * rate * experiment.until};
  if (timing.protocol() == ProtocolKind::token) run.computations /= clients;
  if (timing.protocol() == ProtocolKind::rounds || timing.protocol() == ProtocolKind::server)
    run.computations /= 1 + std::log(clients);
  constexpr double most_receivers = 4;  // whether all of many are sent to is up to the algorithm
  run.messages = run.computations * std::min(static_cast<double>(timing.graph.links()) / clients, most_receivers);
  return run;
}

double work_of(const Expected& run, const TaskSize& size) {
  const auto numbers = static_cast<double>(size.dimension);
  return run.computations * ((gradient_work * size.rows_per_gradient + 2 * vector_work) * numbers + step_work) +
         run.messages * (3 * vector_work * numbers + step_work);
}

}  // namespace

// Floyd's way: each step adds one number that is not there yet.
std::vector<std::uint32_t> drawn_from(std::uint32_t total, std::uint32_t wanted, std::uint64_t seed, std::uint32_t detail) {
  Stream stream(seed, no_client, Purpose::evaluation, detail);
  std::set<std::uint32_t> drawn;
  for (std::uint32_t last = total - std::min(wanted, total); last < total; ++last) {
    const auto one = static_cast<std::uint32_t>(stream.below(std::uint64_t{last} + 1));
    drawn.insert(drawn.contains(one) ? last : one);
  }
  return {drawn.begin(), drawn.end()};
}

std::shared_ptr<const std::vector<ClientId>> measured_clients(const Experiment& experiment) {
  const config::Metrics& metrics = experiment.metrics;
  const bool needs_all = metrics.stationarity || metrics.gradient_norm || metrics.joint_objective;
  const std::int64_t wanted = metrics.clients.value_or(needs_all ? 0 : most_clients);
  if (wanted == 0 || wanted >= experiment.clients.count) return nullptr;
  auto measured = std::make_shared<std::vector<ClientId>>();
  for (const std::uint32_t client : drawn_from(static_cast<std::uint32_t>(experiment.clients.count),
                                               static_cast<std::uint32_t>(wanted), static_cast<std::uint64_t>(experiment.seed), 1))
    measured->push_back({client});
  return measured;
}

std::shared_ptr<const std::vector<std::uint32_t>> used_test_rows(const Experiment& experiment, std::size_t available) {
  const std::optional<std::int64_t>& named = experiment.metrics.test_samples;
  const auto wanted = static_cast<std::size_t>(named.value_or(most_rows));
  if (wanted == 0 || wanted >= available) return nullptr;
  if (!named)
    return std::make_shared<const std::vector<std::uint32_t>>(drawn_from(
        static_cast<std::uint32_t>(available), static_cast<std::uint32_t>(wanted), static_cast<std::uint64_t>(experiment.seed), 2));
  std::vector<std::uint32_t> rows(wanted);
  std::iota(rows.begin(), rows.end(), 0u);
  return std::make_shared<const std::vector<std::uint32_t>>(std::move(rows));
}

SamplePlan plan_samples(const Experiment& experiment, const Timing& timing, const TaskSize& size) {
  const config::Metrics& metrics = experiment.metrics;
  const std::size_t all = timing.graph.clients();
  SamplePlan plan{.measured = measured_clients(experiment), .rows = size.test_rows};
  plan.clients = plan.measured ? plan.measured->size() : all;
  plan.every_events = static_cast<std::uint64_t>(metrics.every_events.value_or(0));
  plan.every = from_seconds(metrics.every_seconds.value_or(0));
  if (metrics.before_unifications && experiment.unification.period)
    plan.before_unifications = std::floor(experiment.until / *experiment.unification.period);

  const auto numbers = static_cast<double>(size.dimension), clients = static_cast<double>(plan.clients);
  const double scored_rows = static_cast<double>(size.test_rows) * (clients + (size.shares_test ? 1 : clients));
  const double gradient = gradient_work * size.training_rows * numbers;  // a full one of a client
  const double stationary = metrics.stationarity ? clients * clients * gradient : 0;
  const double means = metrics.mean_weights == config::MeanWeights::none ? 1 : 2;
  const double at_means = metrics.gradient_norm ? means * static_cast<double>(all) * gradient : 0;
  const double training = metrics.training ? 2 * clients * size.training_rows * numbers : 0;  // own models, and their mean
  if (metrics.training) plan.training_rows = static_cast<std::size_t>(std::ceil(size.training_rows));
  const double pairs = metrics.joint_objective ? clients * (clients + 1) * size.training_rows * numbers : 0;
  const double first =
      scored_rows * numbers + clients * (4 * vector_work * numbers + scored_work) + stationary + at_means + training + pairs;
  const double later = first + static_cast<double>(all - plan.clients) * counted_work;  // at the start nothing was spent
  const Expected run = expected(experiment, timing);
  const double work = work_of(run, size);
  const auto share = [&](double samples) {
    const double scoring = (plan.at_start ? first : 0) + (samples - plan.at_start + plan.before_unifications) * later;
    return scoring / std::max(scoring + work, 1.0);
  };

  const bool is_open = !metrics.every_events && !metrics.every_seconds;
  plan.at_start = is_open || plan.every_events > 0 || plan.every > Duration{};
  if (is_open) {
    constexpr std::int64_t most = 100;
    std::int64_t parts = most;
    for (const std::int64_t fewer : {100, 50, 25, 20, 10, 5, 4, 2, 1})
      if (parts = fewer; share(static_cast<double>(fewer) + 1) <= most_share) break;
    plan.is_thinned = parts < most;
    // The last of them is that of the end: never just before it.
    const Duration until = from_seconds(experiment.until);
    if (parts > 1) plan.every = (until + Duration{parts - 1}) / parts;
    plan.samples = static_cast<double>(parts) + 1;
  } else {
    plan.samples = plan.at_start + 1.0;
    if (plan.every > Duration{}) plan.samples += std::floor(experiment.until / to_seconds(Time{plan.every}));
    if (plan.every_events > 0)
      plan.samples += std::floor((2 * run.computations + run.messages) / static_cast<double>(plan.every_events));
  }
  plan.share = share(plan.samples);
  plan.samples += plan.before_unifications;
  return plan;
}

std::string sentence_about(const SamplePlan& plan, std::size_t clients) {
  std::string text = plan.measured  ? fmt::format("{} of {} clients are measured (drawn)", plan.clients, clients)
                     : clients == 1 ? "the client is measured"
                                    : fmt::format("all {} clients are measured", clients);
  text += fmt::format(", on {} test row{}{}, about {:.0f} times", plan.rows, plan.rows == 1 ? "" : "s",
                      plan.training_rows > 0 ? fmt::format(" and {} training rows", plan.training_rows) : "", plan.samples);
  if (plan.is_thinned) text += ", less often than every until / 100 because of what it costs";
  const double percent = 100 * plan.share;
  return text + fmt::format("; scoring is about {:.{}f} % of the run's work", percent, percent < 0.95 ? 2 : percent < 9.5 ? 1 : 0);
}

}  // namespace rubato
