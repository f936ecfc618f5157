#include "runtime/world/slot_schedule.hpp"

#include <algorithm>
#include <numeric>

namespace rubato {

namespace {

using Remaining = std::vector<std::vector<ClientId>>;  // the neighbours of each client that are not served yet

// Clients with most edges left come first, ties by number.
std::vector<ClientId> scan_order(const Remaining& remaining) {
  std::vector<ClientId> order;
  for (std::uint32_t i = 0; i < remaining.size(); ++i)
    if (!remaining[i].empty()) order.push_back({i});
  std::stable_sort(order.begin(), order.end(),
                   [&](ClientId a, ClientId b) { return remaining[a.value].size() > remaining[b.value].size(); });
  return order;
}

std::vector<Star> next_stars(const Remaining& remaining) {
  std::vector<bool> is_used(remaining.size());
  const auto uses = [&](ClientId client) { return static_cast<bool>(is_used[client.value]); };
  std::vector<Star> stars;
  for (const ClientId centre : scan_order(remaining)) {
    const std::vector<ClientId>& leaves = remaining[centre.value];
    if (uses(centre) || std::any_of(leaves.begin(), leaves.end(), uses)) continue;
    is_used[centre.value] = true;
    for (const ClientId leaf : leaves) is_used[leaf.value] = true;
    stars.push_back({centre, leaves});
  }
  return stars;
}

}  // namespace

SlotSchedule schedule_slots(const Graph& graph) {
  Remaining remaining(graph.clients());
  for (std::uint32_t i = 0; i < graph.clients(); ++i) {
    const auto neighbours = graph.receivers_of(ClientId{i});
    remaining[i].assign(neighbours.begin(), neighbours.end());
  }
  SlotSchedule schedule;
  for (std::vector<Star> stars = next_stars(remaining); !stars.empty(); stars = next_stars(remaining)) {
    for (const Star& star : stars) {
      for (const ClientId leaf : star.leaves) std::erase(remaining[leaf.value], star.centre);
      remaining[star.centre.value].clear();
    }
    schedule.push_back(std::move(stars));
  }
  return schedule;
}

}  // namespace rubato
