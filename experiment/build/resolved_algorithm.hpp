// ResolvedAlgorithm: the algorithm of an experiment and the protocol that it runs under.
#pragma once

#include "algos/catalogue.hpp"
#include "experiment/experiment.hpp"

namespace rubato {

/// What an algorithm asks of the timing, and what it is called if it comes from the catalogue.
struct ResolvedAlgorithm {
  Needs needs;
  Weights merge = Weights::none;
  Weights share = Weights::none;
  ProtocolKind protocol = ProtocolKind::push;
  const CatalogueEntry* entry = nullptr;
};

/// The file's algorithm under the file's protocol, or the one that suits it. Throws std::invalid_argument where they do not fit.
ResolvedAlgorithm resolve_algorithm(const config::Experiment& experiment);

}  // namespace rubato
