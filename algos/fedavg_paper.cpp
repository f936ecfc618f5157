// FedAvg as the DeceFL paper writes it: each client takes the mean of all models and descends along its own gradient of
// the model it had before. It is DeceFL with W = 11^T/m, and not the FedAvg of a server.
// Source: Yuan and others, "DeceFL", equation 17 of the supplement (docs/references.md#decefl).
//
// w: model   g: gradient   m: clients   eta: step size
//
//   compute   w <- w - eta g(w; batch)
//   publish   send w to all
//   merge     w <- w + sum_j (w_j - w) / m
//
// A round is begin, exchange, compute: w_i(t+1) = mean_j w_j(t) - eta g_i(w_i(t)).
#include "algos/entries.hpp"
#include "algos/gossip.hpp"

namespace rubato {

namespace {

template <class Real>
class FedavgPaper final : public Gossip<Real, OnlyStepSize> {
 public:
  using Gossip<Real, OnlyStepSize>::Gossip;
};

}  // namespace

constinit const CatalogueEntry entries::fedavg_paper{
    .name = "fedavg_paper",
    .summary = "every client averages with all others: DeceFL with equal weights",
    .options = only_step_options,
    .graphs = Graphs::complete,
    .merge = Weights::averaging,
    .may_be_unified = true,
    .may_begin = true,
    .needs =
        [](const AlgorithmOptions&) {
          return Needs{.keep = Keep::newest, .may_pause = true, .partial = Partial::receivers, .program = combine_then_adapt};
        },
    .make = made_by<FedavgPaper, read_step_size, only_step_options>,
};

}  // namespace rubato
