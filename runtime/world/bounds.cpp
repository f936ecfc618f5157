#include "runtime/world/bounds.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>

namespace rubato {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Nothing of what takes for ever takes no time.
double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

// The time in which clients compute one gradient together; clients are added one by one.
class Harmonic {
 public:
  void add(double seconds) { per_second_ += 1 / seconds; }
  double seconds() const { return 1 / per_second_; }  // infinity without a client that computes

 private:
  double per_second_ = 0;
};

std::uint64_t at_least(double least, double value) { return static_cast<std::uint64_t>(std::max(least, std::ceil(value))); }

}  // namespace

ServerBounds server_bounds(std::span<const double> gradient_seconds, const StationarityGoal& goal) {
  std::vector<double> h(gradient_seconds.begin(), gradient_seconds.end());
  std::ranges::sort(h);
  const auto n = static_cast<double>(h.size());
  const double steps = goal.steps(), s = goal.gradients_a_step();
  ServerBounds bounds{};
  bounds.single = times(h.front(), steps * (1 + s));
  bounds.minibatch = times(h.back(), steps * (1 + s / n));
  bounds.m_sync = bounds.rennala = infinity;
  Harmonic together;
  for (std::size_t m = 1; m <= h.size(); ++m) {
    const auto workers = static_cast<double>(m);
    together.add(h[m - 1]);
    bounds.m_sync = std::min(bounds.m_sync, times(h[m - 1], steps * (1 + s / workers)));
    bounds.rennala = std::min(bounds.rennala, times(workers * together.seconds(), steps * (1 + s / workers)));
  }
  bounds.asgd = times(n * together.seconds(), steps * (1 + s / n));
  const double mean = std::accumulate(h.begin(), h.end(), 0.0) / n;
  bounds.malenia = times(steps, h.back() + times(mean, s / n));
  return bounds;
}

std::vector<std::vector<double>> travel_seconds(const Graph& graph, std::span<const double> link_seconds) {
  using Reached = std::pair<double, std::uint32_t>;  // when, which client
  std::vector<std::vector<double>> travel(graph.clients(), std::vector<double>(graph.clients(), infinity));
  for (std::uint32_t from = 0; from < graph.clients(); ++from) {
    std::vector<double>& seconds = travel[from];
    std::priority_queue<Reached, std::vector<Reached>, std::greater<>> open;
    seconds[from] = 0;
    open.push({0, from});
    while (!open.empty()) {
      const auto [at, client] = open.top();
      open.pop();
      if (at > seconds[client]) continue;
      LinkIndex link = graph.first_link({client});
      for (const ClientId next : graph.receivers_of({client})) {
        const double there = at + link_seconds[link++];
        if (there >= seconds[next.value]) continue;
        seconds[next.value] = there;
        open.push({there, next.value});
      }
    }
  }
  return travel;
}

double equilibrium_seconds(double gradients, std::span<const double> gradient_seconds, std::span<const double> travel) {
  std::vector<std::size_t> order(gradient_seconds.size());
  std::iota(order.begin(), order.end(), 0);
  const auto ready = [&](std::size_t i) { return std::max(travel[i], gradient_seconds[i]); };
  std::ranges::stable_sort(order, {}, ready);
  double best = infinity;
  Harmonic together;
  for (const std::size_t client : order) {
    together.add(gradient_seconds[client]);
    best = std::min(best, std::max(ready(client), times(gradients, together.seconds())));
  }
  return best;
}

LinkBounds link_bounds(std::span<const double> gradient_seconds, const std::vector<std::vector<double>>& travel,
                       const StationarityGoal& goal) {
  const std::size_t clients = gradient_seconds.size();
  const auto n = static_cast<double>(clients);
  const double steps = goal.steps(), s = goal.gradients_a_step();
  double nearest = infinity, there_and_back = infinity, farthest = 0;
  LinkBounds bounds{};
  std::vector<double> to(clients), both(clients);
  for (std::uint32_t pivot = 0; pivot < clients; ++pivot) {
    for (std::size_t i = 0; i < clients; ++i) {
      to[i] = travel[i][pivot];
      both[i] = to[i] + travel[pivot][i];
      farthest = std::max(farthest, to[i]);
    }
    nearest = std::min(nearest, equilibrium_seconds(s, gradient_seconds, to));
    const double with_pivot = equilibrium_seconds(s, gradient_seconds, both);
    if (with_pivot < there_and_back) there_and_back = with_pivot, bounds.pivot = {pivot};
  }
  const double slowest = *std::ranges::max_element(gradient_seconds);
  const double mean = std::accumulate(gradient_seconds.begin(), gradient_seconds.end(), 0.0) / n;
  bounds.lower_homogeneous = times(steps, nearest) / (std::log(n) + 1);
  bounds.fragile = times(steps, there_and_back);
  bounds.minibatch = times(std::max(farthest, slowest), steps * (1 + s / n));
  bounds.amelie = times(steps, std::max({farthest, slowest, times(s / n, mean)}));
  return bounds;
}

RingmasterSettings ringmaster_settings(const StationarityGoal& goal) {
  const auto [L, delta, eps, noise] = goal;
  const std::uint64_t largest_delay = at_least(1, noise / eps);
  const auto R = static_cast<double>(largest_delay);
  const double quiet = 1 / (2 * R * L);
  const double step = noise > 0 ? std::min(quiet, eps / (4 * L * noise)) : quiet;
  return {largest_delay, step, at_least(0, 8 * R * L * delta / eps + 16 * noise * L * delta / (eps * eps))};
}

TreeSettings fragile_settings(const StationarityGoal& goal) {
  return {at_least(1, goal.gradients_a_step()), 1 / (2 * goal.smoothness),
          at_least(0, 16 * goal.smoothness * goal.gap / goal.accuracy)};
}

TreeSettings amelie_settings(const StationarityGoal& goal, std::size_t clients) {
  TreeSettings settings = fragile_settings(goal);
  settings.gradients = std::max<std::uint64_t>(settings.gradients, clients);
  return settings;
}

}  // namespace rubato
