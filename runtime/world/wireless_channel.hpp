// WirelessChannel: radio links with path loss, Rayleigh fading and interference; a message arrives as fast as they let it.
// The model is that of DRACO's experiments (docs/references.md#channel), read as CH-1 to CH-6 say
// (docs/references.md#channel-decisions).
#pragma once

#include <optional>
#include <vector>

#include "runtime/choices.hpp"
#include "runtime/world/channel.hpp"
#include "runtime/world/places.hpp"
#include "runtime/world/radio.hpp"

namespace rubato {

struct WirelessSettings {
  Radio radio;
  std::vector<double> power{1};  ///< watts; one for all, or one for each client
  Interferers interferers = Interferers::active;
  Duration longest = Duration::max();  ///< a message that would take longer is lost
};

/// The power gain of a link is drawn from Exp(1) for every message, its interference on bystanders included: addressed by
/// (transmitter, message, receiver), so that nothing moves another's fading. The rate is that of the instant at which the
/// message leaves; further attempts of a message meet the same transmitters, all faded anew. Control messages disturb
/// no other. One thread at a time where clients wander or transmissions disturb each other.
class WirelessChannel final : public Channel {
 public:
  WirelessChannel(std::uint64_t seed, WirelessSettings settings, Places places);

  Fate carry(const LinkUse& use) const override;
  bool is_shared() const override { return settings_.interferers == Interferers::active; }
  void announce(const Transmission& transmission) override;
  void occupy(ClientId sender, Time until) override;
  /// The largest mean SINR over the links that lead away from a client, with mean fading; ties by lower number.
  std::optional<ClientId> best_sender(const Graph& graph, Time at) const override;
  void set_sizes(const MessageSizes& sizes) override { sizes_ = sizes; }

  /// Of a message, as it is carried.
  double sinr(const LinkUse& use) const;
  const Places& places() const { return places_; }

 private:
  // What a client transmits, or has transmitted last.
  struct OnAir {
    std::optional<Time> begun;
    Time until{};
    LinkUse message;
  };

  double power(ClientId client) const { return settings_.power[settings_.power.size() > 1 ? client.value : 0]; }
  /// What arrives from a transmitter, in watts.
  double received(ClientId sender, Point from, Point to, double fading) const;
  double fading(const LinkUse& message, ClientId receiver) const;
  double fading_of(ClientId interferer, const LinkUse& use) const;
  bool transmits(ClientId client, Time at) const;
  /// Noise, and the power of the transmitters that disturb the receiver of this message.
  double disturbance(const LinkUse& use, Point receiver) const;
  const NearbyPoints& near_at(Time at) const;

  std::uint64_t seed_;
  WirelessSettings settings_;
  double noise_;
  Places places_;
  MessageSizes sizes_;
  std::vector<OnAir> on_air_;
  // Wanderers are sorted into cells now and then; meanwhile none goes further than the slack.
  double slack_;
  mutable std::vector<Point> sorted_places_;
  mutable Time sorted_until_{};
  mutable std::optional<NearbyPoints> near_;
  mutable std::vector<ClientId> disturbing_;  // kept for its memory
};

}  // namespace rubato
