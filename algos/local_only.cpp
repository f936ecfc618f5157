// Local training: nobody talks to anybody; the baseline that every exchange has to beat.
// Source: plain gradient descent, a baseline of DeceFL and KD-PDFL
// (docs/references.md#centralised-and-local-training).
//
// x: model   g: gradient   eta: step size
//
//   compute   x <- x - eta g(x; batch)
#include <utility>

#include "algos/entries.hpp"
#include "algos/gossip.hpp"

namespace rubato {

namespace {

struct LocalOnlySettings {
  StepSize eta;
};

template <class Real>
class LocalOnly final : public Gossip<Real> {
 public:
  LocalOnly(std::shared_ptr<const LocalOnlySettings> settings, const ClientView& client_view, ConstVectorRef<Real> start,
            TensorPool& pool)
      : Gossip<Real>(start, pool), settings_{std::move(settings)}, client_{client_view.client} {}

  void compute(Work<Real>& work, const Step& step) override {
    this->descend(work, step, settings_->eta.at(client_.value, step.index));
  }

  void merge(Work<Real>&, const Step&, std::span<const Received<Real>>) override {}

 private:
  std::shared_ptr<const LocalOnlySettings> settings_;
  ClientId client_;
};

LocalOnlySettings read(const AlgorithmOptions& options) { return {StepSize(options, "eta", 0.05)}; }

Needs needs(const AlgorithmOptions&) { return {.sends = false, .program = {.round = {Phase{PhaseKind::compute}}}}; }

template <class Real>
AlgorithmFactory<Real> make(const AlgorithmOptions& options) {
  return factory_of<LocalOnly, Real>(read(options));
}

constexpr OptionSpec options[] = {shared_option::eta, shared_option::step, shared_option::step_offset};

}  // namespace

constinit const CatalogueEntry entries::local_only{
    .name = "local_only",
    .summary = "every client trains alone",
    .options = options,
    .needs = needs,
    .make_float = make<float>,
    .make_double = make<double>,
};

}  // namespace rubato
