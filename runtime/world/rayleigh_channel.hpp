// RayleighChannel: links that are up or down for a block of time; a link that is up carries messages like a random channel.
#pragma once

#include <algorithm>

#include "runtime/world/channel.hpp"
#include "runtime/world/fading_links.hpp"

namespace rubato {

/// A block is a round, or a coherence time where there are no rounds; a retransmission waits for the next. Any thread
/// may ask.
class RayleighChannel final : public Channel {
 public:
  /// `coherence` 0: blocks are rounds. By time the delay is the link's completion time, else one that is drawn.
  RayleighChannel(std::uint64_t seed, const Fading& fading, Duration coherence, const Law& delay)
      : fading_{fading}, coherence_{coherence}, delays_{seed, {.delay = delay}, {}} {}

  Fate carry(const LinkUse& use) const override {
    const std::uint64_t block = block_of(use);
    Fate fate = delays_.carry(use);
    fate.lost = !fading_.is_up(use.sender, use.receiver, block);
    if (fading_.rule().is_by_time)
      fate.delay = std::min(fading_.completion(use.sender, use.receiver, block), fading_.rule().longest);
    fate.airtime = fate.lost ? Duration{} : fate.delay;  // over a link that is down nothing is sent
    fate.is_alone = true;
    const bool has_blocks = coherence_ > Duration::zero() && !fading_.rule().is_by_time;
    if (fate.lost && has_blocks) fate.delay = coherence_ - (use.now.time_since_epoch() + use.waited) % coherence_;
    return fate;
  }
  std::uint64_t block_of(const LinkUse& use) const {
    return coherence_ > Duration::zero() ? static_cast<std::uint64_t>((use.now.time_since_epoch() + use.waited) / coherence_)
                                         : use.round;
  }
  const Fading& fading() const { return fading_; }

 private:
  Fading fading_;
  Duration coherence_;
  RandomChannel delays_;
};

}  // namespace rubato
