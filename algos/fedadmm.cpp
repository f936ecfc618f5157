// FedADMM: alternating directions between the clients' losses and a penalty that the server holds.
// Source: Wang, Marella and Anderson, "FedADMM: A Federated Primal-Dual Algorithm Allowing Partial Participation"
// (docs/references.md#fedadmm), a baseline of DEPOSITUM.
//
// xbar: model of the server   x_i, z_i: model and multiplier of client i   xhat_i: what client i answered last
// h: penalty                  eta: proximal step
//
//   compute   x_i <- argmin f_i(x) + <z_i, x - xbar> + |x - xbar|^2 / (2 eta)
//             z_i <- z_i + (x_i - xbar) / eta;  answer x_i + eta z_i
//   combine   xbar <- prox_{eta h}(mean_i xhat_i)   over all clients: who was not selected counts with its last answer
//
// Start: x_i = xhat_i = xbar, z_i = 0. The local problem is a proximal step of f_i at xbar - eta z_i. The same iterates
// as FedDR with alpha = 1 and init = "plain".
#include <utility>

#include "algos/entries.hpp"
#include "algos/local_solver.hpp"
#include "algos/stored_answers.hpp"

namespace rubato {

namespace {

struct FedAdmmSettings {
  double eta;
  ProximalSolver solver;
  Penalty penalty;
};

template <class Real>
class FedAdmm final : public StoredAnswers<Real> {
 public:
  FedAdmm(std::shared_ptr<const FedAdmmSettings> settings, const ClientView& client_view, ConstVectorRef<Real> start,
          TensorPool& pool)
      : StoredAnswers<Real>(client_view, start, pool),
        settings_{std::move(settings)},
        x_{copy_of<Real>(start, pool)},
        z_{zeros<Real>(x_.count(), pool)} {}

  void compute(Work<Real>& work, const Step& step) override {
    const typename Scratch<Real>::Frame frame(work.scratch);
    const Real eta = static_cast<Real>(settings_->eta);
    VectorRef<Real> x = numbers_of<Real>(x_), z = numbers_of<Real>(z_), centre = work.scratch.vector(x.size());
    centre = this->model() - eta * z;
    settings_->solver(work, step.index, x, read_only(centre), settings_->eta);
    z += (x - this->model()) / eta;
    Tensor xhat = work.pool.template make<Real>(x_.count());
    numbers_of<Real>(xhat) = x + eta * z;
    this->set_answer(std::move(xhat));
  }

  void archive(Archive& archive) override {
    StoredAnswers<Real>::archive(archive);
    archive.fixed(x_);
    archive.fixed(z_);
  }

  void inspect(Probe& probe) const override {
    show(probe, "xbar", this->model());
    show(probe, "x", numbers_of<Real>(x_));
    show(probe, "z", numbers_of<Real>(z_));
  }

 private:
  const Penalty& penalty() const override { return settings_->penalty; }
  double eta() const override { return settings_->eta; }

  std::shared_ptr<const FedAdmmSettings> settings_;
  Tensor x_, z_;
};

FedAdmmSettings read(const AlgorithmOptions& options) {
  const FedAdmmSettings settings{
      .eta = positive_number(options, "eta", 0.5), .solver = ProximalSolver(options), .penalty = Penalty(options)};
  settings.penalty.require_step("eta", settings.eta);
  return settings;
}

Needs needs(const AlgorithmOptions&) { return {}; }

template <class Real>
AlgorithmFactory<Real> make(const AlgorithmOptions& options) {
  return factory_of<FedAdmm, Real>(read(options));
}

constexpr OptionSpec options[] = {
    {"eta", OptionType::number, "0.5", "proximal step", 0, 1e9, true},
    solver_options[0],
    solver_options[1],
    solver_options[2],
    penalty_options[0],
    penalty_options[1],
    penalty_options[2],
    penalty_options[3],
};

}  // namespace

constinit const CatalogueEntry entries::fedadmm{
    .name = "fedadmm",
    .summary = "alternating directions between clients and a server with a penalty",
    .options = options,
    .runs = only(ProtocolKind::server),
    .usual = ProtocolKind::server,
    .graphs = Graphs::centred,
    .needs = needs,
    .make_float = make<float>,
    .make_double = make<double>,
};

}  // namespace rubato
