#include "runtime/world/wireless_channel.hpp"

#include <algorithm>

#include "runtime/random.hpp"

namespace rubato {

WirelessChannel::WirelessChannel(std::uint64_t seed, WirelessSettings settings, Places places)
    : seed_{seed},
      settings_{std::move(settings)},
      noise_{settings_.radio.noise_watts()},
      places_{std::move(places)},
      on_air_(places_.clients()),
      slack_{places_.is_still() ? 0 : settings_.radio.interference_radius / 4} {
  disturbing_.reserve(64);
}

double WirelessChannel::received(ClientId sender, Point from, Point to, double fading) const {
  return power(sender) * fading * settings_.radio.path_gain(distance(from, to));
}

double WirelessChannel::fading(const LinkUse& message, ClientId receiver) const {
  return exponential(draw(seed_, message.sender, Purpose::fading, address_of(message), receiver.value).first);
}

// Of the link from an interferer to the receiver: that of what it transmits, or, where all in the radius count, drawn for the
// message that it disturbs.
double WirelessChannel::fading_of(ClientId interferer, const LinkUse& use) const {
  if (settings_.interferers == Interferers::active) {
    LinkUse message = on_air_[interferer.value].message;
    message.attempt = use.attempt;
    return fading(message, use.receiver);
  }
  const std::uint64_t of_message = draw(seed_, use.sender, Purpose::interference, address_of(use), use.receiver.value).first;
  return exponential(draw(of_message, interferer, Purpose::interference, 0).first);
}

bool WirelessChannel::transmits(ClientId client, Time at) const {
  if (settings_.interferers == Interferers::all) return true;
  const OnAir& air = on_air_[client.value];
  return air.begun && (air.until > at || *air.begun == at);
}

const NearbyPoints& WirelessChannel::near_at(Time at) const {
  if (near_ && at <= sorted_until_) return *near_;
  sorted_places_.clear();
  for (std::uint32_t i = 0; i < places_.clients(); ++i) sorted_places_.push_back(places_.of(ClientId{i}, at));
  sorted_until_ = places_.is_still() ? never : later(at, from_seconds(slack_ / places_.fastest()));
  return near_.emplace(sorted_places_, settings_.radio.interference_radius + slack_);
}

double WirelessChannel::disturbance(const LinkUse& use, Point receiver) const {
  if (settings_.interferers == Interferers::none) return noise_;
  disturbing_.clear();
  near_at(use.now).see_around(receiver, settings_.radio.interference_radius + slack_, [&](ClientId other) {
    if (other != use.sender && other != use.receiver && transmits(other, use.now)) disturbing_.push_back(other);
  });
  std::sort(disturbing_.begin(), disturbing_.end());  // sums in one order, whatever the cells
  double sum = noise_;
  for (const ClientId other : disturbing_) {
    const Point from = places_.of(other, use.now);
    if (distance(from, receiver) >= settings_.radio.interference_radius) continue;
    sum += received(other, from, receiver, fading_of(other, use));
  }
  return sum;
}

double WirelessChannel::sinr(const LinkUse& use) const {
  const Point receiver = places_.of(use.receiver, use.now);
  return received(use.sender, places_.of(use.sender, use.now), receiver, fading(use, use.receiver)) / disturbance(use, receiver);
}

Fate WirelessChannel::carry(const LinkUse& use) const {
  const double apart = distance(places_.of(use.sender, use.now), places_.of(use.receiver, use.now));
  const double bits = 8 * sizes_.of(use.kind);
  const Duration delay = std::max(from_seconds(settings_.radio.seconds(bits, sinr(use), apart)), Duration{1});
  const Duration spent = std::min(delay, settings_.longest);
  return {.lost = delay > settings_.longest, .delay = spent, .airtime = spent};
}

void WirelessChannel::announce(const Transmission& transmission) {
  OnAir& air = on_air_[transmission.sender.value];
  air.begun = transmission.at;
  air.message = {.sender = transmission.sender, .kind = transmission.kind, .turn = transmission.turn};
}

void WirelessChannel::occupy(ClientId sender, Time until) {
  Time& end = on_air_[sender.value].until;
  end = std::max(end, until);
}

std::optional<ClientId> WirelessChannel::best_sender(const Graph& graph, Time at) const {
  std::optional<ClientId> best;
  double best_mean = 0;
  for (std::uint32_t i = 0; i < graph.clients(); ++i) {
    const auto receivers = graph.receivers_of(ClientId{i});
    const Point from = places_.of(ClientId{i}, at);
    double sum = 0;
    for (const ClientId receiver : receivers) {
      const Point to = places_.of(receiver, at);
      const LinkUse use{.sender = ClientId{i}, .receiver = receiver, .kind = MessageKind::model, .now = at};
      sum += received(ClientId{i}, from, to, 1) / disturbance(use, to);
    }
    const double mean = receivers.empty() ? 0 : sum / static_cast<double>(receivers.size());
    if (best && mean <= best_mean) continue;
    best = ClientId{i};
    best_mean = mean;
  }
  return best;
}

}  // namespace rubato
