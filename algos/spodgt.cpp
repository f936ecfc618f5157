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

#include <utility>

#include "algos/entries.hpp"
#include "algos/tracking_mass.hpp"

namespace rubato {

namespace {

template <class Real>
class Spodgt final : public Algorithm<Real> {
 public:
  Spodgt(std::shared_ptr<const SpodgtSettings> settings, const ClientView& client_view, ConstVectorRef<Real> start,
         TensorPool& pool)
      : settings_{std::move(settings)},
        client_{client_view.client.value},
        in_rounds_{client_view.in_rounds},
        chance_{settings_->p.of(client_) < 1 ? settings_->p.of(client_) : client_view.compute_chance},
        mode_{!settings_->by_form ? settings_->mode
              : in_rounds_        ? GradientMode::paper
                                  : GradientMode::memory},
        mass_{client_view},
        x_{copy_of<Real>(start, pool)},
        y_{zeros<double>(x_.count(), pool)},
        c_{zeros<double>(x_.count(), pool)} {}

  void compute(Work<Real>& work, const Step& step) override {
    if (in_rounds_ && step.index > 0) keep_y_half(work.pool);
    x() -= (eta(step) * y()).template cast<Real>();
    if (step.with_gradient)
      track_gradient(work, step);
    else if (mode_ != GradientMode::memory)
      forget_gradient();
  }

  Payload publish(Work<Real>& work, const Step& step) override {
    Payload payload;
    payload.common[0] = copy_of<Real>(model(), work.pool);
    const double shares = mass_.assign(read_only(y()), step, work.pool, payload);
    y() -= shares * y();
    return payload;
  }

  void merge(Work<Real>& work, const Step&, std::span<const Received<Real>> window) override {
    const typename Scratch<Real>::Frame frame(work.scratch);
    VectorRef<Real> before = work.scratch.vector(x().size());
    before = x();  // every sender is compared with the model as it was
    for (const Received<Real>& message : window) {
      x() += static_cast<Real>(message.weight) * (message.common() - before);
      mass_.absorb(message, y());
    }
  }

  bool fits(const Payload& payload, const Step& step, std::uint32_t place) const override {
    return Algorithm<Real>::fits(payload, step, place) && TrackingMass::fits(payload, place, y_.count());
  }

  void adopt(ConstVectorRef<Real> model) override { x() = model; }

  void reset(Work<Real>&) override {
    y() = c();
    mass_.reset();
  }

  void archive(Archive& archive) override {
    archive.fixed(x_);
    archive.fixed(y_);
    archive.fixed(c_);
    archive.optional(y_half_, Scalar::float64, y_.count());
    mass_.archive(archive, y_.count());
  }

  ConstVectorRef<Real> model() const override { return numbers_of<Real>(x_); }

  void inspect(Probe& probe) const override {
    show(probe, "x", model());
    show(probe, "y", numbers_of<double>(y_));
    show(probe, "ghat", numbers_of<double>(c_));
    mass_.inspect(probe);
    if (y_half_) show(probe, "y_half", numbers_of<double>(y_half_));
  }

  void balance(Probe& probe) const override {
    Vector<double> defect = numbers_of<double>(y_) - numbers_of<double>(c_);
    mass_.add_in_flight(defect);
    show(probe, "tracking", defect);
  }

 private:
  VectorRef<Real> x() { return numbers_of<Real>(x_); }
  VectorRef<double> y() { return numbers_of<double>(y_); }
  VectorRef<double> c() { return numbers_of<double>(c_); }

  // Round k ends with computation k + 1, because the first one only opens.
  double eta(const Step& step) const {
    const bool opened = (in_rounds_ || settings_->opens) && step.index > 0;
    return settings_->eta.at(client_, step.index - (opened ? 1 : 0));
  }

  void track_gradient(Work<Real>& work, const Step& step) {
    const typename Scratch<Real>::Frame frame(work.scratch);
    VectorRef<Real> g = work.scratch.vector(x().size());
    work.learner.gradient(model(), work.batch(step.index), g, work.scratch);
    const double scale = mode_ == GradientMode::inverse_p ? 1 / chance_ : 1;
    y() += scale * g.template cast<double>() - c();
    c() = scale * g.template cast<double>();
  }

  void forget_gradient() {
    y() -= c();
    c().setZero();
  }

  void keep_y_half(TensorPool& pool) {
    if (!y_half_) y_half_ = pool.make<double>(y_.count());
    numbers_of<double>(y_half_) = y();
  }

  std::shared_ptr<const SpodgtSettings> settings_;
  std::size_t client_;
  bool in_rounds_;
  double chance_;  // p
  GradientMode mode_;
  TrackingMass mass_;
  Tensor x_;
  Tensor y_, c_;
  Tensor y_half_;  // y as the last merge left it, whether there was one in this round or not; empty in the opening
};

Needs needs(const AlgorithmOptions&) { return spodgt_needs({.computes = true, .links = true}); }

constexpr OptionSpec options[] = {
    spodgt_step_options[0],
    spodgt_step_options[1],
    spodgt_step_options[2],
    {.name = "gradient_mode",
     .type = OptionType::word,
     .fallback = "\"by_form\"",
     .meaning = "what a computation without a gradient leaves in the tracker: nothing (paper), the last gradient "
                "(memory), nothing but gradients count 1/p (inverse_p); by_form: paper in rounds, memory in continuous time",
     .choices = "by_form|paper|memory|inverse_p"},
    {"p", OptionType::number, "1", "chance of a gradient, of all clients or of each, for inverse_p; 1: protocol.compute_chance", 0,
     1, true},
};

}  // namespace

SpodgtSettings read_spodgt(const AlgorithmOptions& options) {
  SpodgtSettings settings;
  settings.eta = StepSize(options, "eta", 0.01);
  settings.opens = options.flag("opens", false);
  const std::string mode = options.word("gradient_mode", "by_form");
  settings.by_form = mode == "by_form";
  if (mode == "memory")
    settings.mode = GradientMode::memory;
  else if (mode == "inverse_p")
    settings.mode = GradientMode::inverse_p;
  else if (mode != "paper" && mode != "by_form")
    refuse_option("gradient_mode", '"' + mode + '"', "must be \"by_form\", \"paper\", \"memory\" or \"inverse_p\"");
  const std::vector<double> p = options.numbers("p", 1);
  for (const double chance : p)
    if (!(chance > 0 && chance <= 1)) refuse_option("p", chance, "must be greater than 0 and at most 1");
  settings.p = PerClientNumber(p);
  return settings;
}

template <class Real>
AlgorithmFactory<Real> make_spodgt(const AlgorithmOptions& options) {
  return factory_of<Spodgt, Real>(read_spodgt(options));
}

template AlgorithmFactory<float> make_spodgt<float>(const AlgorithmOptions&);
template AlgorithmFactory<double> make_spodgt<double>(const AlgorithmOptions&);

constinit const CatalogueEntry entries::spodgt{
    .name = "spodgt",
    .summary = "gradient tracking on digraphs with sporadic gradients and links",
    .options = options,
    .merge = Weights::row,
    .share = Weights::column,
    .may_be_unified = true,
    .needs = needs,
    .message_bytes = model_and_mass_bytes,
    .make_float = make_spodgt<float>,
    .make_double = make_spodgt<double>,
};

}  // namespace rubato
