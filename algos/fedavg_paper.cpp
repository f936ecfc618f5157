// FedAvg as the DeceFL paper writes it: everybody takes the mean of all models and descends along its own gradient of
// the model it had before. It is DeceFL with W = 11^T/m, and not the FedAvg of a server.
// Source: Yuan and others, "DeceFL", equation 17 of the supplement (docs/references.md#decefl).
//
// w: model   g: gradient   m: clients   eta: step size
//
//   compute   w <- w - eta g(w; batch)
//   publish   send w to everybody
//   merge     w <- w + sum_j (w_j - w) / m
//
// A round is begin, exchange, compute: w_i(t+1) = mean_j w_j(t) - eta g_i(w_i(t)).
#include <utility>

#include "algos/entries.hpp"
#include "algos/gossip.hpp"

namespace rubato {

namespace {

struct FedavgPaperSettings {
  StepSize eta;
};

template <class Real>
class FedavgPaper final : public Gossip<Real> {
 public:
  FedavgPaper(std::shared_ptr<const FedavgPaperSettings> settings, const ClientView& client_view, ConstVectorRef<Real> start,
              TensorPool& pool)
      : Gossip<Real>(start, pool), settings_{std::move(settings)}, client_{client_view.client} {}

  void compute(Work<Real>& work, const Step& step) override {
    this->descend(work, step, settings_->eta.at(client_.value, step.index));
  }

 private:
  std::shared_ptr<const FedavgPaperSettings> settings_;
  ClientId client_;
};

Needs needs(const AlgorithmOptions&) { return {.keep = Keep::newest, .program = combine_then_adapt}; }

template <class Real>
AlgorithmFactory<Real> make(const AlgorithmOptions& options) {
  return factory_of<FedavgPaper, Real>(FedavgPaperSettings{StepSize(options, "eta", 0.05)});
}

constexpr OptionSpec options[] = {shared_option::eta, shared_option::step, shared_option::step_offset};

}  // namespace

constinit const CatalogueEntry entries::fedavg_paper{
    .name = "fedavg_paper",
    .summary = "everybody averages with everybody: DeceFL with equal weights",
    .options = options,
    .graphs = Graphs::complete,
    .merge = Weights::averaging,
    .may_be_unified = true,
    .may_begin = true,
    .needs = needs,
    .make_float = make<float>,
    .make_double = make<double>,
};

}  // namespace rubato
