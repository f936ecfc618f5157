// OrderCounts: what became of the orders of a centre without rounds, as plain numbers that add up.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rubato {

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
