// Periodic unification: when all clients take the model of one of them, and of which.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/choices.hpp"
#include "runtime/ids.hpp"
#include "runtime/time.hpp"
#include "runtime/world/graph.hpp"

namespace rubato {

struct UnificationPlan {
  Duration period{};  ///< 0: never
  HubPolicy policy = HubPolicy::round_robin;
  ClientId fixed{};
  std::vector<ClientId> table;  ///< the k-th entry is the hub of the k-th unification, from 1; then from the beginning
  bool via_transport = false;   ///< MODEL messages with the links' delays and losses instead of one ideal instant
  bool clears_mailbox = false;

  /// The hub of the k-th unification, k >= 1. The best channel is chosen where the channel is known: here it is the
  /// round robin's.
  ClientId hub(std::uint64_t k, const Graph& graph, std::uint64_t seed) const;
};

}  // namespace rubato
