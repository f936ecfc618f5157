// The catalogue: name -> factory, options, and what the algorithm needs from its protocol and its graph. The only list
// of algorithms.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "algos/algorithm.hpp"
#include "algos/option_table.hpp"
#include "algos/protocol_kind.hpp"
#include "runtime/protocols/needs.hpp"
#include "runtime/world/graph.hpp"

namespace rubato {

/// What an algorithm may want to warn of before it starts.
struct RunFacts {
  double compute_rate = 0;        ///< mean computations per second and client
  double unification_period = 0;  ///< seconds; 0: never
  double lowest_eigenvalue = -1;  ///< of the neighbour average without self; -1 where it is not known
  bool in_rounds = false;         ///< the protocol is rounds
};

/// The graphs an algorithm can use.
enum class Graphs : std::uint8_t {
  connected,   ///< from every client to every other there is a path
  undirected,  ///< connected, and every link has its reverse
  complete,
  centred,  ///< the centre is linked with all others, both ways
};

/// Makes factories, one for each precision.
struct AlgorithmMaker {
  AlgorithmFactory<float> (*of_float)(const AlgorithmOptions&) = nullptr;  ///< throws std::invalid_argument for options it refuses
  AlgorithmFactory<double> (*of_double)(const AlgorithmOptions&) = nullptr;  ///< likewise
};

/// What the length of a message goes by.
struct MessageForm {
  std::size_t numbers;       ///< of the model
  std::size_t scalar_bytes;  ///< of each of them
  std::size_t mass_bytes;    ///< of each number of the mass that goes with a model, see tracking_mass.hpp
};

/// All that is known of one algorithm before a run.
struct CatalogueEntry {
  std::string_view name;                                     ///< as in algorithm.name
  std::string_view summary;                                  ///< for `rubato list`
  std::span<const OptionSpec> options{};                     ///< keys of [algorithm] besides the name
  Protocols runs{ProtocolKind::push, ProtocolKind::rounds};  ///< where it makes sense
  Graphs graphs = Graphs::connected;                         ///< what it needs
  Weights merge = Weights::none;                             ///< W[receiver][sender] that merge steps carry
  Weights share = Weights::none;                             ///< W[receiver][sender] that publish steps carry
  bool may_be_unified = false;                               ///< [unification] may overwrite its model
  bool may_begin = false;                                    ///< a computation may have begun at an earlier model
  bool allows_missing = true;                                ///< rounds may go on without messages that were lost
  std::string_view tracks{};                                 ///< its state that follows the mean gradient, for probes: "y", "y nu"
  bool may_differ = false;                                   ///< clients may have models of unlike architecture
  /// What it asks of its protocol.
  Needs (*needs)(const AlgorithmOptions&) = [](const AlgorithmOptions&) { return Needs{}; };
  /// Bytes of one message; null: those of the model.
  double (*message_bytes)(const AlgorithmOptions&, const MessageForm&) = nullptr;
  /// See made_by.
  AlgorithmMaker make{};
  /// Throws std::invalid_argument with the condition that fails, where options and graph do not go together.
  void (*check)(const AlgorithmOptions&, const Graph&) = nullptr;
  /// A sentence about what is likely to go wrong, or nothing.
  std::string (*warning)(const AlgorithmOptions&, const RunFacts&) = nullptr;
};

/// Bytes of one message that is a model and the mass that goes with it.
double model_and_mass_bytes(const AlgorithmOptions& options, const MessageForm& form);

/// All algorithms: those of the library by name, then those of extend_catalogue().
std::span<const CatalogueEntry* const> catalogue();

/// Adds a program's own algorithms, for experiment files and commands to name; they live as long as the program. To be
/// called while nothing else of the library is at work. An entry that is in the catalogue already, the same object, is read anew:
/// its options may have changed. Throws std::invalid_argument if a name is taken or a precision is missing.
void extend_catalogue(std::span<const CatalogueEntry* const> own);

/// Another number after every extend_catalogue(): what is made of the catalogue is to be made anew.
std::uint64_t catalogue_version();

/// The entry of this name. Throws std::invalid_argument that lists the known ones.
const CatalogueEntry& catalogue_entry(std::string_view name);

/// Throws std::invalid_argument, with the reason, where the algorithm cannot use this graph.
void require_graph(const CatalogueEntry& entry, const AlgorithmOptions& options, const Graph& graph, ClientId centre);

/// Its factory for this precision.
template <class Real>
AlgorithmFactory<Real> make_algorithm(const CatalogueEntry& entry, const AlgorithmOptions& options) {
  if constexpr (std::is_same_v<Real, float>)
    return entry.make.of_float(options);
  else
    return entry.make.of_double(options);
}

/// What one client's algorithm is set up with.
template <class Real, class Settings>
struct Setup {
  std::shared_ptr<const Settings> settings;  ///< shared by all clients
  const ClientView& client_view;             ///< its place among the others
  ConstVectorRef<Real> start;                ///< the first model
  TensorPool& pool;                          ///< memory of payloads
};

/// A factory of Kind<Real>(setup).
template <template <class> class Kind, class Real, class Settings>
AlgorithmFactory<Real> factory_of(Settings settings) {
  const auto shared = std::make_shared<const Settings>(std::move(settings));
  return [shared](const ClientView& client_view, ConstVectorRef<Real> start, TensorPool& pool) -> std::unique_ptr<Algorithm<Real>> {
    return std::make_unique<Kind<Real>>(Setup<Real, Settings>{shared, client_view, start, pool});
  };
}

/// What `needs` makes of the options of `table`.
template <auto needs, const auto& table>
inline constexpr auto needs_by = [](const AlgorithmOptions& given) {
  return needs({given, table});
};

/// Makes Kind with the settings that `read` finds in the options of `table`.
template <template <class> class Kind, auto read, const auto& table>
inline constexpr AlgorithmMaker made_by{[](const AlgorithmOptions& given) {
                                          return factory_of<Kind, float>(read({given, table}));
                                        },
                                        [](const AlgorithmOptions& given) {
                                          return factory_of<Kind, double>(read({given, table}));
                                        }};

}  // namespace rubato
