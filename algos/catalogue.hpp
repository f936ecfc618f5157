// The catalogue: name -> factory, and what the algorithm needs from its protocol. The only list of algorithms.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "algos/algorithm.hpp"
#include "algos/options.hpp"
#include "runtime/protocols/push.hpp"

namespace rubato {

/// Makes one client's algorithm, which starts from the given model.
template <class Real>
using AlgorithmFactory =
    std::function<std::unique_ptr<Algorithm<Real>>(ClientId client, ConstVectorRef<Real> start, TensorPool& pool)>;

/// What an algorithm may want to warn of before it starts.
struct RunFacts {
  double compute_rate = 0;         ///< mean computations per second and client
  double unification_period = 0;   ///< seconds; 0: never
  double lowest_eigenvalue = -1;   ///< of the neighbour average without self; -1 where it is not known
};

struct CatalogueEntry {
  std::string_view name;
  std::string_view summary;
  Needs needs;
  bool may_be_unified;
  AlgorithmFactory<float> (*make_float)(const AlgorithmOptions&);
  AlgorithmFactory<double> (*make_double)(const AlgorithmOptions&);
  /// A sentence about what is likely to go wrong, or nothing.
  std::string (*warning)(const AlgorithmOptions&, const RunFacts&);
};

/// All algorithms of the library, by name.
std::span<const CatalogueEntry> catalogue();

/// The entry of this name. Throws std::invalid_argument that lists the known ones.
const CatalogueEntry& catalogue_entry(std::string_view name);

template <class Real>
AlgorithmFactory<Real> make_algorithm(const CatalogueEntry& entry, const AlgorithmOptions& options) {
  if constexpr (std::is_same_v<Real, float>)
    return entry.make_float(options);
  else
    return entry.make_double(options);
}

template <class Real>
AlgorithmFactory<Real> make_draco(const AlgorithmOptions& options);
std::string draco_warning(const AlgorithmOptions& options, const RunFacts& facts);

}  // namespace rubato
