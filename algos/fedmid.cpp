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
class FedMid final : public GlobalModel<Real, FedMidSettings> {
 public:
  using GlobalModel<Real, FedMidSettings>::GlobalModel;

  void compute(Work<Real>& work, const Step& step) override {
    Tensor mine = copy_of<Real>(this->model(), work.pool);
    const VectorRef<Real> x = numbers_of<Real>(mine);
    for (std::uint64_t s = 0; s < this->settings().local_steps; ++s) {
      descend_locally(work, x, step.index * this->settings().local_steps + s, 1, this->settings().eta_c);
      this->settings().penalty.prox(x, this->settings().eta_c);
    }
    this->set_answer(std::move(mine));
  }

 private:
  void combine(Work<Real>& work, std::span<const Received<Real>> window) override {
    Tensor mean = this->mean_answer(window, work.pool, [](ClientId) { return 1.0; });
    if (!mean) return;
    VectorRef<Real> x = numbers_of<Real>(mean);
    x = this->model() + static_cast<Real>(this->settings().eta_s) * (x - this->model());
    if (this->settings().has_server_prox) this->settings().penalty.prox(x, this->settings().server_step());
    this->set_model(std::move(mean));
  }
};

constexpr OptionSpec fedmid_own[] = {
    {"eta_c", OptionType::number, "0.05", "step size of the clients", 0, 1e9, true},
    {"eta_s", OptionType::number, "1", "step size of the server", 0, 1e9, true},
    local_steps_option,
    {"server_prox", OptionType::flag, "true", "the server takes a proximal step as well"},
};
constexpr auto fedmid_table = combined(fedmid_own, penalty_options);

FedMidSettings read_fedmid(const OptionReader& options) {
  const FedMidSettings settings{.eta_c = options.number("eta_c"),
                                .eta_s = options.number("eta_s"),
                                .local_steps = options.whole("local_steps"),
                                .has_server_prox = options.flag("server_prox"),
                                .penalty = Penalty(options.given())};
  settings.penalty.require_step("eta_c", settings.eta_c);
  if (settings.has_server_prox)
    settings.penalty.require_step("eta_c", settings.eta_c, settings.eta_s * static_cast<double>(settings.local_steps));
  return settings;
}

}  // namespace

constinit const CatalogueEntry entries::fedmid{
    .name = "fedmid",
    .summary = "federated mirror descent: FedAvg with proximal steps",
    .options = fedmid_table,
    .runs = {ProtocolKind::server},
    .graphs = Graphs::centred,
    .make = made_by<FedMid, read_fedmid, fedmid_table>,
};

}  // namespace rubato
