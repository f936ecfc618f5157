// Departure: what becomes of a message on the links of its receivers, and what is counted of that, in either clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/counts.hpp"
#include "runtime/mailbox.hpp"
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
  Duration airtime{}, alone{};
  for (std::uint32_t place = 0; place < entries.size(); ++place) {
    StepEntry& entry = entries[place];
    const Fate fate = fate_of(entry);
    entry.lost = fate.lost;
    entry.copies = fate.copies;
    if (fate.is_alone)
      alone += fate.airtime;
    else
      airtime = std::max(airtime, fate.airtime);
    const auto count = [&](auto& numbers) {
      ++numbers.sent;
      numbers.lost += fate.lost && !fate.apart;
      numbers.apart += fate.apart;
      numbers.copies += fate.lost ? 0 : fate.copies;
    };
    if (is_exchanged) count(counts);
    if (is_exchanged) counts.repeated += fate.attempts - 1;
    if (!links.empty() && entry.place != outside_graph) count(links[entry.place]);
    take(place, fate);
  }
  airtime += alone;
  counts.airtime += airtime;
  return airtime;
}

/// What has become of a message at its receiver, on its link. `link` may be outside the graph.
inline void count_offer(Offer offer, MessageCounts& receiver, std::vector<LinkCounts>& links, LinkIndex link) {
  receiver.surplus += offer == Offer::superseded;
  if (links.empty() || link == outside_graph) return;
  LinkCounts& counts = links[link];
  switch (offer) {
    case Offer::kept:
      ++counts.kept;
      break;
    case Offer::late:
      ++counts.late;
      break;
    case Offer::capped:
      ++counts.capped;
      break;
    case Offer::duplicate:
      ++counts.duplicates;
      break;
    case Offer::superseded:
      ++counts.surplus;
      break;
  }
}

}  // namespace rubato
