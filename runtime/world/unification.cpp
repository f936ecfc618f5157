#include "runtime/world/unification.hpp"

#include "runtime/random.hpp"

namespace rubato {

ClientId UnificationPlan::hub(std::uint64_t k, const Graph& graph, std::uint64_t seed) const {
  const auto clients = static_cast<std::uint32_t>(graph.clients());
  switch (policy) {
    case HubPolicy::round_robin:
    case HubPolicy::best_channel:
      break;
    case HubPolicy::fixed:
      return fixed;
    case HubPolicy::random: {
      Stream stream(seed, no_client, Purpose::hub, static_cast<std::uint32_t>(k));
      return ClientId{static_cast<std::uint32_t>(stream.below(clients))};
    }
    case HubPolicy::max_degree: {
      ClientId best{0};
      for (std::uint32_t i = 1; i < clients; ++i)
        if (graph.out_degree({i}) > graph.out_degree(best)) best = {i};
      return best;
    }
    case HubPolicy::table:
      return table[(k - 1) % table.size()];
  }
  return ClientId{static_cast<std::uint32_t>((k - 1) % clients)};
}

}  // namespace rubato
