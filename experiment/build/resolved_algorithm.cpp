#include "experiment/build/resolved_algorithm.hpp"

#include <stdexcept>
#include <string>

namespace rubato {

ResolvedAlgorithm resolve_algorithm(const config::Experiment& experiment) {
  const CatalogueEntry& entry = catalogue_entry(experiment.algorithm.name);
  const ProtocolKind protocol = experiment.protocol.kind.value_or(entry.runs.usual());
  if (!entry.runs.has(protocol)) {
    std::string known;
    for (const ProtocolKind kind :
         {ProtocolKind::push, ProtocolKind::rounds, ProtocolKind::server, ProtocolKind::token, ProtocolKind::pull})
      if (entry.runs.has(kind)) known += (known.empty() ? "" : ", ") + std::string(word_of(kind));
    throw std::invalid_argument("algorithm.name = \"" + experiment.algorithm.name + "\" does not run under protocol.kind = \"" +
                                std::string(word_of(protocol)) + "\"; it runs under: " + known);
  }
  return {entry.needs(experiment.algorithm.options), entry.merge, entry.share, protocol, &entry};
}

}  // namespace rubato
