#include "runtime/world/air.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "runtime/random.hpp"
#include "runtime/world/topology.hpp"

using namespace rubato;

namespace {

using Ends = std::pair<std::uint32_t, std::uint32_t>;

std::map<Ends, int> served(const SlotSchedule& schedule) {
  std::map<Ends, int> times;
  for (const std::vector<Star>& pair : schedule)
    for (const Star& star : pair)
      for (const ClientId leaf : star.leaves) ++times[std::minmax(star.centre.value, leaf.value)];
  return times;
}

}  // namespace

TEST_CASE("the slots serve every edge exactly once, and no client twice in a pair") {
  std::uint64_t seed = 1;
  for (const double probability : {0.1, 0.3, 0.7}) {
    for (int trial = 0; trial < 30; ++trial, ++seed) {
      Stream chance(seed, no_client, Purpose::topology);
      const Graph graph = topologies::erdos_renyi(2 + chance.below(20), probability, [&] { return chance.uniform(); });
      const SlotSchedule schedule = schedule_slots(graph);
      const auto times = served(schedule);
      CHECK(times.size() == graph.edges().size());
      for (const Edge& edge : graph.edges()) CHECK(times.at({edge.source.value, edge.target.value}) == 1);
      for (const std::vector<Star>& pair : schedule) {
        std::set<ClientId> used;
        for (const Star& star : pair) {
          CHECK(used.insert(star.centre).second);
          CHECK(std::is_sorted(star.leaves.begin(), star.leaves.end()));
          for (const ClientId leaf : star.leaves) CHECK(used.insert(leaf).second);
        }
      }
    }
  }
}

TEST_CASE("a star needs one pair of slots, a complete graph one less than its clients") {
  CHECK(schedule_slots(topologies::star(9, {4})).size() == 1);
  CHECK(schedule_slots(topologies::complete(6)).size() == 5);
  CHECK(schedule_slots(Graph(3, false, {})).empty());
}

// Section 2.6 of the thesis has one active node in a broadcast slot.
TEST_CASE("with one star at a time each pair of slots has one, every edge is served once, and there are no fewer pairs") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Stream chance(seed, no_client, Purpose::topology);
    const Graph graph = topologies::erdos_renyi(2 + chance.below(20), 0.4, [&] { return chance.uniform(); });
    const SlotSchedule schedule = schedule_slots(graph, SlotStars::one);
    for (const std::vector<Star>& pair : schedule) CHECK(pair.size() == 1);
    const auto times = served(schedule);
    CHECK(times.size() == graph.edges().size());
    for (const Edge& edge : graph.edges()) CHECK(times.at({edge.source.value, edge.target.value}) == 1);
    CHECK(schedule.size() >= schedule_slots(graph).size());
  }
  const Graph two_stars(6, false, {{{0}, {1}}, {{0}, {2}}, {{3}, {4}}, {{3}, {5}}});
  CHECK(schedule_slots(two_stars).size() == 1);
  CHECK(schedule_slots(two_stars, SlotStars::one).size() == 2);
  CHECK(AirRound(two_stars, SlotStars::one).pairs() == 2);
}
