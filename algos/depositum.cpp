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
// What it is compared with, and built from, are options (`tracks`):
//   nothing    y is beta g, the client's own gradient, and is never mixed: SHB and SNAG, equations 3 to 5, with models that
//              meet and a penalty; half of the messages
//   momentum   y tracks the momentum of the gradients in place of the gradients, and x moves along it: DSMT, remark 2
//                move    x <- prox_h(x - alpha y)
//                track   I:   nu+ = gamma nu + (1 - gamma) g(x; batch)
//                        II:  mu <- gamma mu + (1 - gamma) g;  nu+ = gamma mu + (1 - gamma) g
//                        y <- y + beta (nu+ - nu);   nu <- nu+
//
// As printed, the algorithm minimises f + h / beta (DE-1); prox_mode = "consistent" minimises f + h. Decisions:
// docs/references.md#depositum-decisions.
#include <utility>

#include "algos/entries.hpp"
#include "algos/gradient_tracking.hpp"
#include "algos/penalty.hpp"

namespace rubato {

namespace {

constexpr std::uint8_t mix_x = 0;
constexpr std::uint8_t mix_y = 1;

// What the trackers y of all clients sum to, times beta.
enum class Tracks : std::uint8_t { gradient, momentum, nothing };
constexpr std::string_view word_list(Tracks) { return "gradient|momentum|nothing"; }

struct DepositumSettings {
  StepSize alpha;
  double beta, gamma;
  std::uint32_t period;  // T0
  bool has_two_momenta;  // option II
  Tracks tracks;
  Penalty penalty;
  double prox_factor;  // of alpha, in the proximal operator
};

template <class Real>
class Depositum final : public GradientTracking<Real, DepositumSettings> {
  using Base = GradientTracking<Real, DepositumSettings>;

 public:
  explicit Depositum(const Setup<Real, DepositumSettings>& setup)
      : Base(setup, setup.settings->beta), nu_{zeros<double>(this->count(), setup.pool)} {
    if (this->settings().has_two_momenta) mu_ = zeros<double>(this->count(), setup.pool);
  }

  void compute(Work<Real>& work, const Step& step) override {
    move_once();
    has_moved_ = false;
    if (!step.with_gradient) return;
    if (this->settings().tracks == Tracks::momentum)
      track_momentum(work, step);
    else
      this->track(work, step);
  }

  Payload publish(Work<Real>& work, const Step& step) override {
    Payload payload;
    if (exchanges_x(step)) {
      if (this->in_rounds()) move_once();
      payload.common[0] = this->shared_model();
    }
    if (exchanges_y(step)) this->push_mass(work, step, payload);
    return payload;
  }

  void merge(Work<Real>&, const Step& step, std::span<const Received<Real>> window) override {
    if (exchanges_x(step)) {
      if (this->in_rounds()) move_once();
      this->add_differences(window);
    }
    if (exchanges_y(step)) this->absorb_mass(window);
  }

  bool fits(const Payload& payload, const Step& step, std::uint32_t place) const override {
    return (!exchanges_x(step) || Algorithm<Real>::fits(payload, step, place)) &&
           (!exchanges_y(step) || this->fits_mass(payload, place));
  }

  void archive(Archive& archive) override {
    Base::archive(archive);
    archive.fixed(nu_);
    if (mu_) archive.fixed(mu_);
    archive(has_moved_);
    archive(moves_);
  }

  void inspect(Probe& probe) const override {
    Base::inspect(probe);
    show(probe, "nu", numbers_of<double>(nu_));
    if (mu_)
      show(probe, "mu", numbers_of<double>(mu_));
    else
      show(probe, "mu", Vector<double>::Zero(this->model().size()));
  }

 private:
  VectorRef<double> nu() { return numbers_of<double>(nu_); }
  VectorRef<double> mu() { return numbers_of<double>(mu_); }

  bool exchanges_x(const Step& step) const { return !this->in_rounds() || step.phase == mix_x; }
  bool exchanges_y(const Step& step) const {
    return this->settings().tracks != Tracks::nothing && (!this->in_rounds() || step.phase == mix_y);
  }

  // The first step of a round that needs the moved model moves it.
  void move_once() {
    if (!std::exchange(has_moved_, true)) move();
  }

  void move() {
    const DepositumSettings& settings = this->settings();
    const bool moves_along_tracker = settings.tracks == Tracks::momentum;
    if (!moves_along_tracker) add_to_momenta(this->y());
    const double alpha = settings.alpha.at(this->client(), moves_++);
    this->descend(alpha, read_only(moves_along_tracker ? this->y() : nu()));
    settings.penalty.prox(this->x(), alpha * settings.prox_factor);
  }

  void track_momentum(Work<Real>& work, const Step& step) {
    const typename Scratch<Real>::Frame frame(work.scratch);
    VectorRef<Real> gradient = work.scratch.vector(this->x().size());
    work.gradient(this->model(), step.index, gradient);
    const Tensor before = copy_of<double>(read_only(nu()), work.pool);
    add_to_momenta(gradient.template cast<double>());
    this->y() += this->settings().beta * (nu() - numbers_of<double>(before));
  }

  // In the tracker, in place of the gradient: nu where momenta are tracked.
  Vector<double> own() const override {
    return this->settings().tracks == Tracks::momentum ? Vector<double>(numbers_of<double>(nu_)) : Base::own();
  }

  template <class Numbers>
  void add_to_momenta(const Eigen::MatrixBase<Numbers>& news) {
    const double gamma = this->settings().gamma;
    if (this->settings().has_two_momenta) {
      mu() = gamma * mu() + (1 - gamma) * news;
      nu() = gamma * mu() + (1 - gamma) * news;
    } else {
      nu() = gamma * nu() + (1 - gamma) * news;
    }
  }

  bool has_moved_ = false;   // since the last computation
  std::uint64_t moves_ = 0;  // the t of alpha
  Tensor nu_;
  Tensor mu_;  // empty with option I
};

constexpr OptionSpec depositum_own[] = {
    {"beta", OptionType::number, "0.5", "step size of the tracker", 0, 1e9, true},
    {"gamma", OptionType::number, "0.5", "momentum", 0, 1, false, true},
    {"T0", OptionType::whole, "1", "rounds, or computations, from one exchange to the next", 1, 1e6},
    word_option("option", "I", "momentum: I of Polyak, II of Nesterov", "I|II"),
    word_option(
        "tracks", "gradient",
        "what travels in the trackers: gradients; momenta (DSMT); or nothing, and a client moves along its own momentum alone "
        "(SHB, SNAG)",
        word_list(Tracks{})),
    word_option("prox_mode", "paper", "paper minimises the loss + h / beta, as printed; consistent minimises the loss + h",
                "paper|consistent"),
};
constexpr auto depositum_table = combined(step_options("alpha", "0.05", "step size of the model; less than 1 / rho of the penalty",
                                                       "diminishing: alpha / (k + step_offset)"),
                                          depositum_own, penalty_options);

DepositumSettings read_depositum(const OptionReader& options) {
  const double beta = options.number("beta");
  const DepositumSettings settings{.alpha = StepSize(options, "alpha"),
                                   .beta = beta,
                                   .gamma = options.number("gamma"),
                                   .period = static_cast<std::uint32_t>(options.whole("T0")),
                                   .has_two_momenta = options.is("option", "II"),
                                   .tracks = options.choice<Tracks>("tracks"),
                                   .penalty = Penalty(options.given()),
                                   .prox_factor = options.is("prox_mode", "consistent") ? beta : 1};
  settings.penalty.require_step("alpha", settings.alpha.greatest(), settings.prox_factor);
  return settings;
}

Needs depositum_needs(const AlgorithmOptions& given) {
  const DepositumSettings settings = read_depositum({given, depositum_table});
  const std::uint32_t period = settings.period;
  Needs needs{.send_every = period,
              .keep = Keep::newest_ever,
              .partial = Partial::senders,
              .program = {.round = {Phase{.kind = PhaseKind::exchange, .number = mix_x, .every = period, .first = 1},
                                    Phase{.kind = PhaseKind::compute}}}};
  if (settings.tracks != Tracks::nothing)
    needs.program.round.add({.kind = PhaseKind::exchange, .number = mix_y, .every = period, .first = 1});
  return needs;
}

double sent_bytes(const AlgorithmOptions& given, const MessageForm& form) {
  const double model = static_cast<double>(form.numbers * form.scalar_bytes);
  return read_depositum({given, depositum_table}).tracks == Tracks::nothing ? model : model_and_mass_bytes(given, form);
}

}  // namespace

constinit const CatalogueEntry entries::depositum{
    .name = "depositum",
    .summary = "proximal gradient tracking with momentum and local updates",
    .options = depositum_table,
    .graphs = Graphs::undirected,
    .merge = Weights::doubly,
    .share = Weights::doubly,
    .may_be_unified = true,
    .tracks = "y nu",
    .needs = depositum_needs,
    .message_bytes = sent_bytes,
    .make = made_by<Depositum, read_depositum, depositum_table>,
};

}  // namespace rubato
