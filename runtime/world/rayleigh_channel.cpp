#include "runtime/world/rayleigh_channel.hpp"

#include <algorithm>

namespace rubato {

Fate RayleighChannel::carry(const LinkUse& use) const {
  const std::uint64_t block = block_of(use);
  Fate fate = delays_.carry(use);
  fate.lost = !fading_.is_up(use.sender, use.receiver, block);
  if (fading_.rule().is_by_time) fate.delay = std::min(fading_.completion(use.sender, use.receiver, block), fading_.rule().longest);
  fate.airtime = fate.delay;
  const bool has_blocks = coherence_ > Duration::zero() && !fading_.rule().is_by_time;
  if (fate.lost && has_blocks) fate.delay = coherence_ - (use.now.time_since_epoch() + use.waited) % coherence_;
  return fate;
}

}  // namespace rubato
