// DEPOSITUM: proximal gradient tracking with momentum and local updates, for a loss and a weakly convex penalty h.
// Source: Zhou and others, "Decentralized Nonconvex Composite Federated Learning with Gradient Tracking and Momentum",
// algorithm 1 (docs/references.md#depositum).
//
// x: model   y: tracker   nu, mu: momenta   g: last gradient   alpha, beta: step sizes   gamma: momentum   h: penalty
// w_j: weight of sender j and share of receiver j, one symmetric doubly stochastic matrix
//
//   move      I:   nu <- gamma nu + (1 - gamma) y
//             II:  mu <- gamma mu + (1 - gamma) y;  nu <- gamma mu + (1 - gamma) y
//             x <- prox_h(x - alpha nu), the operator of step alpha (paper) or alpha beta (consistent)
//   mix x     x <- x + sum_j w_j (x_j - x)
//   track     g+ = g(x; batch);   y <- y + beta (g+ - g);   g <- g+
//   mix y     sigma_l <- sigma_l + w_l y;   y <- y - sum_l w_l y + sum_j (sigma_j - rho_j);   rho_j <- sigma_j
//   reset     y <- beta g;   sigma, rho <- 0
//
// Rounds: move, mix x, track, mix y, where the mixing happens in the rounds t > 0 with t mod T0 = 0 (DE-3). Mixing x
// and mixing y are two exchanges, phases 0 and 1, because y needs the gradient at the mixed x; the move happens when
// the first of them is published, or else when the client computes.
// Continuous time: a computation moves and tracks, a message carries x and the counter, a window mixes both.
// At every instant sum y + sum over links (sigma - rho) = beta sum g, whatever is lost.
//
// As printed, the algorithm minimises f + h / beta (DE-1); prox_mode = "consistent" minimises f + h. Decisions:
// docs/references.md#depositum-decisions.
#include <utility>

#include "algos/algorithm.hpp"
#include "algos/entries.hpp"
#include "algos/gossip.hpp"
#include "algos/penalty.hpp"
#include "algos/tracking_mass.hpp"

namespace rubato {

namespace {

constexpr std::uint8_t mix_x = 0;
constexpr std::uint8_t mix_y = 1;

struct DepositumSettings {
  StepSize alpha;
  double beta, gamma;
  std::uint32_t period;  // T0
  bool has_two_momenta;  // option II
  Penalty penalty;
  double prox_factor;  // of alpha, in the proximal operator
};

template <class Real>
class Depositum final : public Algorithm<Real> {
 public:
  Depositum(std::shared_ptr<const DepositumSettings> settings, const ClientView& client_view, ConstVectorRef<Real> start,
            TensorPool& pool)
      : settings_{std::move(settings)},
        client_{client_view.client.value},
        in_rounds_{client_view.in_rounds},
        mass_{client_view},
        x_{copy_of<Real>(start, pool)},
        y_{zeros<double>(x_.count(), pool)},
        nu_{zeros<double>(x_.count(), pool)},
        g_{zeros<double>(x_.count(), pool)} {
    if (settings_->has_two_momenta) mu_ = zeros<double>(x_.count(), pool);
  }

  void compute(Work<Real>& work, const Step& step) override {
    move_once();
    has_moved_ = false;
    if (step.with_gradient) track(work, step);
  }

  Payload publish(Work<Real>& work, const Step& step) override {
    Payload payload;
    if (exchanges_x(step)) {
      if (in_rounds_) move_once();
      payload.common[0] = copy_of<Real>(model(), work.pool);
    }
    if (exchanges_y(step)) {
      const double shares = mass_.assign(read_only(y()), step, work.pool, payload);
      y() -= shares * y();
    }
    return payload;
  }

  void merge(Work<Real>& work, const Step& step, std::span<const Received<Real>> window) override {
    if (exchanges_x(step)) {
      if (in_rounds_) move_once();
      mix_models(work, window);
    }
    if (exchanges_y(step))
      for (const Received<Real>& message : window) mass_.absorb(message, y());
  }

  bool fits(const Payload& payload, const Step& step, std::uint32_t place) const override {
    return (!exchanges_x(step) || Algorithm<Real>::fits(payload, step, place)) &&
           (!exchanges_y(step) || TrackingMass::fits(payload, place, y_.count()));
  }

  void adopt(ConstVectorRef<Real> model) override { x() = model; }

  void reset(Work<Real>&) override {
    y() = settings_->beta * g();
    mass_.reset();
  }

  void archive(Archive& archive) override {
    archive.fixed(x_);
    archive.fixed(y_);
    archive.fixed(nu_);
    archive.fixed(g_);
    if (mu_) archive.fixed(mu_);
    archive(has_moved_);
    archive(moves_);
    mass_.archive(archive, y_.count());
  }

  ConstVectorRef<Real> model() const override { return numbers_of<Real>(x_); }

  void inspect(Probe& probe) const override {
    show(probe, "x", model());
    show(probe, "y", numbers_of<double>(y_));
    show(probe, "nu", numbers_of<double>(nu_));
    show(probe, "g", numbers_of<double>(g_));
    mass_.inspect(probe);
    if (mu_)
      show(probe, "mu", numbers_of<double>(mu_));
    else
      show(probe, "mu", Vector<double>::Zero(model().size()));
  }

  void balance(Probe& probe) const override {
    Vector<double> defect = numbers_of<double>(y_) - settings_->beta * numbers_of<double>(g_);
    mass_.add_in_flight(defect);
    show(probe, "tracking", defect);
  }

 private:
  VectorRef<Real> x() { return numbers_of<Real>(x_); }
  VectorRef<double> y() { return numbers_of<double>(y_); }
  VectorRef<double> nu() { return numbers_of<double>(nu_); }
  VectorRef<double> mu() { return numbers_of<double>(mu_); }
  VectorRef<double> g() { return numbers_of<double>(g_); }

  bool exchanges_x(const Step& step) const { return !in_rounds_ || step.phase == mix_x; }
  bool exchanges_y(const Step& step) const { return !in_rounds_ || step.phase == mix_y; }

  // The first step of a round that needs the moved model moves it.
  void move_once() {
    if (!std::exchange(has_moved_, true)) move();
  }

  void move() {
    const double gamma = settings_->gamma;
    if (settings_->has_two_momenta) {
      mu() = gamma * mu() + (1 - gamma) * y();
      nu() = gamma * mu() + (1 - gamma) * y();
    } else {
      nu() = gamma * nu() + (1 - gamma) * y();
    }
    const double alpha = settings_->alpha.at(client_, moves_++);
    x() -= (alpha * nu()).template cast<Real>();
    settings_->penalty.prox(x(), alpha * settings_->prox_factor);
  }

  void track(Work<Real>& work, const Step& step) {
    const typename Scratch<Real>::Frame frame(work.scratch);
    VectorRef<Real> gradient = work.scratch.vector(x().size());
    work.learner.gradient(model(), work.batch(step.index), gradient, work.scratch);
    y() += settings_->beta * (gradient.template cast<double>() - g());
    g() = gradient.template cast<double>();
  }

  void mix_models(Work<Real>& work, std::span<const Received<Real>> window) {
    const typename Scratch<Real>::Frame frame(work.scratch);
    VectorRef<Real> before = work.scratch.vector(x().size());
    before = x();  // every sender is compared with the model as it was
    for (const Received<Real>& message : window) x() += static_cast<Real>(message.weight) * (message.common() - before);
  }

  std::shared_ptr<const DepositumSettings> settings_;
  std::size_t client_;
  bool in_rounds_;
  bool has_moved_ = false;   // since the last computation
  std::uint64_t moves_ = 0;  // the t of alpha
  TrackingMass mass_;
  Tensor x_;
  Tensor y_, nu_, g_;
  Tensor mu_;  // empty with option I
};

bool is_second_of(const AlgorithmOptions& options, const char* name, const std::string& first, const std::string& second) {
  const std::string word = options.word(name, first);
  if (word != first && word != second) refuse_option(name, '"' + word + '"', "must be \"" + first + "\" or \"" + second + '"');
  return word == second;
}

DepositumSettings read(const AlgorithmOptions& options) {
  DepositumSettings settings{};
  settings.alpha = StepSize(options, "alpha", 0.05);
  settings.beta = positive(options, "beta", 0.5);
  settings.gamma = options.number("gamma", 0.5);
  if (!(settings.gamma >= 0 && settings.gamma < 1)) refuse_option("gamma", settings.gamma, "must be at least 0 and less than 1");
  const std::int64_t period = options.whole("T0", 1);
  if (period < 1 || period > 1'000'000) refuse_option("T0", std::to_string(period), "must be from 1 to 1000000");
  settings.period = static_cast<std::uint32_t>(period);
  settings.has_two_momenta = is_second_of(options, "option", "I", "II");
  settings.penalty = Penalty(options);
  settings.prox_factor = is_second_of(options, "prox_mode", "paper", "consistent") ? settings.beta : 1;
  settings.penalty.require_step("alpha", settings.alpha.greatest(), settings.prox_factor);
  return settings;
}

Needs needs(const AlgorithmOptions& options) {
  const std::uint32_t period = read(options).period;
  return {.send_every = period,
          .keep = Keep::newest_ever,
          .program = {.round = {Phase{.kind = PhaseKind::exchange, .number = mix_x, .every = period, .first = 1},
                                Phase{.kind = PhaseKind::compute},
                                Phase{.kind = PhaseKind::exchange, .number = mix_y, .every = period, .first = 1}}}};
}

template <class Real>
AlgorithmFactory<Real> make(const AlgorithmOptions& options) {
  return factory_of<Depositum, Real>(read(options));
}

constexpr OptionSpec options[] = {
    {"alpha", OptionType::number, "0.05", "step size of the model; less than 1 / rho of the penalty", 0, 1e9, true},
    {.name = "step",
     .type = OptionType::word,
     .fallback = "\"constant\"",
     .meaning = "diminishing: alpha / (k + step_offset)",
     .choices = "constant|diminishing"},
    shared_option::step_offset,
    {"beta", OptionType::number, "0.5", "step size of the tracker", 0, 1e9, true},
    {"gamma", OptionType::number, "0.5", "momentum", 0, 1, false, true},
    {"T0", OptionType::whole, "1", "rounds, or computations, from one exchange to the next", 1, 1e6},
    {.name = "option",
     .type = OptionType::word,
     .fallback = "\"I\"",
     .meaning = "momentum: I of Polyak, II of Nesterov",
     .choices = "I|II"},
    {.name = "prox_mode",
     .type = OptionType::word,
     .fallback = "\"paper\"",
     .meaning = "paper minimises the loss + h / beta, as printed; consistent minimises the loss + h",
     .choices = "paper|consistent"},
    penalty_options[0],
    penalty_options[1],
    penalty_options[2],
    penalty_options[3],
};

}  // namespace

constinit const CatalogueEntry entries::depositum{
    .name = "depositum",
    .summary = "proximal gradient tracking with momentum and local updates",
    .options = options,
    .graphs = Graphs::undirected,
    .merge = Weights::doubly,
    .share = Weights::doubly,
    .may_be_unified = true,
    .needs = needs,
    .message_bytes = model_and_mass_bytes,
    .make_float = make<float>,
    .make_double = make<double>,
};

}  // namespace rubato
