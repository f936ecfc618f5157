// Centralised gradient descent: the server takes every step, with the mean gradient of the clients.
// Source: plain gradient descent, the end of every comparison (docs/references.md#centralised-and-local-training).
//
// x: model of the server   g_i: gradient of client i   S: clients that answered in time   p_i: weight, summing to one
// eta: step size
//
//   compute   answer g_i(x; batch)
//   combine   x <- x - eta sum_{i in S} p_i g_i
#include "algos/entries.hpp"
#include "algos/global_model.hpp"

namespace rubato {

namespace {

struct CentralisedSettings {
  StepSize eta;
  Weighting weighting;
};

template <class Real>
class Centralised final : public GlobalModel<Real, CentralisedSettings> {
 public:
  using GlobalModel<Real, CentralisedSettings>::GlobalModel;

  void compute(Work<Real>& work, const Step& step) override {
    const typename Scratch<Real>::Frame frame(work.scratch);
    Tensor gradient = work.pool.template make<Real>(this->model_tensor().count());
    work.gradient(this->model(), step.index, numbers_of<Real>(gradient));
    this->set_answer(std::move(gradient));
  }

 private:
  void combine(Work<Real>& work, std::span<const Received<Real>> window) override {
    const auto weight = [&](ClientId client) { return this->settings().weighting(this->client_view(), client); };
    Tensor x = this->mean_answer(window, work.pool, weight);
    if (!x) return;
    const double eta = this->settings().eta.at(this->client_view().client.value, this->round());
    VectorRef<Real> numbers = numbers_of<Real>(x);  // from the mean gradient to the next model
    numbers = this->model() - static_cast<Real>(eta) * numbers;
    this->set_model(std::move(x));
  }
};

constexpr auto centralised_table = combined(step_options("eta", "0.05", "step size", round_law), weighting_options("uniform"));

CentralisedSettings read_centralised(const OptionReader& options) { return {StepSize(options), Weighting(options)}; }

}  // namespace

constinit const CatalogueEntry entries::centralised{
    .name = "centralised",
    .summary = "gradient descent at a server that has the gradients of all clients",
    .options = centralised_table,
    .runs = {ProtocolKind::server},
    .graphs = Graphs::centred,
    .make = made_by<Centralised, read_centralised, centralised_table>,
};

}  // namespace rubato
