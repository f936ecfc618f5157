// NIDS: exact decentralised descent whose step size does not depend on the network.
// Source: Li, Shi and Yan, "A decentralized proximal-gradient method with network independent step-sizes and separated
// convergence rates", without its proximal step (docs/references.md#nids).
//
// x: model   g: gradient   eta: step size   W: weights, symmetric, rows sum to one
//
//   x^1 = x^0 - eta g^0
//   x^{k+1} = (I + W)/2 (2 x^k - x^{k-1} - eta (g^k - g^{k-1}))
//
// With s^k = x^k - eta g^k, where a step that diminishes is that of computation k, the bracket is c^k = x^k + s^k -
// s^{k-1}:
//
//   compute   s+ = x - eta g(x; batch);  x <- s+ the first time, later x + s+ - s;  s <- s+
//   publish   send x, which is c now, to every receiver                                          from round 1 on
//   merge     x <- x + 1/2 sum_j w_ij (x_j - x)
//   reset     forget s: the next computation is a first one
//
// Rounds only: the mean model follows the mean gradient exactly because all meet at once.
#include "algos/nids.hpp"

#include "algos/entries.hpp"
#include "algos/gossip.hpp"

namespace rubato {

namespace {

template <class Real>
class Nids final : public Gossip<Real, OnlyStepSize> {
  using Base = Gossip<Real, OnlyStepSize>;

 public:
  explicit Nids(const Setup<Real, OnlyStepSize>& setup) : Base(setup, 0.5) {}

  void compute(Work<Real>& work, const Step& step) override {
    step_.advance(work, step.index, this->settings().eta.at(this->client(), step.index), this->x());
  }

  void round_balance(Probe& probe) const override { step_.show_balance(probe, this->model()); }

  void adopt(ConstVectorRef<Real> model) override {
    Base::adopt(model);
    step_.restart();
  }

  void reset(Work<Real>&) override { step_.restart(); }

  void archive(Archive& archive) override {
    Base::archive(archive);
    step_.archive(archive, this->count());
  }

 private:
  NidsStep<Real> step_;
};

}  // namespace

constinit const CatalogueEntry entries::nids{
    .name = "nids",
    .summary = "exact descent with a step size that the network does not limit",
    .options = only_step_options,
    .runs = {ProtocolKind::rounds},
    .graphs = Graphs::undirected,
    .merge = Weights::doubly,
    .allows_missing = false,
    .needs = [](const AlgorithmOptions&) { return Needs{.may_pause = true, .partial = Partial::pairs, .program = nids_program}; },
    .make = made_by<Nids, read_step_size, only_step_options>,
};

}  // namespace rubato
