// Departure: what becomes of a message on the links of its receivers, and what is counted of that, in either clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/counts.hpp"
#include "runtime/step.hpp"
#include "runtime/world/channel.hpp"
#include "runtime/world/graph.hpp"

namespace rubato {

/// `fate_of(entry)` decides about each receiver of the publish step, in order; `take(place, fate)` hears of it once it
/// is in the entry and counted. `links`: by directed link, or empty. Returns how long the sender was on air.
template <class FateOf, class Take>
Duration depart(const Step& step, std::span<StepEntry> entries, MessageCounts& counts, std::vector<LinkCounts>& links,
                FateOf fate_of, Take take) {
  const bool is_exchanged = step.message != MessageKind::model;
  Duration airtime{};
  for (std::uint32_t place = 0; place < entries.size(); ++place) {
    StepEntry& entry = entries[place];
    const Fate fate = fate_of(entry);
    entry.lost = fate.lost;
    entry.copies = fate.copies;
    airtime = std::max(airtime, fate.airtime);
    counts.sent += is_exchanged;
    counts.lost += fate.lost && is_exchanged;
    if (!links.empty() && entry.place != outside_graph) {
      ++links[entry.place].sent;
      links[entry.place].lost += fate.lost;
    }
    take(place, fate);
  }
  counts.airtime += airtime;
  return airtime;
}

}  // namespace rubato
