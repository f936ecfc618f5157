#include "experiment/build/resolved_algorithm.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/build/expected_weights.hpp"
#include "runtime/world/mixing.hpp"

namespace rubato {

namespace {

std::vector<double> draco_weights(const config::Algorithm& algorithm, const Graph& graph) {
  const auto inverse = [](std::size_t degree) { return 1.0 / static_cast<double>(degree); };
  switch (algorithm.q) {
    case config::WeightKind::receiver_static:
      return weigh_links(graph, [&](ClientId, ClientId receiver) { return inverse(graph.in_degree(receiver)); });
    case config::WeightKind::sender_static:
      return weigh_links(graph, [&](ClientId sender, ClientId) { return inverse(graph.out_degree(sender)); });
    case config::WeightKind::explicit_:
      return weigh_links(graph,
                         [&](ClientId sender, ClientId receiver) { return algorithm.q_matrix[receiver.value][sender.value]; });
    case config::WeightKind::batch:
      break;
  }
  return {};
}

// In the order of Weights.
constexpr std::string_view usual_rules = "|draco_row|uniform_row|uniform_col|metropolis|averaging";

// What is wrong with the sums of a matrix that must be of this kind; empty if nothing is.
std::string sum_fault(const MixingMatrix& matrix, Weights weights) {
  const bool is_doubly = weights == Weights::doubly;
  const double rows = rows_sum_to_one(weights) ? row_defect(matrix) : 0;
  const double columns = weights == Weights::column || is_doubly ? column_defect(matrix) : 0;
  constexpr const char* sentence = "{} do not sum to one: they are off by up to {:g}";
  if (rows > sum_tolerance) return fmt::format(fmt::runtime(sentence), "its rows", rows);
  if (columns > sum_tolerance) return fmt::format(fmt::runtime(sentence), "its columns", columns);
  if (is_doubly && symmetry_defect(matrix) > sum_tolerance) return "it is not symmetric";
  return smallest_weight(matrix) < 0 ? "it has a negative weight" : "";
}

MixingMatrix make_weights(config::MixingKind kind, const DenseMatrix& given, std::optional<double> tau, Weights weights,
                          const char* key, const Graph& graph) {
  MixingOptions options;
  options.tau = tau;
  const bool is_open = kind == config::MixingKind::auto_;
  options.kind = std::string(is_open ? word_at(usual_rules, static_cast<std::size_t>(weights)) : word_of(kind));
  options.weights = given;
  MixingMatrix matrix = [&] {
    try {
      return make_mixing(options, graph);
    } catch (const std::invalid_argument& refusal) {  // speaks of topology.mixing
      const std::string sentence = refusal.what();
      constexpr std::string_view usual = "topology.mixing";
      if (!sentence.starts_with(usual)) throw;
      throw std::invalid_argument(fmt::format("topology.{}{}", key, sentence.substr(usual.size())));
    }
  }();
  if (const std::string fault = sum_fault(matrix, weights); !fault.empty())
    throw std::invalid_argument(fmt::format("topology.{} = \"{}\": {}", key, options.kind, fault));
  return matrix;
}

}  // namespace

AlgorithmOptions known_options(const config::Experiment& experiment) {
  AlgorithmOptions options = experiment.algorithm.options;
  for (const auto& [name, value] : experiment.algorithm.options.all()) {
    const auto* word = std::get_if<std::string>(&value);
    if (word && name == "local_steps" && *word == "mean_inverse_p") options.set(name, mean_inverse_chance(experiment));
  }
  return options;
}

ResolvedAlgorithm resolve_algorithm(const config::Experiment& experiment) {
  const CatalogueEntry& entry = catalogue_entry(experiment.algorithm.name);
  const ProtocolKind protocol = experiment.protocol.kind.value_or(entry.runs.usual());
  if (entry.runs.has(protocol)) return {entry.needs(known_options(experiment)), entry.merge, entry.share, protocol, &entry};
  std::vector<std::string_view> known;
  for (const ProtocolKind kind : every_protocol)
    if (entry.runs.has(kind)) known.push_back(word_of(kind));
  throw std::invalid_argument(fmt::format("algorithm.name = \"{}\" does not run under protocol.kind = \"{}\"; it runs under: {}",
                                          experiment.algorithm.name, word_of(protocol), fmt::join(known, ", ")));
}

std::vector<double> weights_of(const Graph& part, const Graph& graph, const config::Experiment& experiment,
                               const ResolvedAlgorithm& resolved, bool is_share) {
  const config::Topology& topology = experiment.topology;
  const Weights rule = is_share ? resolved.share : resolved.merge;
  const auto on_whole = [&](auto weight) {
    return weigh_links(graph, [&](ClientId sender, ClientId receiver) {
      return part.find_link(sender, receiver) ? weight(sender, receiver) : 0.0;
    });
  };
  if (rule == Weights::none) return on_whole([](ClientId, ClientId) { return 1.0; });
  if (rule == Weights::neighbours) {
    const std::vector<double> weights = draco_weights(experiment.algorithm, part);
    return on_whole(
        [&](ClientId sender, ClientId receiver) { return weights.empty() ? 1.0 : weights[*part.find_link(sender, receiver)]; });
  }
  const bool is_one_matrix = resolved.share == resolved.merge && topology.shares == config::MixingKind::auto_;
  const MixingMatrix matrix = is_share && !is_one_matrix
                                  ? make_weights(topology.shares, topology.shares_matrix, {}, rule, "shares", part)
                                  : make_weights(topology.mixing, topology.mixing_matrix, topology.tau, rule, "mixing", part);
  if (part.links() == graph.links()) return {matrix.link_weights().begin(), matrix.link_weights().end()};
  return on_whole([&](ClientId sender, ClientId receiver) { return matrix.at(receiver, sender); });
}

std::vector<double> partner_weights_of(const Graph& graph, const config::Experiment& experiment) {
  const config::Topology& topology = experiment.topology;
  if (topology.mixing == config::MixingKind::auto_) return {};
  const MixingMatrix matrix = make_weights(topology.mixing, topology.mixing_matrix, topology.tau, Weights::row, "mixing", graph);
  return weigh_links(graph, [&](ClientId asker, ClientId partner) { return matrix.at(asker, partner); });
}

}  // namespace rubato
