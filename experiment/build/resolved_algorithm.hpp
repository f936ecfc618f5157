// ResolvedAlgorithm: the algorithm of an experiment, the protocol that it runs under, and the weights it takes.
#pragma once

#include <vector>

#include "algos/catalogue.hpp"
#include "experiment/experiment.hpp"
#include "runtime/world/graph.hpp"

namespace rubato {

/// What an algorithm asks of the timing, and what it is called if it comes from the catalogue.
struct ResolvedAlgorithm {
  Needs needs;
  Weights merge = Weights::none;
  Weights share = Weights::none;
  ProtocolKind protocol = ProtocolKind::push;
  const CatalogueEntry* entry = nullptr;
};

/// Whether what a client merges, its own model included, weighs 1 in all.
constexpr bool rows_sum_to_one(Weights weights) {
  return weights == Weights::row || weights == Weights::doubly || weights == Weights::averaging;
}

/// The options of the file's algorithm with a number for each word that stands for one. Throws std::invalid_argument.
AlgorithmOptions known_options(const config::Experiment& experiment);

/// The file's algorithm under the file's protocol, or the one that suits it. Throws std::invalid_argument where they do not fit.
ResolvedAlgorithm resolve_algorithm(const config::Experiment& experiment);

/// What every link of the whole graph weighs while this part of it is there, in publish steps (`is_share`) or in merges;
/// links that are not there weigh nothing. Throws std::invalid_argument where a rule does not suit the graph.
std::vector<double> weights_of(const Graph& part, const Graph& graph, const config::Experiment& experiment,
                               const ResolvedAlgorithm& resolved, bool is_share);

/// Of every link how much its receiver counts when its sender draws whom to ask in a pair: [topology] mixing, where a row is the
/// asker's. Empty where the file leaves it open: all neighbours are alike. Throws as weights_of.
std::vector<double> partner_weights_of(const Graph& graph, const config::Experiment& experiment);

}  // namespace rubato
