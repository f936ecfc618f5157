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
// In continuous time, which only dsgt offers, a computation steps and tracks and a message carries both.
// Trackers travel as cumulative counters: sum y + sum over links (sigma - rho) = sum g at every instant. A reset is
// y <- g; sigma, rho <- 0.
#include "algos/pushpull.hpp"

#include <utility>

#include "algos/entries.hpp"
#include "algos/tracking_mass.hpp"

namespace rubato {

namespace {

// Phase numbers of exchanges.
constexpr std::uint8_t both = 0;
constexpr std::uint8_t models = 1;
constexpr std::uint8_t trackers = 2;

template <class Real>
class PushPull final : public Algorithm<Real> {
 public:
  PushPull(std::shared_ptr<const PushPullSettings> settings, const ClientView& client_view, ConstVectorRef<Real> start,
           TensorPool& pool)
      : settings_{std::move(settings)},
        client_{client_view.client.value},
        in_rounds_{client_view.in_rounds},
        mass_{client_view},
        x_{copy_of<Real>(start, pool)},
        y_{zeros<double>(x_.count(), pool)},
        g_{zeros<double>(x_.count(), pool)} {}

  void compute(Work<Real>& work, const Step& step) override {
    if (!in_rounds_) descend();
    if (step.with_gradient) track(work, step);
  }

  Payload publish(Work<Real>& work, const Step& step) override {
    Payload payload;
    if (step.phase != trackers) {
      if (in_rounds_) sent_ = step_to_send(work.pool);
      payload.common[0] = in_rounds_ ? sent_ : copy_of<Real>(model(), work.pool);
    }
    if (step.phase != models) {
      const double shares = mass_.assign(read_only(y()), step, work.pool, payload);
      y() -= shares * y();
    }
    return payload;
  }

  void merge(Work<Real>& work, const Step& step, std::span<const Received<Real>> window) override {
    if (step.phase != trackers) {
      if (in_rounds_ && !sent_) sent_ = step_to_send(work.pool);  // nothing was published this time
      mix_models(work, window);
      sent_ = {};
    }
    if (step.phase != models)
      for (const Received<Real>& message : window) mass_.absorb(message, y());
  }

  bool fits(const Payload& payload, const Step& step, std::uint32_t place) const override {
    return (step.phase == trackers || Algorithm<Real>::fits(payload, step, place)) &&
           (step.phase == models || TrackingMass::fits(payload, place, y_.count()));
  }

  void reset(Work<Real>&) override {
    y() = g();
    mass_.reset();
  }

  void archive(Archive& archive) override {
    archive.fixed(x_);
    archive.fixed(y_);
    archive.fixed(g_);
    archive.optional(sent_, scalar_of<Real>, x_.count());
    archive(descents_);
    mass_.archive(archive, y_.count());
  }

  ConstVectorRef<Real> model() const override { return numbers_of<Real>(x_); }

  void inspect(Probe& probe) const override {
    show(probe, "x", model());
    show(probe, "y", numbers_of<double>(y_));
    show(probe, "g", numbers_of<double>(g_));
    mass_.inspect(probe);
  }

  void balance(Probe& probe) const override {
    Vector<double> defect = numbers_of<double>(y_) - numbers_of<double>(g_);
    mass_.add_in_flight(defect);
    show(probe, "tracking", defect);
  }

 private:
  VectorRef<Real> x() { return numbers_of<Real>(x_); }
  VectorRef<double> y() { return numbers_of<double>(y_); }
  VectorRef<double> g() { return numbers_of<double>(g_); }

  void descend() { x() -= (settings_->eta.at(client_, descents_++) * y()).template cast<Real>(); }

  // A round's step, and the model that the others see of it: the one after the step, or before.
  Tensor step_to_send(TensorPool& pool) {
    if (settings_->steps_before_mixing) descend();
    Tensor sent = copy_of<Real>(model(), pool);
    if (!settings_->steps_before_mixing) descend();
    return sent;
  }

  void track(Work<Real>& work, const Step& step) {
    const typename Scratch<Real>::Frame frame(work.scratch);
    VectorRef<Real> gradient = work.scratch.vector(x().size());
    work.learner.gradient(model(), work.batch(step.index), gradient, work.scratch);
    y() += gradient.template cast<double>() - g();
    g() = gradient.template cast<double>();
  }

  // Every sender is compared with what this client sent in the same exchange, or else with the model as it was.
  void mix_models(Work<Real>& work, std::span<const Received<Real>> window) {
    const typename Scratch<Real>::Frame frame(work.scratch);
    VectorRef<Real> base = work.scratch.vector(x().size());
    base = sent_ ? numbers_of<Real>(std::as_const(sent_)) : model();
    for (const Received<Real>& message : window) x() += static_cast<Real>(message.weight) * (message.common() - base);
  }

  std::shared_ptr<const PushPullSettings> settings_;
  std::size_t client_;
  bool in_rounds_;
  std::uint64_t descents_ = 0;
  TrackingMass mass_;
  Tensor x_;
  Tensor y_, g_;
  Tensor sent_;  // from a publish of a round to its merge: the model that was sent
};

PushPullSettings read(const AlgorithmOptions& options) {
  const std::string start = options.word("y0", "g");
  if (start != "g" && start != "Bg") refuse_option("y0", '"' + start + '"', "must be \"g\" or \"Bg\"");
  return {.eta = StepSize(options, "eta", 0.05),
          .steps_before_mixing = adapts_first(options, "x_mix", "atc"),
          .tracks_before_mixing = adapts_first(options, "y_mix", "cta"),
          .starts_mixed = start == "Bg"};
}

Needs needs(const AlgorithmOptions& options) { return pushpull_needs(read(options)); }

template <class Real>
AlgorithmFactory<Real> make(const AlgorithmOptions& options) {
  return make_pushpull<Real>(read(options));
}

constexpr OptionSpec options[] = {
    {"eta", OptionType::number, "0.05", "step size", 0, 1e9, true},
    {.name = "step",
     .type = OptionType::word,
     .fallback = "\"constant\"",
     .meaning = "diminishing: eta / (k + step_offset)",
     .choices = "constant|diminishing"},
    {"step_offset", OptionType::number, "1", "of a diminishing step", 0, 1e9, true},
    {.name = "x_mix",
     .type = OptionType::word,
     .fallback = "\"atc\"",
     .meaning = "models step before (atc) or after (cta) they are mixed",
     .choices = "cta|atc"},
    {.name = "y_mix",
     .type = OptionType::word,
     .fallback = "\"cta\"",
     .meaning = "trackers take the gradient before (atc) or after (cta) they are mixed",
     .choices = "cta|atc"},
    {.name = "y0",
     .type = OptionType::word,
     .fallback = "\"g\"",
     .meaning = "the first trackers: gradients, or gradients mixed once",
     .choices = "g|Bg"},
};

}  // namespace

bool adapts_first(const AlgorithmOptions& options, const std::string& name, const std::string& fallback) {
  const std::string word = options.word(name, fallback);
  if (word != "cta" && word != "atc") refuse_option(name, '"' + word + '"', "must be \"cta\" or \"atc\"");
  return word == "atc";
}

Needs pushpull_needs(const PushPullSettings& settings) {
  Needs needs{.keep = Keep::newest_ever};
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
    .options = options,
    .runs = only(ProtocolKind::rounds),
    .usual = ProtocolKind::rounds,
    .merge = Weights::row,
    .share = Weights::column,
    .needs = needs,
    .message_bytes = model_and_mass_bytes,
    .make_float = make<float>,
    .make_double = make<double>,
};

}  // namespace rubato
