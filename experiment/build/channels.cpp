#include "experiment/build/world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>

#include "experiment/build/devices.hpp"
#include "experiment/build/timers.hpp"
#include "runtime/world/bandwidth_channel.hpp"
#include "runtime/world/bursty_channel.hpp"
#include "runtime/world/places.hpp"
#include "runtime/world/radio.hpp"
#include "runtime/world/rayleigh_channel.hpp"
#include "runtime/world/trace_channel.hpp"
#include "runtime/world/wireless_channel.hpp"

namespace rubato {

namespace {

using config::ChannelKind;
using config::Experiment;

constexpr std::uint32_t most_draws = 1000;  // of places that are to be connected

// Which of a client's drawn numbers, among those of other parts of the file.
constexpr std::uint32_t power_number = 10, up_number = 11, down_number = 12;

Area area_of(const config::Channel& channel) { return {channel.area == config::AreaKind::square, channel.radius}; }

std::uint64_t seed_of(const Experiment& experiment) { return static_cast<std::uint64_t>(experiment.seed); }

std::size_t clients_of(const Experiment& experiment) { return static_cast<std::size_t>(experiment.clients.count); }

std::unique_ptr<Channel> make_random(const config::Channel& channel, std::uint64_t seed) {
  std::map<std::pair<ClientId, ClientId>, RandomChannel::LinkLaw> exceptions;
  for (const config::Link& link : channel.links)
    exceptions[{ClientId{static_cast<std::uint32_t>(link.source)}, ClientId{static_cast<std::uint32_t>(link.target)}}] = {
        law_of(link.delay.value_or(channel.delay)), link.loss.value_or(channel.loss), channel.duplicate};
  return std::make_unique<RandomChannel>(seed, RandomChannel::LinkLaw{law_of(channel.delay), channel.loss, channel.duplicate},
                                         std::move(exceptions));
}

std::vector<double> capacities_of(const config::Law& law, std::optional<config::Law> config::DeviceClass::*of_class,
                                  std::uint32_t number, const Experiment& experiment) {
  std::vector<double> all = numbers_of(experiment, law, number, [=](const auto& device) { return device.*of_class; });
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!(all[i] > 0))
      throw std::invalid_argument(fmt::format("the bits per second of client {} are {:f}: must be greater than 0", i, all[i]));
  return all;
}

std::unique_ptr<Channel> make_bandwidth(const Experiment& experiment) {
  const config::Channel& channel = experiment.channel;
  return std::make_unique<BandwidthChannel>(
      seed_of(experiment),
      BandwidthChannel::Capacities{capacities_of(channel.up, &config::DeviceClass::up, up_number, experiment),
                                   capacities_of(channel.down, &config::DeviceClass::down, down_number, experiment)},
      law_of(channel.delay), clients_of(experiment));
}

std::unique_ptr<Channel> make_rayleigh(const Experiment& experiment, bool in_rounds) {
  const Duration coherence = in_rounds ? Duration{} : from_seconds(experiment.channel.coherence);
  return std::make_unique<RayleighChannel>(seed_of(experiment), fading_of(experiment), coherence, law_of(experiment.channel.delay));
}

std::unique_ptr<Channel> make_trace(const Experiment& experiment) {
  const config::Channel& channel = experiment.channel;
  if (!law_of(channel.delay).is_constant())
    throw std::invalid_argument("channel.delay: for kind = \"trace\" it is that of links without rows: must be one number");
  return std::make_unique<TraceChannel>(seed_of(experiment), read_link_traces(channel.file.string(), clients_of(experiment)),
                                        std::max(from_seconds(channel.delay.value), Duration{1}));
}

std::unique_ptr<Channel> make_wireless(const Experiment& experiment, std::vector<Point> places) {
  const config::Channel& channel = experiment.channel;
  WirelessSettings settings;
  settings.radio.path_loss_exponent = channel.path_loss;
  settings.radio.bandwidth = channel.bandwidth;
  if (channel.bandwidth_use == config::BandwidthUse::shared)
    settings.radio.bandwidth /= static_cast<double>(experiment.clients.count);
  settings.radio.noise_dbm_per_hertz = channel.noise_dbm;
  settings.radio.interference_radius = channel.interference_share * channel.radius;
  settings.power = numbers_of(experiment, channel.power_dbm, power_number, [](const auto&) { return std::nullopt; });
  std::ranges::transform(settings.power, settings.power.begin(), watts_of_dbm);
  settings.interferers = channel.interference;
  if (experiment.mailbox.deadline) settings.longest = from_seconds(*experiment.mailbox.deadline);
  return std::make_unique<WirelessChannel>(seed_of(experiment), std::move(settings), wanderers(experiment, std::move(places)));
}

}  // namespace

std::unique_ptr<Channel> make_channel(const Experiment& experiment, std::vector<Point> places, bool in_rounds) {
  const config::Channel& channel = experiment.channel;
  switch (channel.kind) {
    case ChannelKind::ideal:
      return std::make_unique<IdealChannel>(std::max(from_seconds(channel.delay.value), Duration{1}));
    case ChannelKind::random:
    case ChannelKind::table:
      return make_random(channel, seed_of(experiment));
    case ChannelKind::wireless:
      return make_wireless(experiment, std::move(places));
    case ChannelKind::rayleigh_threshold:
      return make_rayleigh(experiment, in_rounds);
    case ChannelKind::aircomp:
      break;
    case ChannelKind::bandwidth:
      return make_bandwidth(experiment);
    case ChannelKind::trace:
      return make_trace(experiment);
    case ChannelKind::bursty:
      return std::make_unique<BurstyChannel>(seed_of(experiment), law_of(channel.delay),
                                             BurstyChannel::State{channel.good_mean, channel.good_loss},
                                             BurstyChannel::State{channel.bad_mean, channel.bad_loss});
  }
  return nullptr;
}

Fading fading_of(const Experiment& experiment) {
  const config::Channel& channel = experiment.channel;
  Fading::Rule rule{{channel.threshold, channel.threshold_of == config::ThresholdOf::power}};
  rule.is_by_time = channel.up_when == config::UpWhen::time;
  rule.mean = channel.completion_mean;
  if (rule.is_by_time && !experiment.mailbox.deadline)
    throw std::invalid_argument("channel.up_when = \"time\" needs mailbox.deadline: what takes longer is lost");
  if (experiment.mailbox.deadline) rule.longest = from_seconds(*experiment.mailbox.deadline);
  return {seed_of(experiment), rule};
}

void check_links(const config::Channel& channel, const Channel* made, const Graph& graph) {
  const std::size_t named = channel.links.size();
  for (const config::Link& link : channel.links) {
    const ClientId source{static_cast<std::uint32_t>(link.source)}, target{static_cast<std::uint32_t>(link.target)};
    if (!graph.find_link(source, target))
      throw std::invalid_argument(fmt::format("channel.links: the graph has no link from {} to {}", link.source, link.target));
  }
  if (const auto* trace = dynamic_cast<const TraceChannel*>(made))
    for (LinkIndex link = 0; link < graph.links(); ++link)
      if (const Edge ends = graph.ends_of(link); !trace->knows(ends.source, ends.target))
        throw std::invalid_argument(fmt::format("channel.file = \"{}\" has no row for the link from {} to {}",
                                                channel.file.string(), ends.source.value, ends.target.value));
  if (channel.kind == ChannelKind::table && named < graph.links())
    throw std::invalid_argument(fmt::format(
        "channel.kind = \"table\": channel.links names {} of the {} links of the graph, must name all", named, graph.links()));
}

void require_hub(const Experiment& experiment) {
  if (experiment.unification.hub != HubPolicy::best_channel || experiment.channel.kind == ChannelKind::wireless) return;
  throw std::invalid_argument("unification.hub = \"best_channel\": channel.kind = \"" +
                              std::string(word_of(experiment.channel.kind)) + "\" knows no SINR; it needs \"wireless\"");
}

std::vector<Point> usual_places(const Experiment& experiment) {
  const config::Channel& channel = experiment.channel;
  if (channel.kind != ChannelKind::wireless) return {};
  if (channel.positions) return read_places(channel.positions->string(), clients_of(experiment));
  return draw_places(area_of(channel), clients_of(experiment), seed_of(experiment));
}

std::vector<Point> connected_places(const Experiment& experiment, TopologyOptions options) {
  const config::Channel& channel = experiment.channel;
  if (channel.kind != ChannelKind::wireless)
    throw std::invalid_argument("topology.points = \"channel\": channel.kind = \"" + std::string(word_of(channel.kind)) +
                                "\" has no places; it needs \"wireless\"");
  if (channel.positions) return usual_places(experiment);
  for (std::uint32_t attempt = 0; attempt < most_draws; ++attempt) {
    options.points = draw_places(area_of(channel), clients_of(experiment), seed_of(experiment), attempt);
    if (make_topology(options, clients_of(experiment), seed_of(experiment)).is_strongly_connected()) return options.points;
  }
  throw std::invalid_argument("topology.points = \"channel\": " + std::to_string(most_draws) +
                              " draws of the clients' places gave no connected graph; use a larger topology.radius or topology.k");
}

Places wanderers(const Experiment& experiment, std::vector<Point> places) {
  const config::Channel& channel = experiment.channel;
  return {std::move(places), area_of(channel), Wandering{channel.speed_low, channel.speed_high, channel.pause},
          seed_of(experiment)};
}

}  // namespace rubato
