// BurstyChannel: links that are good and bad in turn and lose messages in bursts, the model of Gilbert and Elliott
// (docs/references.md#bursts) in continuous time.
//
//   good for an exponential time of mean 1 / a, bad for one of mean 1 / b; a message is lost with the chance of the state
//   in which it is sent.
//
// Such a chain forgets its past at the points of a Poisson process of rate a + b: at each the state is drawn anew, bad with the
// stationary chance a / (a + b). Good ends with rate (a + b) a / (a + b) = a then, bad with b, and the state at an instant is the
// draw of the last point before it. Points are drawn by (seed, sender, receiver, block of time), where a block begins
// like any instant, because the process has no memory: so the state is a pure function and nothing is kept.
#pragma once

#include <algorithm>
#include <optional>

#include "runtime/random.hpp"
#include "runtime/world/channel.hpp"

namespace rubato {

/// Every directed link has states of its own. A retransmission over a bad link that loses everything waits until the link is
/// good. Any thread may ask.
class BurstyChannel final : public Channel {
 public:
  /// Of one state.
  struct State {
    double mean = 1;  ///< seconds that it lasts; greater than 0
    double loss = 0;  ///< chance that a message is lost; less than 1 where the link is good
  };
  BurstyChannel(std::uint64_t seed, const Law& delay, const State& good, const State& bad)
      : seed_{seed},
        good_{seed, {.delay = delay, .loss = good.loss}, {}},
        bad_{seed, {.delay = delay, .loss = bad.loss}, {}},
        rate_{1 / good.mean + 1 / bad.mean},
        bad_share_{bad.mean / (good.mean + bad.mean)},
        block_{std::max(from_seconds(4 / rate_), Duration{1})},
        bad_loses_all_{bad.loss >= 1} {}

  Fate carry(const LinkUse& use) const override {
    const Time at = later(use.now, use.waited);
    if (!is_bad(use.sender, use.receiver, at)) return good_.carry(use);
    Fate fate = bad_.carry(use);
    if (bad_loses_all_) fate.delay = std::max(fate.delay, good_after(use.sender, use.receiver, at) - at);
    return fate;
  }

  bool is_bad(ClientId sender, ClientId receiver, Time at) const {
    std::optional<bool> last;
    for (auto block = at.time_since_epoch() / block_; !last; --block)
      each_point(sender, receiver, block, [&](Time point, bool bad) {
        if (point <= at) last = bad;
      });
    return *last;
  }

 private:
  // visit(instant, bad) for the points of a block, ascending; the very first stands for all before it.
  template <class Visit>
  void each_point(ClientId sender, ClientId receiver, std::int64_t block, Visit visit) const {
    constexpr int most_draws_log2 = 8;  // of a block with 4 points in the mean
    Stream chance(seed_, sender, Purpose::loss, receiver.value);
    chance.seek(static_cast<std::uint64_t>(block) << most_draws_log2);
    Time point{block * block_};
    const Time end = later(point, block_);
    if (block == 0) visit(point, chance.uniform() < bad_share_);
    while (true) {
      point = later(point, from_seconds(chance.exponential() / rate_));
      if (point >= end) return;
      visit(point, chance.uniform() < bad_share_);
    }
  }

  // The first instant after this one at which the link is good.
  Time good_after(ClientId sender, ClientId receiver, Time at) const {
    Time good = never;
    for (auto block = at.time_since_epoch() / block_; good == never && block < never.time_since_epoch() / block_; ++block)
      each_point(sender, receiver, block, [&](Time point, bool bad) {
        if (!bad && point > at) good = std::min(good, point);
      });
    return good;
  }

  std::uint64_t seed_;
  RandomChannel good_, bad_;  // the same delays and draws
  double rate_;               // a + b, per second
  double bad_share_;          // a / (a + b)
  Duration block_;
  bool bad_loses_all_;
};

}  // namespace rubato
