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

#include <utility>

#include "algos/entries.hpp"
#include "algos/gossip.hpp"

namespace rubato {

namespace {

struct NidsSettings {
  StepSize eta;
};

template <class Real>
class Nids final : public Gossip<Real> {
 public:
  Nids(std::shared_ptr<const NidsSettings> settings, const ClientView& client_view, ConstVectorRef<Real> start, TensorPool& pool)
      : Gossip<Real>(start, pool, 0.5), settings_{std::move(settings)}, client_{client_view.client} {}

  void compute(Work<Real>& work, const Step& step) override {
    step_.advance(work, step.index, settings_->eta.at(client_.value, step.index), this->x());
  }

  void round_balance(Probe& probe) const override { step_.show_balance(probe, this->model()); }

  void adopt(ConstVectorRef<Real> model) override {
    Gossip<Real>::adopt(model);
    step_.restart();
  }

  void reset(Work<Real>&) override { step_.restart(); }

  void archive(Archive& archive) override {
    Gossip<Real>::archive(archive);
    step_.archive(archive, static_cast<std::size_t>(this->model().size()));
  }

 private:
  std::shared_ptr<const NidsSettings> settings_;
  ClientId client_;
  NidsStep<Real> step_;
};

Needs needs(const AlgorithmOptions&) {
  Needs needs;
  needs.program.round = {Phase{PhaseKind::compute}, Phase{.kind = PhaseKind::exchange, .first = 1}};
  return needs;
}

template <class Real>
AlgorithmFactory<Real> make(const AlgorithmOptions& options) {
  return factory_of<Nids, Real>(NidsSettings{StepSize(options, "eta", 0.05)});
}

constexpr OptionSpec options[] = {
    shared_option::eta,
    shared_option::step,
    shared_option::step_offset,
};

}  // namespace

constinit const CatalogueEntry entries::nids{
    .name = "nids",
    .summary = "exact descent with a step size that the network does not limit",
    .options = options,
    .runs = only(ProtocolKind::rounds),
    .usual = ProtocolKind::rounds,
    .graphs = Graphs::undirected,
    .merge = Weights::doubly,
    .allows_missing = false,
    .needs = needs,
    .make_float = make<float>,
    .make_double = make<double>,
};

}  // namespace rubato
