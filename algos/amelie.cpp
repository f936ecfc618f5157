// Amelie SGD. As Fragile, where nodes have data of their own: counters go up until every node has brought enough, then the pivot
// collects the mean of each.
//
//   node      s_i gradients at this point;  b_i = 1/s_i + sum of its children's b;   link free and b_i has changed: send b_i
//   pivot     m / b >= S/m:  collect
//   collect   work stops;   total = (sum of its own gradients) / s_i + its children's totals;   send it when all are there
//   pivot     x <- x - gamma total / m,  the next point
//
// Source: A. Tyurin, P. Richtarik, "On the optimal time complexities in decentralized stochastic asynchronous optimization"
// (docs/references.md#trees; counters use the link: AM-1; a node that is frozen uses all that it has: AM-2).
#include "algos/entries.hpp"
#include "algos/tree_node.hpp"

namespace rubato {

namespace {

template <class Real>
class Amelie final : public TreeNode<Real> {
 public:
  using TreeNode<Real>::TreeNode;

 private:
  double divisor(double) const override { return static_cast<double>(this->nodes()); }
};

constexpr OptionSpec amelie_table[] = {
    pivot_option,
    {"S", OptionType::number, "1", "gradients that a step waits for, were all nodes equally fast; up to m one each is enough", 0,
     1e12, true},
};

Needs amelie_needs(const AlgorithmOptions& given) {
  return {.tree = {TreeKind::amelie, OptionReader(given, amelie_table).number("S")}};
}

}  // namespace

constinit const CatalogueEntry entries::amelie{
    .name = "amelie",
    .summary = "counters go up a tree until every node has brought enough, then the means are collected; unlike data",
    .options = amelie_table,
    .runs = {ProtocolKind::tree},
    .graphs = Graphs::undirected,
    .needs = amelie_needs,
    .make = made_by<Amelie, read_pivot_step, amelie_table>,
};

}  // namespace rubato
