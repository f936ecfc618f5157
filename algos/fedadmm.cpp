// FedADMM: alternating directions between the clients' losses and a penalty that the server holds.
// Source: Wang, Marella and Anderson, "FedADMM: A Federated Primal-Dual Algorithm Allowing Partial Participation"
// (docs/references.md#fedadmm), a baseline of DEPOSITUM.
//
// xbar: model of the server   x_i, z_i: model and multiplier of client i   xhat_i: what client i answered last
// h: penalty                  eta: proximal step
//
//   compute   x_i <- argmin f_i(x) + <z_i, x - xbar> + |x - xbar|^2 / (2 eta)
//             z_i <- z_i + (x_i - xbar) / eta;  answer x_i + eta z_i
//   combine   xbar <- prox_{eta h}(mean_i xhat_i)   over all clients: one that was not selected counts with its last answer
//
// Start: x_i = xhat_i = xbar, z_i = 0. The local problem is a proximal step of f_i at xbar - eta z_i. The same iterates
// as FedDR with alpha = 1 and init = "plain".
#include "algos/entries.hpp"
#include "algos/global_model.hpp"
#include "algos/local_solver.hpp"

namespace rubato {

namespace {

struct FedAdmmSettings {
  double eta;
  ProximalSolver solver;
  Penalty penalty;
};

template <class Real>
class FedAdmm final : public StoredAnswers<Real, FedAdmmSettings> {
  using Base = StoredAnswers<Real, FedAdmmSettings>;

 public:
  explicit FedAdmm(const Setup<Real, FedAdmmSettings>& setup)
      : Base(setup, "z", zeros<Real>(static_cast<std::size_t>(setup.start.size()), setup.pool)) {}

  void compute(Work<Real>& work, const Step& step) override {
    const typename Scratch<Real>::Frame frame(work.scratch);
    const Real eta = static_cast<Real>(this->settings().eta);
    VectorRef<Real> x = this->x(), z = this->beside(), centre = work.scratch.vector(x.size());
    centre = this->model() - eta * z;
    this->settings().solver(work, step.index, x, read_only(centre), this->settings().eta);
    z += (x - this->model()) / eta;
    Tensor xhat = work.pool.template make<Real>(this->model_tensor().count());
    numbers_of<Real>(xhat) = x + eta * z;
    this->set_answer(std::move(xhat));
  }
};

constexpr OptionSpec fedadmm_own[] = {
    {"eta", OptionType::number, "0.5", "proximal step", 0, 1e9, true},
};
constexpr auto fedadmm_table = combined(fedadmm_own, solver_options, penalty_options);

FedAdmmSettings read_fedadmm(const OptionReader& options) {
  const FedAdmmSettings settings{
      .eta = options.number("eta"), .solver = ProximalSolver(options), .penalty = Penalty(options.given())};
  settings.penalty.require_step("eta", settings.eta);
  return settings;
}

}  // namespace

constinit const CatalogueEntry entries::fedadmm{
    .name = "fedadmm",
    .summary = "alternating directions between clients and a server with a penalty",
    .options = fedadmm_table,
    .runs = {ProtocolKind::server},
    .graphs = Graphs::centred,
    .make = made_by<FedAdmm, read_fedadmm, fedadmm_table>,
};

}  // namespace rubato
