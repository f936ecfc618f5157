// Energy: what clients spend on computing and on sending, from what they have done.
#pragma once

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
  bool is_counted() const;
  Energy of(ClientId client, const MessageCounts& counts) const;
};

}  // namespace rubato
