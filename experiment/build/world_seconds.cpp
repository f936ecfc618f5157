#include "experiment/build/world_seconds.hpp"

#include <limits>

namespace rubato {

std::vector<double> gradient_seconds(const Timing& timing) {
  std::vector<double> seconds;
  const double until = to_seconds(timing.conductor.until - Time{});
  for (std::uint32_t i = 0; i < timing.graph.clients(); ++i) {
    const double rate = timing.settings.compute_law({i}).mean_rate(until);
    seconds.push_back(rate > 0 ? 1 / rate : std::numeric_limits<double>::infinity());
  }
  return seconds;
}

std::optional<std::vector<double>> link_seconds(const Timing& timing) {
  constexpr std::uint64_t messages = 64;  // of a link: a mean to an eighth of its deviation
  Channel& channel = *timing.channel;
  if (channel.is_shared() || channel.transfers()) return std::nullopt;
  std::vector<double> seconds;
  for (LinkIndex link = 0; link < timing.graph.links(); ++link) {
    const Edge ends = timing.graph.ends_of(link);
    double sum = 0;
    std::uint64_t came = 0;
    for (std::uint64_t turn = 0; turn < messages; ++turn) {
      const LinkUse use{.sender = ends.source, .receiver = ends.target, .link = link, .turn = turn};
      const Fate fate = retransmitted(channel.carry(use), channel, use, timing.conductor.attempts);
      if (!fate.lost) sum += to_seconds(fate.delay), ++came;
    }
    seconds.push_back(came > 0 ? sum / static_cast<double>(came) : std::numeric_limits<double>::infinity());
  }
  return seconds;
}

}  // namespace rubato
