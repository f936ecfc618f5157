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
  ClientView common{};                    ///< what is the same for all of them; the rest of it is not looked at
  std::vector<double> compute_chances{};  ///< by client; empty: 1
  const Air* air = nullptr;               ///< models are heard through it; null: as they are
  std::vector<double> merge_weights{};    ///< by place among all in-links, receivers ascending; empty: not told

  std::size_t clients() const { return graph.clients(); }
  ClientView of(ClientId client, std::span<const std::uint32_t> samples) const {
    ClientView view = common;
    view.client = client;
    view.senders = graph.senders_to(client);
    view.receivers = graph.receivers_of(client);
    view.samples = samples;
    if (!compute_chances.empty()) view.compute_chance = compute_chances[client.value];
    view.sender_weights = weights_for(client);
    return view;
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
