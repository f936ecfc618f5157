// Client views: what an algorithm is told of its place among the others.
#pragma once

#include <span>
#include <vector>

#include "algos/algorithm.hpp"
#include "runtime/world/air.hpp"
#include "runtime/world/graph.hpp"

namespace rubato {

/// Outlives the seats that it hands out.
struct ClientViews {
  Graph graph;
  ClientId centre{};
  bool in_rounds = false;
  bool loses_nothing = false;
  bool keeps_balance = false;
  std::vector<double> compute_chances{};  ///< by client; empty: 1
  const Air* air = nullptr;               ///< models are heard through it; null: as they are
  bool sends_per_link = false;
  std::vector<double> merge_weights{};  ///< by place among all in-links, receivers ascending; empty: not told
  bool counts_increments = false;

  std::size_t clients() const { return graph.clients(); }
  ClientView of(ClientId client, std::span<const std::uint32_t> samples) const {
    const double chance = compute_chances.empty() ? 1 : compute_chances[client.value];
    return {client,
            graph.senders_to(client),
            graph.receivers_of(client),
            samples,
            chance,
            centre,
            in_rounds,
            loses_nothing,
            keeps_balance,
            sends_per_link,
            weights_for(client),
            counts_increments};
  }

 private:
  std::span<const double> weights_for(ClientId client) const {
    if (merge_weights.empty()) return {};
    std::size_t first = 0;
    for (std::uint32_t i = 0; i < client.value; ++i) first += graph.in_degree({i});
    return std::span(merge_weights).subspan(first, graph.in_degree(client));
  }
};

}  // namespace rubato
