// FedDR: Douglas-Rachford splitting between the clients' losses and a penalty that the server holds.
// Source: Tran-Dinh, Pham, Phan and Nguyen, "FedDR: Randomized Douglas-Rachford Splitting Algorithms for Nonconvex
// Federated Composite Optimization" (docs/references.md#feddr), a baseline of DEPOSITUM.
//
// xbar: model of the server   x_i, y_i: of client i   xhat_i: what client i answered last   h: penalty
// eta: proximal step          alpha: relaxation, between 0 and 2
//
//   compute   y_i <- y_i + alpha (xbar - x_i);  x_i <- argmin f_i(x) + |x - y_i|^2 / (2 eta);  answer 2 x_i - y_i
//   combine   xbar <- prox_{eta h}(mean_i xhat_i)   over all clients: one that was not selected counts with its last answer
//
// Start: x_i = y_i = xhat_i = xbar. With init = "prox" a round of all clients comes first: it leaves y_i as it is and
// sets x_i, xhat_i and xbar by their formulas. With init = "plain" there is none.
#include "algos/entries.hpp"
#include "algos/global_model.hpp"
#include "algos/local_solver.hpp"

namespace rubato {

namespace {

struct FedDrSettings {
  double eta, alpha;
  ProximalSolver solver;
  Penalty penalty;
};

template <class Real>
class FedDr final : public StoredAnswers<Real, FedDrSettings> {
  using Base = StoredAnswers<Real, FedDrSettings>;

 public:
  explicit FedDr(const Setup<Real, FedDrSettings>& setup) : Base(setup, "y", copy_of<Real>(setup.start, setup.pool)) {}

  void compute(Work<Real>& work, const Step& step) override {
    VectorRef<Real> x = this->x(), y = this->beside();
    y += static_cast<Real>(this->settings().alpha) * (this->model() - x);
    this->settings().solver(work, step.index, x, read_only(y), this->settings().eta);
    Tensor xhat = work.pool.template make<Real>(this->model_tensor().count());
    numbers_of<Real>(xhat) = 2 * x - y;
    this->set_answer(std::move(xhat));
  }
};

constexpr OptionSpec feddr_own[] = {
    {"eta", OptionType::number, "0.5", "proximal step", 0, 1e9, true},
    {"alpha", OptionType::number, "0.9", "relaxation", 0, 2, true, true},
    word_option("init", "prox", "prox starts from all clients' proximal steps at the start model, plain from the start model",
                "prox|plain"),
};
constexpr auto feddr_table = combined(feddr_own, solver_options, penalty_options);

FedDrSettings read_feddr(const OptionReader& options) {
  options.word("init");
  const FedDrSettings settings{options.number("eta"), options.number("alpha"), ProximalSolver(options), Penalty(options.given())};
  settings.penalty.require_step("eta", settings.eta);
  return settings;
}

Needs feddr_needs(const OptionReader& options) {
  if (options.is("init", "plain")) return {};
  return {.program = {.opening = {Phase{PhaseKind::compute}}}};
}

}  // namespace

constinit const CatalogueEntry entries::feddr{
    .name = "feddr",
    .summary = "Douglas-Rachford splitting between clients and a server with a penalty",
    .options = feddr_table,
    .runs = {ProtocolKind::server},
    .graphs = Graphs::centred,
    .needs = needs_by<feddr_needs, feddr_table>,
    .make = made_by<FedDr, read_feddr, feddr_table>,
};

}  // namespace rubato
