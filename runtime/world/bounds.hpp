// Bounds in seconds: how long methods of a kind take until a gradient is small, for given times of gradients and links.
//
//   K0 = L Delta / eps: steps without noise        s = sigma^2 / eps: gradients that one step needs to drown its noise
//   h_i: seconds of a gradient of client i, h_(1) <= h_(2) <= ...      tau_ij: seconds from i to j, over as many links as it takes
//
// Constants of the order notation are 1, so a ratio of two bounds says "up to constants". Sources:
// docs/references.md#bounds-in-seconds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/ids.hpp"
#include "runtime/world/graph.hpp"

namespace rubato {

/// What is minimised, and how far: E |grad F(x)|^2 <= accuracy.
struct StationarityGoal {
  double smoothness = 1;  ///< L of F; > 0
  double gap = 1;         ///< Delta = F(x0) - inf F; >= 0
  double accuracy = 1;    ///< eps; > 0
  double noise = 0;       ///< sigma^2, the variance of one stochastic gradient; >= 0

  double steps() const { return smoothness * gap / accuracy; }
  double gradients_a_step() const { return noise / accuracy; }
};

/// Workers of a centre whose links take no time. Infinity where a client that never computes is waited for.
struct ServerBounds {
  double single;     ///< the fastest client alone
  double minibatch;  ///< every step waits for all
  double m_sync;     ///< every step waits for the best number of fastest clients
  double asgd;       ///< asynchronous, with steps that follow the delay
  double rennala;    ///< the lower bound where all have the same data; Rennala and Ringmaster come to it
  double malenia;    ///< the lower bound where all have their own; Malenia and Ringleader come to it
};

/// `gradient_seconds`: of each client, at least one; >= 0, infinity: it never computes.
ServerBounds server_bounds(std::span<const double> gradient_seconds, const StationarityGoal& goal);

/// Clients that send over the links of a graph.
struct LinkBounds {
  double lower_homogeneous;  ///< no method needs less where all have the same data
  double fragile;            ///< Fragile at its best pivot
  ClientId pivot;            ///< the lowest of the best
  double minibatch;          ///< every step goes once through the whole graph
  double amelie;             ///< the lower bound where all have their own data; Amelie comes to it
};

/// Seconds from each client to each other on the fastest way, [from][to]; infinity where there is no way.
/// `link_seconds`: of every link of the graph, >= 0.
std::vector<std::vector<double>> travel_seconds(const Graph& graph, std::span<const double> link_seconds);

/// Of travel_seconds(); time grows with the square of the clients.
LinkBounds link_bounds(std::span<const double> gradient_seconds, const std::vector<std::vector<double>>& travel,
                       const StationarityGoal& goal);

/// t*: how soon `gradients` gradients can be at one place, whatever set of clients is taken: the smallest
/// max{travel, h, gradients / sum of 1/h} over all sets. Both lists have an entry a client.
double equilibrium_seconds(double gradients, std::span<const double> gradient_seconds, std::span<const double> travel);

/// Settings that the theorems name for this goal.
struct RingmasterSettings {
  std::uint64_t largest_delay;  ///< R: answers of R or more versions ago are left out
  double step;
  std::uint64_t steps;
};
RingmasterSettings ringmaster_settings(const StationarityGoal& goal);

struct TreeSettings {
  std::uint64_t gradients;  ///< S of a step
  double step;
  std::uint64_t steps;
};
TreeSettings fragile_settings(const StationarityGoal& goal);
TreeSettings amelie_settings(const StationarityGoal& goal, std::size_t clients);

}  // namespace rubato
