#include "algos/catalogue.hpp"

#include <array>
#include <stdexcept>
#include <string>

namespace rubato {

namespace {

constexpr std::array entries{
    CatalogueEntry{"draco", "increments over a row-stochastic graph, window, deadline, reception cap, unification",
                   Needs{.send_only_if_computed = true}, true, make_draco<float>, make_draco<double>,
                   draco_warning},
};

}  // namespace

std::span<const CatalogueEntry> catalogue() { return entries; }

const CatalogueEntry& catalogue_entry(std::string_view name) {
  std::string known;
  for (const CatalogueEntry& entry : entries) {
    if (entry.name == name) return entry;
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw std::invalid_argument("algorithm.name = \"" + std::string(name) + "\" is not known; known are: " + known);
}

}  // namespace rubato
