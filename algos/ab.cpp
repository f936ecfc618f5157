// AB / Push-Pull as Spod-GT compares with it: Spod-GT with every link and every gradient in every round.
// Source: Nedić, Nguyen and Nguyen, "AB/Push-Pull method" (docs/references.md#ab-and-push-pull), as baseline (a) in
// section 5 of Zehtabi and others, "Sporadic Gradient Tracking" (docs/references.md#spod-gt).
//
//   x <- A x - eta y;   y <- B (y + g+ - g), with y = B g at the start, where y is Spod-GT's after its merge
//
// The forms of the original publications are in pushpull.cpp.
#include "algos/entries.hpp"
#include "algos/spodgt.hpp"

namespace rubato {

constinit const CatalogueEntry entries::ab =
    spodgt_entry("ab", "gradient tracking on digraphs, all links and gradients in every round: AB, Push-Pull",
                 [](const AlgorithmOptions&) { return spodgt_needs({}); });

}  // namespace rubato
