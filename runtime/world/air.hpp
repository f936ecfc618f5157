// Air: a round of sums over the air: which client sends in which slot, how loud, and with how much noise it is heard.
// Source of power control and noise: equations 2.3 to 2.8 of asynchronous DSGD (docs/references.md#asynchronous-dsgd),
// which leave the scales open (C2-5, docs/references.md#asynchronous-dsgd-decisions). Source of the slots, in which stars of
// the graph are served at the same time, so that each edge is served once: Xing, Simeone and Bi, "Federated Learning over
// Wireless Device-to-Device Networks", with a greedy choice of stars of our own (docs/references.md#channel).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/choices.hpp"
#include "runtime/world/channel.hpp"
#include "runtime/world/fading_links.hpp"

namespace rubato {

/// What a leaf of a star brings to the slots; links fade equally in both directions.
struct AirLeaf {
  double weight = 0;        ///< of the leaf at the centre, and of the centre at the leaf
  double amplitude = 1;     ///< of the link, > 0
  double norm_squared = 0;  ///< of what the leaf sends
};

/// The scale c at which the leaves of a star can all send `numbers` symbols each below the power cap; infinite if
/// all numbers are zeros. The estimate of the sum then has noise of variance sigma^2 / c in every number.
double star_scale(std::span<const AirLeaf> leaves, double power_cap, double numbers);

/// The scale a at which the centre can send likewise.
double broadcast_scale(double norm_squared, double power_cap, double numbers);

/// By what leaf multiplies its numbers: sqrt(c) w / h.
double leaf_gain(const AirLeaf& leaf, double star_scale);

/// Variance of the noise in the weighted broadcast that a leaf hears, for noise of variance 1.
double broadcast_noise(const AirLeaf& leaf, double broadcast_scale);

/// In the first slot of its pair the leaves send at once and the centre hears their sum; in the second the centre sends
/// and every leaf hears it.
struct Star {
  ClientId centre;
  std::vector<ClientId> leaves;  ///< ascending
};

/// Pairs of slots, each with stars that share no client. The graph must have a link back for every link.
using SlotSchedule = std::vector<std::vector<Star>>;
SlotSchedule schedule_slots(const Graph& graph, SlotStars stars = SlotStars::many);

/// The slots of one round.
class AirRound {
 public:
  explicit AirRound(const Graph& up, SlotStars stars = SlotStars::many);

  /// How a client hears a neighbour.
  struct Hearing {
    ClientId peer;
    bool is_sum = false;     ///< the client is the centre and hears the sum of its leaves; else its peer's broadcast
    std::uint32_t star = 0;  ///< number of the star
  };
  /// By peer, ascending.
  const std::vector<Hearing>& heard_by(ClientId client) const { return heard_[client.value]; }
  /// Pairs of slots, and in how many slots a client sends.
  std::size_t pairs() const { return pairs_; }
  std::size_t sent_by(ClientId client) const { return sent_[client.value]; }

 private:
  std::size_t pairs_ = 0;
  std::vector<std::vector<Hearing>> heard_;
  std::vector<std::uint32_t> sent_;
};

/// Any thread may ask.
class Air {
 public:
  struct Settings {
    double power_cap = 1;  ///< of a symbol, in the mean over a message
    double noise = 0.1;    ///< standard deviation in a received symbol
    Duration slot{};
    std::uint64_t seed = 0;
    SlotStars stars = SlotStars::many;  ///< at the same time
  };
  /// The links outlive it.
  Air(const FadingLinks& links, const Settings& settings) : links_{links}, settings_{settings} {}

  const Settings& settings() const { return settings_; }
  std::shared_ptr<const AirRound> round(std::uint64_t number) const;
  double amplitude(ClientId one, ClientId other, std::uint64_t round) const;

  /// A message of this round as its receiver hears it.
  struct Heard {
    ClientId sender;
    double weight = 0;
    double norm_squared = 0;
  };
  /// The standard deviation of the noise in every number of each message, in their order, for messages of so many
  /// numbers, senders ascending. The noise of a sum is that of its first message.
  std::vector<double> deviations(ClientId receiver, std::uint64_t round, const std::vector<Heard>& messages, double numbers) const;

 private:
  struct Known {
    std::uint64_t number = ~std::uint64_t{0};
    std::shared_ptr<const AirRound> round;
  };

  const FadingLinks& links_;
  Settings settings_;
  mutable std::mutex mutex_;
  mutable std::array<Known, 8> known_;
};

/// Rounds take as long as their slots; what is down is lost.
class AirChannel final : public Channel {
 public:
  explicit AirChannel(const Air& air, const Fading& fading) : air_{air}, fading_{fading} {}
  Fate carry(const LinkUse& use) const override;

 private:
  const Air& air_;
  Fading fading_;
};

}  // namespace rubato
