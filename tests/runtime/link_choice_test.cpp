// Which links an exchange uses where clients are stars. No arithmetic, no time.
#include "runtime/protocols/link_choice.hpp"

#include <doctest/doctest.h>

#include <set>
#include <utility>

#include "runtime/world/topology.hpp"

using namespace rubato;

namespace {

using Links = std::set<std::pair<std::uint32_t, std::uint32_t>>;

Links links_of(const LinkChoice& choice, const Graph& graph, std::uint64_t turn) {
  Links links;
  for (std::uint32_t sender = 0; sender < graph.clients(); ++sender)
    for (const std::uint32_t place : choice.choose(graph, {sender}, turn))
      links.emplace(sender, graph.receivers_of({sender})[place].value);
  return links;
}

Links reversed(const Links& links) {
  Links back;
  for (const auto& [from, to] : links) back.emplace(to, from);
  return back;
}

}  // namespace

TEST_CASE("one star hears the peers that it draws, and tells those; every client is a star as often as others") {
  const Graph graph = topologies::complete(10);
  const LinkChoice choice(graph, 7, {.share = 0.5, .chosen_by_receiver = true, .stars = Stars::one}, {}, {});
  CHECK_FALSE(choice.is_all());
  std::vector<int> as_star(10), as_peer(10);
  constexpr int exchanges = 4000;
  for (std::uint64_t e = 0; e < exchanges; ++e) {
    const Links heard = links_of(choice, graph, 2 * e);
    REQUIRE(heard.size() == 5);  // of nine neighbours, rounded up
    const std::uint32_t star = heard.begin()->second;
    for (const auto& [peer, hearer] : heard) {
      REQUIRE(hearer == star);
      ++as_peer[peer];
    }
    ++as_star[star];
    REQUIRE(links_of(choice, graph, 2 * e + 1) == reversed(heard));
  }
  for (std::size_t i = 0; i < 10; ++i) {  // five deviations
    CHECK(std::abs(as_star[i] - exchanges / 10) < 95);
    CHECK(std::abs(as_peer[i] - exchanges / 2) < 160);
  }
}

TEST_CASE("where all are stars each draws its own peers, and tells those") {
  const Graph graph = topologies::torus(3, 3);
  const LinkChoice choice(graph, 3, {.share = 0.5, .chosen_by_receiver = true, .stars = Stars::all}, {}, {});
  for (std::uint64_t e = 0; e < 50; ++e) {
    const Links heard = links_of(choice, graph, 2 * e);
    CHECK(heard.size() == 2 * graph.clients());
    CHECK(links_of(choice, graph, 2 * e + 1) == reversed(heard));
  }
}

TEST_CASE("asked in another order, turns have the same links") {
  const Graph graph = topologies::ring(12);
  const LinkChoice choice(graph, 5, {.share = 0.5, .chosen_by_receiver = true, .stars = Stars::one}, {}, {});
  const Links third = links_of(choice, graph, 7), first = links_of(choice, graph, 2);
  CHECK(links_of(choice, graph, 7) == third);
  CHECK(links_of(choice, graph, 2) == first);
}
