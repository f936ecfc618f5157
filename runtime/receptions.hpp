// Receptions: how many messages come to each client in each period of the reception cap, and which of them are taken
// where those beyond the cap are removed by chance.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/ids.hpp"
#include "runtime/random.hpp"

namespace rubato {

/// Messages that come in time and are no duplicates, by client and period.
class ReceptionCensus {
 public:
  /// Of no clients.
  ReceptionCensus() = default;
  explicit ReceptionCensus(std::size_t clients) : counts_(clients) {}

  void add(ClientId client, std::uint64_t period) {
    std::vector<std::uint32_t>& mine = counts_[client.value];
    if (mine.size() <= period) mine.resize(period + 1);
    ++mine[period];
  }
  std::uint32_t of(ClientId client, std::uint64_t period) const {
    const std::vector<std::uint32_t>& mine = counts_[client.value];
    return period < mine.size() ? mine[period] : 0;
  }

 private:
  std::vector<std::vector<std::uint32_t>> counts_;
};

/// Takes as many of a period's messages as the cap allows, all sets of so many with the same chance (Knuth, The Art of
/// Computer Programming 2, 3.4.2, algorithm S): the next of `left` messages is one of the `tokens` that are still taken.
inline bool is_taken_by_chance(std::uint64_t seed, ClientId client, std::uint64_t period, std::uint32_t number, std::uint32_t all,
                               std::uint32_t tokens) {
  if (number >= all) return tokens > 0;
  const double u = uniform01(draw(seed, client, Purpose::thinning, period, number).first);
  return u * static_cast<double>(all - number) < static_cast<double>(tokens);
}

}  // namespace rubato
