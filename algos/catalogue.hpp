// The catalogue: name -> factory, and what the algorithm needs from its protocol. The only list of algorithms.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "algos/algorithm.hpp"
#include "algos/options.hpp"
#include "runtime/protocols/push.hpp"

namespace rubato {

/// Makes one client's algorithm, which starts from the given model.
template <class Real>
using AlgorithmFactory =
    std::function<std::unique_ptr<Algorithm<Real>>(ClientId client, ConstVectorRef<Real> start, TensorPool& pool)>;

struct CatalogueEntry {
  std::string_view name;
  std::string_view summary;
  Needs needs;
  bool may_be_unified;
  AlgorithmFactory<float> (*make_float)(const AlgorithmOptions&);
  AlgorithmFactory<double> (*make_double)(const AlgorithmOptions&);
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

}  // namespace rubato
