// Energy: what clients spend on computing and on sending, from what they have done.
#pragma once

#include <algorithm>
#include <vector>

#include "runtime/counts.hpp"
#include "runtime/ids.hpp"

namespace rubato {

/// Power times airtime, and so much a computation. A broadcast is on the air once.
struct EnergyModel {
  std::vector<double> transmit_watts;  ///< one for all clients, or one for each
  std::vector<double> compute_joules;  ///< of one computation, likewise
  double message_seconds = 0;          ///< on the air for one publication, where the channel does not know it

  /// Something costs something.
  bool is_counted() const {
    const auto costs = [](double number) { return number > 0; };
    return std::ranges::any_of(transmit_watts, costs) || std::ranges::any_of(compute_joules, costs);
  }
  Energy of(ClientId client, const MessageCounts& counts) const {
    const auto mine = [&](const std::vector<double>& numbers) {
      return numbers.empty() ? 0 : numbers[numbers.size() > 1 ? client.value : 0];
    };
    const bool is_modelled = counts.airtime > Duration::zero();
    const double airtime = is_modelled ? to_seconds(counts.airtime) : message_seconds * static_cast<double>(counts.publications);
    return {mine(transmit_watts) * airtime, mine(compute_joules) * static_cast<double>(counts.computations), airtime};
  }
};

}  // namespace rubato
