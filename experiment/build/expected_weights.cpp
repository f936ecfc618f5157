#include "experiment/build/expected_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "experiment/build/timers.hpp"
#include "experiment/build/world.hpp"
#include "runtime/world/spectrum.hpp"

namespace rubato {

using config::Experiment;

std::vector<double> compute_chances(const Experiment& experiment) {
  std::vector<double> chances;
  if (!experiment.protocol.compute_chance) return chances;
  const PerClient chance(*experiment.protocol.compute_chance, static_cast<std::uint64_t>(experiment.seed), 8);
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(experiment.clients.count); ++i)
    chances.push_back(std::clamp(chance.of({i}), experiment.protocol.least_chance, 1.0));
  return chances;
}

std::vector<double> link_chances(const Experiment& experiment, const Graph& graph) {
  std::vector<double> chances;
  if (!experiment.protocol.link_chance) return chances;
  const Law law = law_of(*experiment.protocol.link_chance);
  for (LinkIndex link = 0; link < graph.links(); ++link) {
    const Edge ends = graph.ends_of(link);
    Stream stream(static_cast<std::uint64_t>(experiment.seed), ends.source, Purpose::rate, 16 + ends.target.value);
    chances.push_back(std::clamp(sample(law, stream, ends.source), experiment.protocol.least_chance, 1.0));
  }
  return chances;
}

std::int64_t mean_inverse_chance(const Experiment& experiment) {
  const std::vector<double> chances = compute_chances(experiment);
  if (chances.empty())
    throw std::invalid_argument("algorithm.local_steps = \"mean_inverse_p\" needs protocol.compute_chance, the p of each client");
  double sum = 0;
  for (const double chance : chances) sum += 1 / chance;
  return static_cast<std::int64_t>(std::ceil(sum / static_cast<double>(chances.size()) * (1 - 1e-12)));  // 5 + rounding is 5
}

MixingMatrix expected_weights(const Graph& graph, const Experiment& experiment, const ResolvedAlgorithm& resolved,
                              const std::vector<double>& chances, bool is_share) {
  std::vector<double> links = weights_of(graph, graph, experiment, resolved, is_share);
  std::vector<double> own(graph.clients(), 1);
  for (LinkIndex link = 0; link < graph.links(); ++link) {
    if (!chances.empty()) links[link] *= chances[link];
    const Edge ends = graph.ends_of(link);
    own[(is_share ? ends.source : ends.target).value] -= links[link];
  }
  return MixingMatrix(graph, std::move(own), std::move(links));
}

namespace {

std::vector<double> left_eigenvector_of_merges(const Experiment& experiment) {
  constexpr std::size_t most_clients = 2000;
  constexpr const char* key = "metrics.mean_weights = \"phi\"";
  const std::vector<Graph> graphs = make_graphs(experiment);
  if (graphs.size() > 1) throw std::invalid_argument(fmt::format("{}: the graph changes, and with it the weights", key));
  const Graph& graph = graphs.front();
  if (graph.clients() > most_clients)
    throw std::invalid_argument(
        fmt::format("{}: time grows with the cube of the clients; at most {} can have it", key, most_clients));
  const ResolvedAlgorithm resolved = resolve_algorithm(experiment);
  if (!rows_sum_to_one(resolved.merge))
    throw std::invalid_argument(fmt::format("{}: algorithm.name = \"{}\" does not mix models with weights whose rows sum to one",
                                            key, experiment.algorithm.name));
  const std::vector<double> chances = resolved.needs.sporadic.links ? link_chances(experiment, graph) : std::vector<double>{};
  return left_eigenvector(expected_weights(graph, experiment, resolved, chances, false).dense());
}

}  // namespace

std::vector<double> mean_weights(const Experiment& experiment, const std::vector<std::uint32_t>& samples) {
  if (experiment.metrics.mean_weights == config::MeanWeights::none) return {};
  if (experiment.metrics.mean_weights == config::MeanWeights::phi) return left_eigenvector_of_merges(experiment);
  const double all = std::accumulate(samples.begin(), samples.end(), 0.0);
  std::vector<double> weights;
  for (const std::uint32_t rows : samples) weights.push_back(rows / all);
  return weights;
}

}  // namespace rubato
