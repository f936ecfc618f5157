// Round delay: what an iteration costs in expectation where computations and links happen by chance.
#pragma once

#include "runtime/world/topology.hpp"

namespace rubato {

/// Of one computation that happened with this chance among so many clients: its part of the mean of 1 / chance.
inline double computing_delay(double chance, std::size_t clients) { return 1 / (chance * static_cast<double>(clients)); }

/// Of one message over a link that was up with this chance: 1 / chance as a share of all that the receiver hears, and
/// of all that the sender says.
struct LinkDelay {
  double in;
  double out;
};

inline LinkDelay link_delay(const Graph& graph, const Edge& ends, double chance) {
  const double part = chance * static_cast<double>(graph.clients());
  return {1 / (part * static_cast<double>(graph.in_degree(ends.target))),
          1 / (part * static_cast<double>(graph.out_degree(ends.source)))};
}

}  // namespace rubato
