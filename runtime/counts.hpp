// Counts: what clients and links have done in a run so far, as plain numbers that add up.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/ids.hpp"
#include "runtime/time.hpp"

namespace rubato {

/// What became of the messages of one client, as a receiver (kept, late, ...) and as a sender (sent, copies, lost). Over all
/// clients, sent and copies are accounted for by the others, arrived() among them, and by what is under way. Archives take it
/// as a whole.
struct MessageCounts {
  std::uint64_t sent = 0;          ///< one for each receiver
  std::uint64_t lost = 0;          ///< of those sent: by the modelled link
  std::uint64_t kept = 0;          ///< taken into the mailbox
  std::uint64_t late = 0;          ///< refused: older than the deadline
  std::uint64_t capped = 0;        ///< refused: beyond the cap of the period
  std::uint64_t superseded = 0;    ///< not merged: a newer one of the same sender was there, or the round had gone on
  std::uint64_t duplicates = 0;    ///< seen before and dropped
  std::uint64_t resyncs = 0;       ///< whole states sent because a receiver had missed something
  std::uint64_t stale = 0;         ///< of an earlier life of the sender, or an older epoch
  std::uint64_t computations = 0;  ///< compute steps
  std::uint64_t publications = 0;  ///< publish steps, each with any number of receivers
  Duration airtime{};              ///< as a sender: how long it transmitted
  std::uint64_t copies = 0;        ///< as a sender: further deliveries of the same message
  std::uint64_t apart = 0;         ///< lost to a partition: as a sender at departure, as a receiver on the way
  std::uint64_t absent = 0;        ///< as a receiver: came while it was away, or was sent to an earlier life of it
  std::uint64_t surplus = 0;       ///< refused: not needed any more; counted in superseded, too
  std::uint64_t misshapen = 0;     ///< refused: fits no model of this run
  std::uint64_t repeated = 0;      ///< as a sender: attempts beyond the first, where what a link loses is sent again

  /// Came to a client that was there.
  std::uint64_t arrived() const { return kept + late + capped + duplicates + surplus + stale + misshapen; }
  /// On the way, for whatever reason.
  std::uint64_t lost_in_all() const { return lost + apart + absent; }
  /// Has no outcome yet. 0 where more came to an end than was sent.
  std::uint64_t open() const {
    const std::uint64_t all = sent + copies, done = arrived() + lost_in_all();
    return all > done ? all - done : 0;
  }
  /// Came to an end beyond what was sent: sent by clients that are not counted.
  std::uint64_t foreign() const {
    const std::uint64_t all = sent + copies, done = arrived() + lost_in_all();
    return done > all ? done - all : 0;
  }
  /// Adds the numbers of another client.
  MessageCounts& operator+=(const MessageCounts& other) {
    sent += other.sent, lost += other.lost, kept += other.kept, late += other.late, capped += other.capped;
    superseded += other.superseded, duplicates += other.duplicates, resyncs += other.resyncs, stale += other.stale;
    computations += other.computations, publications += other.publications, airtime += other.airtime;
    copies += other.copies, apart += other.apart, absent += other.absent;
    surplus += other.surplus, misshapen += other.misshapen, repeated += other.repeated;
    return *this;
  }
  /// Every counter is the same.
  bool operator==(const MessageCounts&) const = default;
};
static_assert(sizeof(MessageCounts) == 18 * sizeof(std::uint64_t), "operator+= adds every counter");

/// What became of the messages of one directed link.
struct LinkCounts {
  std::uint32_t sent = 0;        ///< departures
  std::uint32_t lost = 0;        ///< by the link
  std::uint32_t kept = 0;        ///< taken into the receiver's mailbox
  std::uint32_t copies = 0;      ///< this and what follows as in MessageCounts
  std::uint32_t apart = 0;       ///< lost to a partition
  std::uint32_t absent = 0;      ///< the receiver was away
  std::uint32_t late = 0;        ///< refused, like the next
  std::uint32_t capped = 0;      ///< beyond the cap
  std::uint32_t duplicates = 0;  ///< seen before
  std::uint32_t surplus = 0;     ///< not needed any more
  std::uint32_t stale = 0;       ///< of an earlier life or epoch
  std::uint32_t misshapen = 0;   ///< fits no model

  /// Arrived and not taken.
  std::uint32_t refused() const { return late + capped + duplicates + surplus + stale + misshapen; }
};

/// Messages that reached a client and were left out. Their timing is that of any other: protocols count them as kept.
struct Screened {
  ClientId sender{};               ///< of the messages
  ClientId receiver{};             ///< that left them out
  std::uint64_t not_finite = 0;    ///< with a number that is infinite or NaN
  std::uint64_t beyond_norm = 0;   ///< longer than mailbox.norm_limit allows
  std::uint64_t unauthorised = 0;  ///< real time: models and acknowledgements that were not the sender's to send
  std::uint64_t unasked = 0;       ///< real time: requests that the protocol has no need of, or too soon after another
  std::uint64_t compared = 0;      ///< messages that norm_limit was asked about
  double norms = 0;                ///< sum of their norms
  double cosines = 0;              ///< sum of their cosines to the receiver's own model

  /// All that were left out.
  std::uint64_t refused() const { return not_finite + beyond_norm + unauthorised + unasked; }
  /// Over the messages that were compared; NaN: none.
  double mean_norm() const { return compared > 0 ? norms / static_cast<double>(compared) : NAN; }
  /// Likewise.
  double mean_cosine() const { return compared > 0 ? cosines / static_cast<double>(compared) : NAN; }
};

/// What a round waits for.
struct Waiting {
  std::uint64_t computations = 0;  ///< that have begun
  std::uint64_t messages = 0;      ///< that have not come
};

/// How far rounds have come.
struct RoundsSoFar {
  std::uint64_t done = 0;  ///< by all clients
  Waiting waiting{};       ///< of the next one
};

/// How often clients have come and gone.
struct ChurnCounts {
  std::uint64_t joins = 0;       ///< first lives that began late, and returns of clients that had left
  std::uint64_t leaves = 0;      ///< departures that were announced
  std::uint64_t crashes = 0;     ///< departures that were not
  std::uint64_t restarts = 0;    ///< returns of clients that had crashed
  std::uint64_t pauses = 0;      ///< times that a client's timers were stopped
  std::uint64_t partitions = 0;  ///< times that the clients were split into groups
  std::uint64_t epochs = 0;      ///< begun
  std::uint64_t lost = 0;        ///< messages whose receiver was absent or in another group

  /// Adds the numbers of another part of the run.
  ChurnCounts& operator+=(const ChurnCounts& other) {
    joins += other.joins, leaves += other.leaves, crashes += other.crashes, restarts += other.restarts;
    pauses += other.pauses, partitions += other.partitions, epochs += other.epochs, lost += other.lost;
    return *this;
  }
};

/// What clients have spent.
struct Energy {
  double transmitting = 0;  ///< joules
  double computing = 0;     ///< joules
  double airtime = 0;       ///< seconds on the air

  /// All of it.
  double joules() const { return transmitting + computing; }
  /// Adds what another client has spent.
  Energy& operator+=(const Energy& other) {
    transmitting += other.transmitting;
    computing += other.computing;
    airtime += other.airtime;
    return *this;
  }
  /// Writes all of it, or reads it back.
  template <class Archive>
  void archive(Archive& archive) {
    archive(transmitting, computing, airtime);
  }
};

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
  /// Writes all of it, or reads it back.
  template <class Archive>
  void archive(Archive& archive) {
    archive(begun, met, refused, queued, empty, late, skipped, retried, over, asking);
  }
};

/// Of a client that meets others in pairs, or of all of a run.
struct PairTotals {
  PairCounts counts{};        ///< so far
  std::uint64_t asking = 0;   ///< attempts that were going on at the end
  std::uint64_t waiting = 0;  ///< requests that waited at their receivers then

  /// Requests that were sent.
  std::uint64_t attempts() const { return counts.begun + counts.retried; }
  /// Of these, what no client has decided about: lost, with a client that crashed, or on their way at the end. None where more was
  /// decided than is known to have been sent, as of hosts that were lost.
  std::uint64_t unheard() const {
    const std::uint64_t decided = counts.met + counts.refused + counts.empty + counts.late + waiting;
    return attempts() - std::min(decided, attempts());
  }
  /// Adds the numbers of another client.
  PairTotals& operator+=(const PairTotals& other) {
    counts += other.counts, asking += other.asking, waiting += other.waiting;
    return *this;
  }
  /// Writes all of it, or reads it back.
  template <class Archive>
  void archive(Archive& archive) {
    archive(counts, asking, waiting);
  }
};

/// Of a centre what it has sent and heard, of a worker what it has dropped.
struct OrderCounts {
  /// Bin 0 counts answers without delay, bin b those of 2^(b-1) to 2^b - 1 versions; the last also what is beyond.
  static constexpr std::size_t bins = 16;

  std::uint64_t dispatched = 0;                ///< orders
  std::uint64_t applied = 0;                   ///< answers that the model, a sum or a table has taken in
  std::uint64_t ignored = 0;                   ///< answers that were too old
  std::uint64_t superseded = 0;                ///< answers to orders that were given up
  std::uint64_t patience = 0;                  ///< orders given up because nothing was heard
  std::uint64_t cancelled = 0;                 ///< jobs dropped for a newer model
  std::uint64_t delays = 0;                    ///< sum over all answers, in versions
  std::uint64_t largest_delay = 0;             ///< of an answer
  std::array<std::uint64_t, bins> by_delay{};  ///< answers

  /// An answer is here, so many versions after its model.
  void count_delay(std::uint64_t versions) {
    delays += versions;
    largest_delay = std::max(largest_delay, versions);
    ++by_delay[std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(versions)), bins - 1)];
  }
  /// All that came.
  std::uint64_t answers() const { return applied + ignored + superseded; }
  /// Adds the numbers of another client.
  OrderCounts& operator+=(const OrderCounts& other) {
    dispatched += other.dispatched, applied += other.applied, ignored += other.ignored, superseded += other.superseded;
    patience += other.patience, cancelled += other.cancelled, delays += other.delays;
    largest_delay = std::max(largest_delay, other.largest_delay);
    for (std::size_t b = 0; b < bins; ++b) by_delay[b] += other.by_delay[b];
    return *this;
  }
};

/// Of a run with such a centre.
struct OrderTotals {
  OrderCounts counts{};                      ///< of all clients
  std::uint64_t versions = 0;                ///< updates of the model
  std::vector<double> mean_delay_by_worker;  ///< by client, in versions; NaN: no answer
};

}  // namespace rubato
