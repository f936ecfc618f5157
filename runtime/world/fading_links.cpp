#include "runtime/world/fading_links.hpp"

#include <algorithm>

#include "runtime/random.hpp"

namespace rubato {

double Fading::power_gain(ClientId one, ClientId other, std::uint64_t block) const {
  const auto [low, high] = std::minmax(one, other);
  return exponential(draw(seed_, low, Purpose::fading, block, high.value).first);
}

Duration Fading::completion(ClientId one, ClientId other, std::uint64_t block) const {
  return std::max(from_seconds(rule_.mean * power_gain(one, other, block)), Duration{1});
}

bool Fading::is_up(ClientId one, ClientId other, std::uint64_t block) const {
  if (rule_.is_by_time) return completion(one, other, block) <= rule_.longest;
  return rule_.threshold.is_up(power_gain(one, other, block));
}

std::shared_ptr<const FadingLinks::Degrees> FadingLinks::degrees(std::uint64_t block) const {
  const std::lock_guard lock(mutex_);
  Block& known = known_[block % known_.size()];
  if (known.number == block) return known.degrees;
  Degrees counted(graph_.clients());
  for (std::uint32_t i = 0; i < graph_.clients(); ++i)
    for (const ClientId other : graph_.receivers_of(ClientId{i})) counted[i] += fading_.is_up(ClientId{i}, other, block);
  known = {block, std::make_shared<const Degrees>(std::move(counted))};
  return known.degrees;
}

double FadingLinks::metropolis(LinkIndex link, std::uint64_t block) const {
  if (!is_up(link, block)) return 0;
  const Edge ends = graph_.ends_of(link);
  const auto counted = degrees(block);
  return 1.0 / (1.0 + std::max((*counted)[ends.source.value], (*counted)[ends.target.value]));
}

Graph FadingLinks::up(std::uint64_t block) const {
  std::vector<Edge> edges;
  for (const Edge& edge : graph_.edges())
    if (fading_.is_up(edge.source, edge.target, block)) edges.push_back(edge);
  return Graph(graph_.clients(), graph_.is_directed(), std::move(edges));
}

}  // namespace rubato
