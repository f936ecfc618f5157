// Minibatch SGD over a tree: every node computes one gradient at the pivot's point, and sends what its children have sent together
// with its own to its parent when all of it is there.
//
//   pivot     x <- x - gamma (1/m) sum_i g_i(x)
//
// The first method that A. Tyurin and P. Richtarik, "On the optimal time complexities in decentralized stochastic asynchronous
// optimization", compare with (docs/references.md#trees).
#include "algos/entries.hpp"
#include "algos/tree_node.hpp"

namespace rubato {

namespace {

constexpr OptionSpec minibatch_tree_table[] = {pivot_option};

Needs minibatch_tree_needs(const AlgorithmOptions&) { return {.tree = {TreeKind::minibatch, 1}}; }

}  // namespace

constinit const CatalogueEntry entries::minibatch_tree{
    .name = "minibatch_tree",
    .summary = "one gradient of every node goes up a tree to the pivot, which makes a step",
    .options = minibatch_tree_table,
    .runs = {ProtocolKind::tree},
    .graphs = Graphs::undirected,
    .needs = minibatch_tree_needs,
    .make = made_by<TreeNode, read_pivot_step, minibatch_tree_table>,
};

}  // namespace rubato
