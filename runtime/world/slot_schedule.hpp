// Slots for over-the-air sums: which stars of a graph are served at the same time, so that each edge is served once.
// Source: Xing, Simeone and Bi, "Federated Learning over Wireless Device-to-Device Networks", with a greedy choice of
// stars of our own (docs/references.md#channel).
#pragma once

#include <vector>

#include "runtime/world/graph.hpp"

namespace rubato {

/// In the first slot of its pair the leaves send at once and the centre hears their sum; in the second the centre sends
/// and every leaf hears it.
struct Star {
  ClientId centre;
  std::vector<ClientId> leaves;  ///< ascending
};

/// Pairs of slots, each with stars that share no client. The graph must have a link back for every link.
using SlotSchedule = std::vector<std::vector<Star>>;
SlotSchedule schedule_slots(const Graph& graph);

}  // namespace rubato
