// Stochastic gradient push: push-sum SGD over column-stochastic networks.
// Source: Assran, Loizou, Ballas and Rabbat, "Stochastic Gradient Push for Distributed Deep Learning"
// (docs/references.md#sgp), a baseline of DRACO; in continuous time with counters (docs/references.md#tracking-mass).
//
// x: mass of the model, w: mass of one, both float64   z = x / w: the model   eta: step size   b_l: share of receiver l
//
//   compute   x <- x - eta g(z; batch)
//   publish   for every receiver sigma_l <- sigma_l + b_l (x, w);   (x, w) <- (x, w) - sum_l b_l (x, w)
//   merge     (x, w) <- (x, w) + sum_j (sigma_j - rho_j);   rho_j <- sigma_j
//   reset     x <- z;   w <- 1;   sigma, rho <- 0
//
// In rounds this is x <- P (x - eta g), w <- P w, with P the matrix of the shares. At every instant the clients' w and
// what is in flight sum to m, and x sums to its start and all steps, whatever is lost; w stays above 0, because a
// client never gives all of it away.
// Failure mode of the literal continuous form: the step of z is eta / w, and a client that happens to send several times
// before it hears anything has little w left. With Poisson clocks that happens sooner or later, and z then overshoots. So
// outside rounds the step is eta w (weigh_step): z moves by eta g whatever w is, and clients count by their mean w.
// A neighbour that takes and never gives drains the mass of all: w would run to 0, and z to 0 / 0. With weigh_step a client
// keeps its last millionth of a weight: it sends its counters as they are until it is given something. Sums of counters near 1
// have room for smaller shares of such a rest only with an error that z would show.
#include <utility>

#include "algos/entries.hpp"
#include "algos/tracking_mass.hpp"

namespace rubato {

namespace {

constexpr double least_given_of = 1e-6;  // of a client's weight, with weigh_step

struct SgpSettings {
  StepSize eta;
  bool weighs_step;
};

template <class Real>
class Sgp final : public Algorithm<Real> {
 public:
  explicit Sgp(const Setup<Real, SgpSettings>& setup)
      : settings_{setup.settings},
        client_{setup.client_view.client.value},
        weighs_step_{setup.settings->weighs_step && !setup.client_view.in_rounds},
        counters_{setup.client_view},
        z_{copy_of<Real>(setup.start, setup.pool)},
        mass_{setup.pool.template make<double>(z_.count() + 1)} {
    x() = setup.start.template cast<double>();
    w() = 1;
    if (setup.client_view.keeps_balance) own_ = setup.start.template cast<double>();
  }

  void compute(Work<Real>& work, const Step& step) override {
    if (!step.with_gradient) return;
    const typename Scratch<Real>::Frame frame(work.scratch);
    VectorRef<Real> g = work.scratch.vector(z().size());
    const double eta = settings_->eta.at(client_, step.index) * (weighs_step_ ? w() : 1);
    for (std::uint64_t b = 0; b < work.local_batches(); ++b) {
      work.learner.gradient(model(), work.batch(step.index * work.local_batches() + b), g, work.scratch);
      x() -= eta * g.template cast<double>();
      if (own_.size() > 0) own_ -= eta * g.template cast<double>();
      divide();
    }
  }

  // x and w lose the same share, so z stays.
  Payload publish(Work<Real>& work, const Step& step) override {
    Payload payload;
    if (settings_->weighs_step && w() <= least_given_of) {
      counters_.repeat<Real>(mass_.count(), step, work.pool, payload);
      return payload;
    }
    counters_.assign<Real>(numbers_of<double>(std::as_const(mass_)), numbers_of<double>(mass_), step, work.pool, payload);
    return payload;
  }

  void merge(Work<Real>&, const Step&, std::span<const Received<Real>> window) override {
    counters_.absorb(window, numbers_of<double>(mass_));
    if (!window.empty()) divide();
  }

  bool fits(const Payload& payload, const Step&, std::uint32_t place) const override {
    return counters_.fits<Real>(payload, place, mass_.count());
  }

  void reset(Work<Real>&) override {
    x() = z().template cast<double>();
    w() = 1;
    counters_.reset();
    if (own_.size() > 0) own_ = x();
  }

  void archive(Archive& archive) override {
    archive.fixed(z_);
    archive.fixed(mass_);
    archive.fixed(own_);
    counters_.archive(archive, mass_.count());
  }

  ConstVectorRef<Real> model() const override { return numbers_of<Real>(z_); }

  void inspect(Probe& probe) const override {
    const ConstVectorRef<double> mass = numbers_of<double>(mass_);
    show(probe, "x", mass.head(mass.size() - 1));
    show(probe, "w", mass[mass.size() - 1]);
    show(probe, "z", model());
    counters_.inspect(probe);
    if (own_.size() > 0) show(probe, "own", own_);
  }

  void balance(Probe& probe) const override {
    Vector<double> mass = numbers_of<double>(mass_);
    counters_.add_in_flight(mass);
    const Index n = mass.size() - 1;
    show(probe, "weight", mass[n] - 1);
    if (own_.size() > 0) show(probe, "mass", mass.head(n) - own_);
  }

 private:
  VectorRef<Real> z() { return numbers_of<Real>(z_); }
  VectorRef<double> x() { return {mass_.writable<double>(), static_cast<Index>(z_.count())}; }
  double& w() { return mass_.writable<double>()[z_.count()]; }

  void divide() { z() = (x() / w()).template cast<Real>(); }

  std::shared_ptr<const SgpSettings> settings_;
  std::size_t client_;
  bool weighs_step_;
  TrackingMass counters_;
  Tensor z_;
  Tensor mass_;         // x, then w
  Vector<double> own_;  // x at the start or the last reset, and all own steps; empty where the balance is not asked for
};

constexpr OptionSpec own[] = {
    {"weigh_step", OptionType::flag, "true",
     "outside rounds steps of x are eta w, so that those of the model are eta; false is the literal form, whose weights may run to "
     "0"},
};
constexpr auto table = combined(step_options(), own);

SgpSettings read(const OptionReader& options) { return {StepSize(options), options.flag("weigh_step")}; }

std::string warning(const AlgorithmOptions& given, const RunFacts& facts) {
  if (facts.in_rounds || read({given, table}).weighs_step) return {};
  return "sgp with weigh_step = false: outside rounds a client that sends often before it hears of others has a weight near 0, and "
         "steps of eta divided by that; weigh_step = true is stable";
}

// The model's mass and its weight.
double mass_bytes(const AlgorithmOptions&, const MessageForm& form) {
  return static_cast<double>((form.numbers + 1) * form.mass_bytes);
}

}  // namespace

constinit const CatalogueEntry entries::sgp{
    .name = "sgp",
    .summary = "push-sum SGD on digraphs",
    .options = table,
    .share = Weights::column,
    .needs =
        [](const AlgorithmOptions&) { return Needs{.keep = Keep::newest_ever, .may_pause = true, .partial = Partial::senders}; },
    .message_bytes = mass_bytes,
    .make = made_by<Sgp, read, table>,
    .warning = warning,
};

}  // namespace rubato
