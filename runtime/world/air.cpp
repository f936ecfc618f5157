#include "runtime/world/air.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace rubato {

namespace {

using Remaining = std::vector<std::vector<ClientId>>;  // the neighbours of each client that are not served yet

// Clients with most edges left come first, ties by number.
std::vector<ClientId> scan_order(const Remaining& remaining) {
  std::vector<ClientId> order;
  for (std::uint32_t i = 0; i < remaining.size(); ++i)
    if (!remaining[i].empty()) order.push_back({i});
  std::stable_sort(order.begin(), order.end(),
                   [&](ClientId a, ClientId b) { return remaining[a.value].size() > remaining[b.value].size(); });
  return order;
}

std::vector<Star> next_stars(const Remaining& remaining, SlotStars at_once) {
  std::vector<bool> is_used(remaining.size());
  const auto uses = [&](ClientId client) { return static_cast<bool>(is_used[client.value]); };
  std::vector<Star> stars;
  for (const ClientId centre : scan_order(remaining)) {
    const std::vector<ClientId>& leaves = remaining[centre.value];
    if (uses(centre) || std::any_of(leaves.begin(), leaves.end(), uses)) continue;
    is_used[centre.value] = true;
    for (const ClientId leaf : leaves) is_used[leaf.value] = true;
    stars.push_back({centre, leaves});
    if (at_once == SlotStars::one) break;
  }
  return stars;
}

}  // namespace

SlotSchedule schedule_slots(const Graph& graph, SlotStars at_once) {
  Remaining remaining(graph.clients());
  for (std::uint32_t i = 0; i < graph.clients(); ++i) {
    const auto neighbours = graph.receivers_of(ClientId{i});
    remaining[i].assign(neighbours.begin(), neighbours.end());
  }
  SlotSchedule schedule;
  for (std::vector<Star> stars = next_stars(remaining, at_once); !stars.empty(); stars = next_stars(remaining, at_once)) {
    for (const Star& star : stars) {
      for (const ClientId leaf : star.leaves) std::erase(remaining[leaf.value], star.centre);
      remaining[star.centre.value].clear();
    }
    schedule.push_back(std::move(stars));
  }
  return schedule;
}

double star_scale(std::span<const AirLeaf> leaves, double power_cap, double numbers) {
  double scale = std::numeric_limits<double>::infinity();
  for (const AirLeaf& leaf : leaves) {
    const double needed = leaf.weight * leaf.weight * leaf.norm_squared;
    if (needed > 0) scale = std::min(scale, power_cap * numbers * (leaf.amplitude * leaf.amplitude) / needed);
  }
  return scale;
}

double broadcast_scale(double norm_squared, double power_cap, double numbers) {
  return norm_squared > 0 ? power_cap * numbers / norm_squared : std::numeric_limits<double>::infinity();
}

double leaf_gain(const AirLeaf& leaf, double star_scale) { return std::sqrt(star_scale) / leaf.amplitude * leaf.weight; }

double broadcast_noise(const AirLeaf& leaf, double broadcast_scale) {
  return leaf.weight * leaf.weight / (broadcast_scale * (leaf.amplitude * leaf.amplitude));
}

AirRound::AirRound(const Graph& up, SlotStars stars) : heard_(up.clients()), sent_(up.clients()) {
  const SlotSchedule schedule = schedule_slots(up, stars);
  pairs_ = schedule.size();
  std::uint32_t number = 0;
  for (const std::vector<Star>& pair : schedule) {
    for (const Star& star : pair) {
      ++sent_[star.centre.value];
      for (const ClientId leaf : star.leaves) {
        ++sent_[leaf.value];
        heard_[star.centre.value].push_back({leaf, true, number});
        heard_[leaf.value].push_back({star.centre, false, number});
      }
      ++number;
    }
  }
  for (auto& heard : heard_)
    std::sort(heard.begin(), heard.end(), [](const Hearing& a, const Hearing& b) { return a.peer < b.peer; });
}

std::shared_ptr<const AirRound> Air::round(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  Known& known = known_[number % known_.size()];
  if (known.number != number) known = {number, std::make_shared<const AirRound>(links_.up(number), settings_.stars)};
  return known.round;
}

double Air::amplitude(ClientId one, ClientId other, std::uint64_t round) const {
  return std::sqrt(links_.fading().power_gain(one, other, round));
}

std::vector<double> Air::deviations(ClientId receiver, std::uint64_t number, const std::vector<Heard>& messages,
                                    double numbers) const {
  const std::shared_ptr<const AirRound> slots = round(number);
  const std::vector<AirRound::Hearing>& hearings = slots->heard_by(receiver);
  std::map<std::uint32_t, std::vector<AirLeaf>> sums;  // by star
  std::map<std::uint32_t, std::size_t> first_of;
  std::vector<double> deviations(messages.size());
  for (std::size_t k = 0; k < messages.size(); ++k) {
    const Heard& message = messages[k];
    const auto hearing = std::lower_bound(hearings.begin(), hearings.end(), message.sender,
                                          [](const AirRound::Hearing& a, ClientId peer) { return a.peer < peer; });
    const AirLeaf leaf{message.weight, amplitude(receiver, message.sender, number), message.norm_squared};
    if (hearing->is_sum) {
      sums[hearing->star].push_back(leaf);
      first_of.try_emplace(hearing->star, k);
    } else {
      const double scale = broadcast_scale(message.norm_squared, settings_.power_cap, numbers);
      deviations[k] = settings_.noise / (std::sqrt(scale) * leaf.amplitude);
    }
  }
  for (const auto& [star, leaves] : sums) {
    const std::size_t k = first_of.at(star);
    deviations[k] = settings_.noise / (std::sqrt(star_scale(leaves, settings_.power_cap, numbers)) * messages[k].weight);
  }
  return deviations;
}

Fate AirChannel::carry(const LinkUse& use) const {
  const std::shared_ptr<const AirRound> slots = air_.round(use.round);
  const Duration slot = air_.settings().slot;
  return {.lost = !fading_.is_up(use.sender, use.receiver, use.round),
          .delay = slot * static_cast<std::int64_t>(2 * slots->pairs()),
          .airtime = slot * static_cast<std::int64_t>(slots->sent_by(use.sender))};
}

}  // namespace rubato
