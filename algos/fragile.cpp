// Fragile SGD. Nodes of a tree compute gradients on and on at the newest point that they know; sums go up whenever a link is free,
// and the pivot steps as soon as it has S gradients. Slow and far nodes hold up no other.
//
//   node      sum <- sum + g,  count <- count + 1;   link free: send (sum, count), empty both
//             a point, or a sum of a point, that is newer than all: empty both first
//   pivot     count >= S:  x <- x - gamma sum / count,  the next point
//
// Source: A. Tyurin, P. Richtarik, "On the optimal time complexities in decentralized stochastic asynchronous optimization",
// algorithms 2 to 5 (docs/references.md#trees; empty sums, what nodes know of a step, ties: FR-1 to FR-3). Equal data.
#include "algos/entries.hpp"
#include "algos/tree_node.hpp"

namespace rubato {

namespace {

constexpr OptionSpec fragile_table[] = {
    pivot_option,
    {"S", OptionType::whole, "1", "gradients that a step waits for", 1, 1e12},
};

Needs fragile_needs(const AlgorithmOptions& given) {
  return {.tree = {TreeKind::fragile, OptionReader(given, fragile_table).number("S")}};
}

}  // namespace

constinit const CatalogueEntry entries::fragile{
    .name = "fragile",
    .summary = "sums of gradients go up a tree whenever a link is free, and the pivot steps when it has enough; equal data",
    .options = fragile_table,
    .runs = {ProtocolKind::tree},
    .graphs = Graphs::undirected,
    .needs = fragile_needs,
    .make = made_by<TreeNode, read_pivot_step, fragile_table>,
};

}  // namespace rubato
