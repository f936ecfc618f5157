// FedDR: Douglas-Rachford splitting between the clients' losses and a penalty that the server holds.
// Source: Tran-Dinh, Pham, Phan and Nguyen, "FedDR: Randomized Douglas-Rachford Splitting Algorithms for Nonconvex
// Federated Composite Optimization" (docs/references.md#feddr), a baseline of DEPOSITUM.
//
// xbar: model of the server   x_i, y_i: of client i   xhat_i: what client i answered last   h: penalty
// eta: proximal step          alpha: relaxation, between 0 and 2
//
//   compute   y_i <- y_i + alpha (xbar - x_i);  x_i <- argmin f_i(x) + |x - y_i|^2 / (2 eta);  answer 2 x_i - y_i
//   combine   xbar <- prox_{eta h}(mean_i xhat_i)   over all clients: who was not selected counts with its last answer
//
// Start: x_i = y_i = xhat_i = xbar. With init = "prox" a round of everybody comes first: it leaves y_i as it is and
// sets x_i, xhat_i and xbar by their formulas. With init = "plain" there is none.
#include <utility>

#include "algos/entries.hpp"
#include "algos/local_solver.hpp"
#include "algos/stored_answers.hpp"

namespace rubato {

namespace {

struct FedDrSettings {
  double eta, alpha;
  bool opens_with_prox;
  ProximalSolver solver;
  Penalty penalty;
};

template <class Real>
class FedDr final : public StoredAnswers<Real> {
 public:
  FedDr(std::shared_ptr<const FedDrSettings> settings, const ClientView& client_view, ConstVectorRef<Real> start, TensorPool& pool)
      : StoredAnswers<Real>(client_view, start, pool),
        settings_{std::move(settings)},
        x_{copy_of<Real>(start, pool)},
        y_{copy_of<Real>(start, pool)} {}

  void compute(Work<Real>& work, const Step& step) override {
    VectorRef<Real> x = numbers_of<Real>(x_), y = numbers_of<Real>(y_);
    y += static_cast<Real>(settings_->alpha) * (this->model() - x);
    settings_->solver(work, step.index, x, read_only(y), settings_->eta);
    Tensor xhat = work.pool.template make<Real>(x_.count());
    numbers_of<Real>(xhat) = 2 * x - y;
    this->set_answer(std::move(xhat));
  }

  void archive(Archive& archive) override {
    StoredAnswers<Real>::archive(archive);
    archive.fixed(x_);
    archive.fixed(y_);
  }

  void inspect(Probe& probe) const override {
    show(probe, "xbar", this->model());
    show(probe, "x", numbers_of<Real>(x_));
    show(probe, "y", numbers_of<Real>(y_));
  }

 private:
  const Penalty& penalty() const override { return settings_->penalty; }
  double eta() const override { return settings_->eta; }

  std::shared_ptr<const FedDrSettings> settings_;
  Tensor x_, y_;
};

FedDrSettings read(const AlgorithmOptions& options) {
  const std::string init = options.word("init", "prox");
  if (init != "prox" && init != "plain") refuse_option("init", '"' + init + '"', "must be \"prox\" or \"plain\"");
  const FedDrSettings settings{.eta = positive_number(options, "eta", 0.5),
                               .alpha = options.number("alpha", 0.9),
                               .opens_with_prox = init == "prox",
                               .solver = ProximalSolver(options),
                               .penalty = Penalty(options)};
  if (!(settings.alpha > 0 && settings.alpha < 2)) refuse_option("alpha", settings.alpha, "must be greater than 0 and less than 2");
  settings.penalty.require_step("eta", settings.eta);
  return settings;
}

Needs needs(const AlgorithmOptions& options) {
  if (!read(options).opens_with_prox) return {};
  return {.program = {.opening = {Phase{PhaseKind::compute}}}};
}

template <class Real>
AlgorithmFactory<Real> make(const AlgorithmOptions& options) {
  return factory_of<FedDr, Real>(read(options));
}

constexpr OptionSpec options[] = {
    {"eta", OptionType::number, "0.5", "proximal step", 0, 1e9, true},
    {"alpha", OptionType::number, "0.9", "relaxation", 0, 2, true, true},
    {.name = "init",
     .type = OptionType::word,
     .fallback = "\"prox\"",
     .meaning = "prox starts from everybody's proximal step at the start model, plain from the start model",
     .choices = "prox|plain"},
    solver_options[0],
    solver_options[1],
    solver_options[2],
    penalty_options[0],
    penalty_options[1],
    penalty_options[2],
    penalty_options[3],
};

}  // namespace

constinit const CatalogueEntry entries::feddr{
    .name = "feddr",
    .summary = "Douglas-Rachford splitting between clients and a server with a penalty",
    .options = options,
    .runs = only(ProtocolKind::server),
    .usual = ProtocolKind::server,
    .graphs = Graphs::centred,
    .needs = needs,
    .make_float = make<float>,
    .make_double = make<double>,
};

}  // namespace rubato
