// Spod-GT: sporadic gradient tracking over directed graphs.
// Source: Zehtabi, Han, Hosseinalipour and Brinton, "Sporadic Gradient Tracking over Directed Graphs", algorithm 1 and
// equations 2 to 6 (docs/references.md#spod-gt).
//
// x: model   y: tracker, float64   c: what stands for the own gradient in y   eta: step size
// a_j: weight of sender j, rows sum to one     b_l: share of receiver l, columns sum to one
//
//   compute   x <- x - eta y;   c+ = g(x; batch);   y <- y + c+ - c;   c <- c+
//             without a gradient: c+ = 0 (paper, inverse_p) or c+ = c (memory);   inverse_p: c+ = g / p
//   publish   send x and, for every receiver, the counter sigma_l <- sigma_l + b_l y;   y <- y - sum_l b_l y
//   merge     x <- x + sum_j a_j (x_j - x);   y <- y + sum_j (sigma_j - rho_j);   rho_j <- sigma_j
//             where no message is ever missing the shares b_l y travel alone (tracking_mass.hpp)
//   adopt     x <- x of the hub
//   reset     y <- c;   sigma, rho <- 0
//
// In rounds: compute once (y = c = g at the start, where y is 0 and does not move x), then exchange and compute. There
// a link that is down carries nothing, and a merge leaves behind what the paper calls x and y of k + 1/2.
// The balance sum y + sum over links (sigma - rho) = sum c holds at every instant, whatever is lost.
//
// Where we differ from the printed algorithm: line 5 runs over senders (SP-1), lines 10 and 17 over the links on which
// the client sends (SP-2, SP-4), c = 0 without a gradient (SP-3). The paper sends the share b_l y itself, which loses
// mass with every lost message; the counters do not. In paper mode clients that compute with chance p_i find the
// minimiser of sum_i p_i f_i; memory finds that of sum_i f_i, inverse_p in the mean. Decisions:
// docs/references.md#spod-gt-decisions.
#include "algos/spodgt.hpp"

#include "algos/entries.hpp"
#include "algos/gradient_tracking.hpp"

namespace rubato {

namespace {

/// What stands for the gradient of a client in its tracker y.
enum class GradientMode : std::uint8_t {
  by_form,    // paper in rounds, memory in continuous time
  paper,      // the gradient, or nothing in a computation without one
  memory,     // the last gradient
  inverse_p,  // the gradient / p, or nothing in a computation without one
};
constexpr std::string_view word_list(GradientMode) { return "by_form|paper|memory|inverse_p"; }

struct SpodgtSettings {
  StepSize eta;
  bool opens;  // in continuous time too a first computation only opens, as it always does in rounds
  GradientMode mode;
  PerClientNumber p;
};

template <class Real>
class Spodgt final : public GradientTracking<Real, SpodgtSettings> {
  using Base = GradientTracking<Real, SpodgtSettings>;

 public:
  explicit Spodgt(const Setup<Real, SpodgtSettings>& setup) : Base(setup, 1, "ghat"), mode_{setup.settings->mode} {
    if (mode_ == GradientMode::by_form) mode_ = this->in_rounds() ? GradientMode::paper : GradientMode::memory;
    const double p = this->settings().p.of(this->client());
    if (mode_ == GradientMode::inverse_p) this->set_scale(1 / (p < 1 ? p : setup.client_view.compute_chance));
    shows_y_half_ = this->in_rounds() && setup.client_view.keeps_balance;
  }

  void compute(Work<Real>& work, const Step& step) override {
    if (shows_y_half_ && step.index > 0) keep_y_half(work.pool);
    this->descend_along_y(eta(step));
    if (step.with_gradient)
      this->track(work, step);
    else if (mode_ != GradientMode::memory)
      this->forget_gradient();
  }

  Payload publish(Work<Real>& work, const Step& step) override {
    Payload payload;
    this->push_mass(work, step, payload);  // first: it looks at y, which brings x up to date
    payload.common[0] = this->shared_model();
    return payload;
  }

  void merge(Work<Real>&, const Step&, std::span<const Received<Real>> window) override { this->merge_for_later(window); }

  void archive(Archive& archive) override {
    Base::archive(archive);
    archive.optional(y_half_, Scalar::float64, this->count());
  }

  void inspect(Probe& probe) const override {
    Base::inspect(probe);
    if (y_half_) show(probe, "y_half", numbers_of<double>(y_half_));
  }

 private:
  // Round k ends with computation k + 1, because the first one only opens.
  double eta(const Step& step) const {
    const bool opened = (this->in_rounds() || this->settings().opens) && step.index > 0;
    return this->settings().eta.at(this->client(), step.index - (opened ? 1 : 0));
  }

  void keep_y_half(TensorPool& pool) {
    if (!y_half_) y_half_ = pool.make<double>(this->count());
    numbers_of<double>(y_half_) = this->y();
  }

  GradientMode mode_;  // not by_form
  bool shows_y_half_;
  Tensor y_half_;  // y as the last merge left it, whether there was one in this round or not; empty in the opening
};

constexpr OptionSpec spodgt_own[] = {
    word_option("gradient_mode", "by_form",
                "what a computation without a gradient leaves in the tracker: nothing (paper), the last gradient "
                "(memory), nothing but gradients count 1/p (inverse_p); by_form: paper in rounds, memory in continuous time",
                word_list(GradientMode{})),
    {"p", OptionType::number, "1", "chance of a gradient, of all clients or of each, for inverse_p; 1: protocol.compute_chance", 0,
     1, true},
};
constexpr auto spodgt_table = combined(spodgt_step_options, spodgt_own);

SpodgtSettings read_spodgt(const OptionReader& options) {
  return {StepSize(options), options.given().flag("opens", false), options.choice<GradientMode>("gradient_mode"),
          options.numbers("p")};
}

}  // namespace

template <class Real>
AlgorithmFactory<Real> make_spodgt(const AlgorithmOptions& given) {
  return factory_of<Spodgt, Real>(read_spodgt({given, spodgt_table}));
}

template AlgorithmFactory<float> make_spodgt<float>(const AlgorithmOptions&);
template AlgorithmFactory<double> make_spodgt<double>(const AlgorithmOptions&);

constinit const CatalogueEntry entries::spodgt{
    .name = "spodgt",
    .summary = "gradient tracking on digraphs with sporadic gradients and links",
    .options = spodgt_table,
    .merge = Weights::row,
    .share = Weights::column,
    .may_be_unified = true,
    .tracks = "y",
    .needs = [](const AlgorithmOptions&) { return spodgt_needs({.computes = true, .links = true}); },
    .message_bytes = model_and_mass_bytes,
    .make = spodgt_maker,
};

}  // namespace rubato
