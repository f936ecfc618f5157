// The AB / Push-Pull family: gradient tracking with row-stochastic A for models and column-stochastic B for trackers.
// Source: Xin and Khan (AB); Pu, Shi, Xu and Nedić (Push-Pull); Nedić, Nguyen and Nguyen (the time-varying form):
// docs/references.md#ab-and-push-pull.
//
// x: model   y: tracker, float64   g: last gradient   eta: step size
//
//   x_mix = atc   x+ = A (x - eta y)          cta   x+ = A x - eta y
//   y_mix = atc   y+ = B (y + g+ - g)         cta   y+ = B y + g+ - g          g+ = g(x+; batch)
//   y0 = g        y = g at the start          Bg    y = B g
//
// Push-Pull is atc, cta; AB is cta, atc; the time-varying form is cta, cta. Spod-GT's baseline is cta, atc, Bg.
// A publish takes the step from the own model, whether what it sends has taken it (atc) or not (cta); a merge adds the
// differences of what was sent: x + sum_j a_j (sent_j - sent). With y_mix = cta one exchange carries x and the counters
// of the tracker; with atc the tracker follows in a second exchange, because it needs the gradient at the new model.
// A round without an exchange steps and tracks: A and B are the identity.
// In continuous time, which only dsgt offers, a computation steps and tracks and a message carries both.
// Trackers travel as cumulative counters: sum y + sum over links (sigma - rho) = sum g at every instant. A reset is
// y <- g; sigma, rho <- 0.
#include "algos/pushpull.hpp"

#include <utility>

#include "algos/entries.hpp"
#include "algos/gradient_tracking.hpp"

namespace rubato {

namespace {

// Phase numbers of exchanges.
constexpr std::uint8_t both = 0;
constexpr std::uint8_t models = 1;
constexpr std::uint8_t trackers = 2;

template <class Real>
class PushPull final : public GradientTracking<Real, PushPullSettings> {
  using Base = GradientTracking<Real, PushPullSettings>;

 public:
  using Base::Base;

  void compute(Work<Real>& work, const Step& step) override {
    const bool has_a_round = !this->in_rounds() || step.index > 0;  // the first computation of rounds only opens
    if (has_a_round && !std::exchange(has_descended_, false)) step_down();
    if (step.with_gradient) this->track(work, step);
  }

  Payload publish(Work<Real>& work, const Step& step) override {
    Payload payload;
    if (step.phase != trackers) {
      if (this->in_rounds()) sent_ = step_to_send();
      payload.common[0] = this->in_rounds() ? sent_ : this->shared_model();
    }
    if (step.phase != models) this->push_mass(work, step, payload);
    return payload;
  }

  void merge(Work<Real>&, const Step& step, std::span<const Received<Real>> window) override {
    if (step.phase != trackers) {
      if (this->in_rounds() && !sent_) sent_ = step_to_send();  // nothing was published this time
      // Every sender is compared with what this client sent in the same exchange, or else with the model as it was.
      this->add_differences(window, sent_);
      sent_ = {};
    }
    if (step.phase != models) this->absorb_mass(window);
  }

  bool fits(const Payload& payload, const Step& step, std::uint32_t place) const override {
    return (step.phase == trackers || Algorithm<Real>::fits(payload, step, place)) &&
           (step.phase == models || this->fits_mass(payload, place));
  }

  void archive(Archive& archive) override {
    Base::archive(archive);
    archive.optional(sent_, scalar_of<Real>, this->count());
    archive(descents_);
    archive(has_descended_);
  }

 private:
  void step_down() { this->descend_along_y(this->settings().eta.at(this->client(), descents_++)); }

  // A round's step, and the model that the others see of it: the one after the step, or before.
  Tensor step_to_send() {
    has_descended_ = true;
    if (this->settings().steps_before_mixing) step_down();
    Tensor sent = this->shared_model();
    if (!this->settings().steps_before_mixing) step_down();
    return sent;
  }

  std::uint64_t descents_ = 0;
  bool has_descended_ = false;  // in this round, for its exchange
  Tensor sent_;                 // from a publish of a round to its merge: the model that was sent
};

constexpr OptionSpec pushpull_own[] = {
    word_option("x_mix", "atc", "models step before (atc) or after (cta) they are mixed", "cta|atc"),
    word_option("y_mix", "cta", "trackers take the gradient before (atc) or after (cta) they are mixed", "cta|atc"),
    word_option("y0", "g", "the first trackers: gradients, or gradients mixed once", "g|Bg"),
};
constexpr auto pushpull_table = combined(step_options(), pushpull_own);

PushPullSettings read_pushpull(const OptionReader& options) {
  return {.eta = StepSize(options),
          .steps_before_mixing = options.is("x_mix", "atc"),
          .tracks_before_mixing = options.is("y_mix", "atc"),
          .starts_mixed = options.is("y0", "Bg")};
}
Needs needs_of_options(const OptionReader& options) { return pushpull_needs(read_pushpull(options)); }

}  // namespace

Needs pushpull_needs(const PushPullSettings& settings) {
  Needs needs{.keep = Keep::newest_ever, .may_pause = true, .partial = Partial::senders};
  needs.program.opening = {Phase{PhaseKind::compute}};
  if (settings.starts_mixed) needs.program.opening.add({.kind = PhaseKind::exchange, .number = trackers});
  if (settings.tracks_before_mixing)
    needs.program.round = {Phase{.kind = PhaseKind::exchange, .number = models}, Phase{.kind = PhaseKind::compute},
                           Phase{.kind = PhaseKind::exchange, .number = trackers}};
  else
    needs.program.round = {Phase{.kind = PhaseKind::exchange, .number = both}, Phase{.kind = PhaseKind::compute}};
  return needs;
}

template <class Real>
AlgorithmFactory<Real> make_pushpull(PushPullSettings settings) {
  return factory_of<PushPull, Real>(std::move(settings));
}

template AlgorithmFactory<float> make_pushpull<float>(PushPullSettings);
template AlgorithmFactory<double> make_pushpull<double>(PushPullSettings);

constinit const CatalogueEntry entries::pushpull{
    .name = "pushpull",
    .summary = "gradient tracking on digraphs in the original forms of AB and Push-Pull",
    .options = pushpull_table,
    .runs = {ProtocolKind::rounds},
    .merge = Weights::row,
    .share = Weights::column,
    .tracks = "y",
    .needs = needs_by<needs_of_options, pushpull_table>,
    .message_bytes = model_and_mass_bytes,
    .make = made_by<PushPull, read_pushpull, pushpull_table>,
};

}  // namespace rubato
