// PairCounts: what has become of exchanges between two clients, as plain numbers that add up.
#pragma once

#include <cstdint>

#include "runtime/time.hpp"

namespace rubato {

/// What has become of exchanges. met + refused + empty + late + lost requests + those that wait or are under way = begun + retried.
struct PairCounts {
  std::uint64_t begun = 0;    ///< as the asker: exchanges
  std::uint64_t met = 0;      ///< as the partner: requests that ended in a meeting
  std::uint64_t refused = 0;  ///< as the partner: requests
  std::uint64_t queued = 0;   ///< as the partner: requests that had to wait
  std::uint64_t empty = 0;    ///< as the partner: requests whose reply would be lost or late, so that nothing happens
  std::uint64_t late = 0;     ///< as the partner: requests beyond the deadline
  std::uint64_t skipped = 0;  ///< as the asker: ticks that found it asking, or at work where exchanges block
  std::uint64_t retried = 0;  ///< as the asker: further attempts
  std::uint64_t over = 0;     ///< as the asker: attempts that the alarm ended
  Duration asking{};          ///< as the asker: how long attempts took that have ended, in all

  /// Adds the numbers of another client.
  PairCounts& operator+=(const PairCounts& other) {
    begun += other.begun, met += other.met, refused += other.refused, queued += other.queued, empty += other.empty;
    late += other.late, skipped += other.skipped, retried += other.retried, over += other.over, asking += other.asking;
    return *this;
  }
};

/// Of a run whose clients meet in pairs.
struct PairTotals {
  PairCounts counts{};        ///< of all clients
  std::uint64_t asking = 0;   ///< attempts that were going on at the end
  std::uint64_t waiting = 0;  ///< of these: requests that waited at their receivers

  /// Requests that were sent.
  std::uint64_t attempts() const { return counts.begun + counts.retried; }
  /// Of these, what no client has decided about: lost, with a client that crashed, or on their way at the end.
  std::uint64_t unheard() const { return attempts() - counts.met - counts.refused - counts.empty - counts.late - waiting; }
};

}  // namespace rubato
