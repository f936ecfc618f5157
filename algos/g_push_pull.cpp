// G-Push-Pull as Spod-GT compares with it: Spod-GT with sporadic links and a gradient in every round.
// Source: Pu, Shi, Xu and Nedić, "Push-Pull Gradient Methods for Distributed Optimization in Networks", their random
// gossip (docs/references.md#ab-and-push-pull), as baseline (b) in section 5 of Zehtabi and others
// (docs/references.md#spod-gt):
//
//   x <- Ah x - eta Bh y;   y <- Bh y + g+ - g;   Ah, Bh: A, B of the links that are up in this round
//
// The original gossip version, in which one client at a time pulls from one neighbour and pushes to one, is this in
// continuous time with transmissions on single links.
#include "algos/entries.hpp"
#include "algos/spodgt.hpp"

namespace rubato {

constinit const CatalogueEntry entries::g_push_pull =
    spodgt_entry("g_push_pull", "gradient tracking on digraphs with sporadic links: G-Push-Pull",
                 [](const AlgorithmOptions&) { return spodgt_needs({.links = true}); });

}  // namespace rubato
