// FedMiD: federated mirror descent, FedAvg with a proximal step after every step of clients and server.
// Source: Yuan, Zaheer and Reddi, "Federated Composite Optimization", section 3.1 (docs/references.md#fedmid), a
// baseline of DEPOSITUM.
//
// x: model of the server   x_i: model of client i   S: clients that answered in time   h: penalty
// eta_c, eta_s: step sizes of clients and server     K: local steps
//
//   compute   x_i <- x;  K times: x_i <- prox_{eta_c h}(x_i - eta_c g_i(x_i; batch));  answer x_i
//   combine   x <- prox_{eta_s eta_c K h}(x + eta_s mean_{i in S}(x_i - x))    without server_prox: no proximal step
//
// With both proximal steps the penalty counts twice: for K = 1 and small steps the limit is that of F + 2 h (BA-2,
// docs/references.md#baseline-decisions).
#include <utility>

#include "algos/entries.hpp"
#include "algos/global_model.hpp"
#include "algos/local_solver.hpp"
#include "algos/penalty.hpp"

namespace rubato {

namespace {

struct FedMidSettings {
  double eta_c, eta_s;
  std::uint64_t local_steps;
  bool has_server_prox;
  Penalty penalty;

  double server_step() const { return eta_s * eta_c * static_cast<double>(local_steps); }
};

template <class Real>
class FedMid final : public GlobalModel<Real> {
 public:
  FedMid(std::shared_ptr<const FedMidSettings> settings, const ClientView& client_view, ConstVectorRef<Real> start,
         TensorPool& pool)
      : GlobalModel<Real>(client_view, start, pool), settings_{std::move(settings)} {}

  void compute(Work<Real>& work, const Step& step) override {
    Tensor mine = copy_of<Real>(this->model(), work.pool);
    const VectorRef<Real> x = numbers_of<Real>(mine);
    for (std::uint64_t s = 0; s < settings_->local_steps; ++s) {
      descend_locally(work, x, step.index * settings_->local_steps + s, 1, settings_->eta_c);
      settings_->penalty.prox(x, settings_->eta_c);
    }
    this->set_answer(std::move(mine));
  }

 private:
  void combine(Work<Real>& work, std::span<const Received<Real>> window) override {
    Tensor mean = this->mean_answer(window, work.pool, [](ClientId) { return 1.0; });
    if (!mean) return;
    VectorRef<Real> x = numbers_of<Real>(mean);
    x = this->model() + static_cast<Real>(settings_->eta_s) * (x - this->model());
    if (settings_->has_server_prox) settings_->penalty.prox(x, settings_->server_step());
    this->set_model(std::move(mean));
  }

  std::shared_ptr<const FedMidSettings> settings_;
};

FedMidSettings read(const AlgorithmOptions& options) {
  const FedMidSettings settings{.eta_c = positive_number(options, "eta_c", 0.05),
                                .eta_s = positive_number(options, "eta_s", 1),
                                .local_steps = positive_whole(options, "local_steps", 1),
                                .has_server_prox = options.flag("server_prox", true),
                                .penalty = Penalty(options)};
  settings.penalty.require_step("eta_c", settings.eta_c);
  if (settings.has_server_prox)
    settings.penalty.require_step("eta_c", settings.eta_c, settings.eta_s * static_cast<double>(settings.local_steps));
  return settings;
}

Needs needs(const AlgorithmOptions&) { return {}; }

template <class Real>
AlgorithmFactory<Real> make(const AlgorithmOptions& options) {
  return factory_of<FedMid, Real>(read(options));
}

constexpr OptionSpec options[] = {
    {"eta_c", OptionType::number, "0.05", "step size of the clients", 0, 1e9, true},
    {"eta_s", OptionType::number, "1", "step size of the server", 0, 1e9, true},
    {"local_steps", OptionType::whole, "1", "steps of one computation", 1, 1e6},
    {"server_prox", OptionType::flag, "true", "the server takes a proximal step as well"},
    penalty_options[0],
    penalty_options[1],
    penalty_options[2],
    penalty_options[3],
};

}  // namespace

constinit const CatalogueEntry entries::fedmid{
    .name = "fedmid",
    .summary = "federated mirror descent: FedAvg with proximal steps",
    .options = options,
    .runs = only(ProtocolKind::server),
    .usual = ProtocolKind::server,
    .graphs = Graphs::centred,
    .needs = needs,
    .make_float = make<float>,
    .make_double = make<double>,
};

}  // namespace rubato
