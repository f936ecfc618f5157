// Centralised gradient descent: the server takes every step, with the mean gradient of the clients.
// Source: plain gradient descent, the end of every comparison (docs/references.md#centralised-and-local-training).
//
// x: model of the server   g_i: gradient of client i   S: clients that answered in time   p_i: weight, summing to one
// eta: step size
//
//   compute   answer g_i(x; batch)
//   combine   x <- x - eta sum_{i in S} p_i g_i
#include <utility>

#include "algos/entries.hpp"
#include "algos/global_model.hpp"

namespace rubato {

namespace {

struct CentralisedSettings {
  StepSize eta;
  Weighting weighting;
};

template <class Real>
class Centralised final : public GlobalModel<Real> {
 public:
  Centralised(std::shared_ptr<const CentralisedSettings> settings, const ClientView& client_view, ConstVectorRef<Real> start,
              TensorPool& pool)
      : GlobalModel<Real>(client_view, start, pool), settings_{std::move(settings)} {}

  void compute(Work<Real>& work, const Step& step) override {
    const typename Scratch<Real>::Frame frame(work.scratch);
    Tensor gradient = work.pool.template make<Real>(this->model_tensor().count());
    work.learner.gradient(this->model(), work.batch(step.index), numbers_of<Real>(gradient), work.scratch);
    this->set_answer(std::move(gradient));
  }

 private:
  void combine(Work<Real>& work, std::span<const Received<Real>> window) override {
    const auto weight = [&](ClientId client) { return settings_->weighting(this->client_view(), client); };
    Tensor x = this->mean_answer(window, work.pool, weight);
    if (!x) return;
    const double eta = settings_->eta.at(this->client_view().client.value, this->round());
    VectorRef<Real> numbers = numbers_of<Real>(x);  // from the mean gradient to the next model
    numbers = this->model() - static_cast<Real>(eta) * numbers;
    this->set_model(std::move(x));
  }

  std::shared_ptr<const CentralisedSettings> settings_;
};

CentralisedSettings read(const AlgorithmOptions& options) {
  return {StepSize(options, "eta", 0.05), Weighting(options, "uniform")};
}

Needs needs(const AlgorithmOptions&) { return {}; }

template <class Real>
AlgorithmFactory<Real> make(const AlgorithmOptions& options) {
  return factory_of<Centralised, Real>(read(options));
}

constexpr OptionSpec options[] = {
    {"eta", OptionType::number, "0.05", "step size", 0, 1e9, true},
    {.name = "step",
     .type = OptionType::word,
     .fallback = "\"constant\"",
     .meaning = "constant, or diminishing: eta / (round + step_offset)",
     .choices = "constant|diminishing"},
    {"step_offset", OptionType::number, "1", "offset of the diminishing step", 0, 1e9, true},
    {.name = "weighting",
     .type = OptionType::word,
     .fallback = "\"uniform\"",
     .meaning = "how much a client counts: as much as its samples, or as much as any other",
     .choices = "samples|uniform"},
};

}  // namespace

constinit const CatalogueEntry entries::centralised{
    .name = "centralised",
    .summary = "gradient descent at a server that has everybody's gradients",
    .options = options,
    .runs = only(ProtocolKind::server),
    .usual = ProtocolKind::server,
    .graphs = Graphs::centred,
    .needs = needs,
    .make_float = make<float>,
    .make_double = make<double>,
};

}  // namespace rubato
