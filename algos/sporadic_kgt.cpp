// Sporadic K-GT as Spod-GT compares with it: Spod-GT with every link in every round and sporadic gradients.
// Source: baseline (d) in section 5 of Zehtabi and others, "Sporadic Gradient Tracking" (docs/references.md#spod-gt;
// SP-12, docs/references.md#spod-gt-decisions).
//
//   x <- A x - eta B y;   y <- B y + c+ - c;   c: g in a round with a gradient, without one what spodgt.cpp says
#include "algos/entries.hpp"
#include "algos/spodgt.hpp"

namespace rubato {

constinit const CatalogueEntry entries::sporadic_kgt =
    spodgt_entry("sporadic_kgt", "gradient tracking on digraphs with sporadic gradients, all links in every round",
                 [](const AlgorithmOptions&) { return spodgt_needs({.computes = true}); });

}  // namespace rubato
