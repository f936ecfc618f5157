// R-FAST: gradient tracking by counters over two digraphs, one that mixes models and one that passes gradients on.
// Source: Zhu, Tian, Huang, Xu and He, "R-FAST: Robust Fully-Asynchronous Stochastic Gradient Tracking over General Topology"
// (docs/references.md#r-fast).
//
// x: model   z: tracker of the mean gradient   g: gradient at x   gamma: step size   v_j: heard of sender j, at first x_0
// w_ij: weight of sender j, rows of W sum to one   a_li: share of receiver l, columns of A sum to one
//
//   opening   g = z = g(x; batch)
//   merge     v_j, and what has been assigned since the last message that counted: sigma_j - rho_j
//   compute   v <- x - gamma z;   x <- w_ii v + sum_j w_ij v_j;   g' = g(x; batch)
//             z <- z + g' - g + all that was merged since the last computation;   g <- g'
//   publish   sigma_l <- sigma_l + a_li z for every receiver l;   z <- z - sum_l a_li z;   send (v, sigma_l)
//
// Every computation is followed by its message at the same instant. The sum of all z, with what is on its way, is that of all g,
// whatever is lost, late or overtaken. A computation follows the part of z that its client has kept, and mixes with models that
// neighbours had one computation ago: in step, with the same shares everywhere, it descends by gamma a_ii / (2 - w_ii), gamma / 5
// on a ring. Decisions RF-1 to RF-4: docs/references.md#r-fast.
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "algos/entries.hpp"
#include "algos/one_model.hpp"
#include "algos/tracking_mass.hpp"

namespace rubato {

namespace {

struct RfastSettings {
  StepSize gamma;
};

template <class Real>
class Rfast final : public OneModel<Real, RfastSettings> {
  using Base = OneModel<Real, RfastSettings>;

 public:
  explicit Rfast(const Setup<Real, RfastSettings>& setup)
      : Base(setup),
        senders_{setup.client_view.senders},
        weights_(setup.client_view.sender_weights.begin(), setup.client_view.sender_weights.end()),
        own_weight_{std::accumulate(weights_.begin(), weights_.end(), 1.0, std::minus<>())},
        counters_{setup.client_view},
        z_{Vector<double>::Zero(setup.start.size())},
        merged_{z_},
        g_{z_},
        v_{this->shared_model()},
        heard_(senders_.size(), this->shared_model()) {}

  void compute(Work<Real>& work, const Step& step) override {
    const typename Scratch<Real>::Frame frame(work.scratch);
    VectorRef<Real> gradient = work.scratch.vector(g_.size());
    if (step.index > 0) mix(work, step);
    work.gradient(this->model(), step.index, gradient);
    z_ += gradient.template cast<double>() - g_ + merged_;
    g_ = gradient.template cast<double>();
    merged_.setZero();
  }

  Payload publish(Work<Real>& work, const Step& step) override {
    Payload payload;
    payload.common[0] = v_;
    counters_.assign<Real>(view(std::as_const(z_)), view(z_), step, work.pool, payload);
    return payload;
  }

  void merge(Work<Real>&, const Step&, std::span<const Received<Real>> window) override {
    for (const Received<Real>& message : window) heard_[place_of(senders_, message.sender)] = message.payload.common[0];
    counters_.absorb(window, view(merged_));
  }

  bool fits(const Payload& payload, const Step&, std::uint32_t place) const override {
    return holds<Real>(payload.common[0], this->count()) && counters_.fits<Real>(payload, place, this->count());
  }

  void reset(Work<Real>&) override {
    z_ = g_;
    merged_.setZero();
    counters_.reset();
  }

  void archive(Archive& archive) override {
    Base::archive(archive);
    for (Vector<double>* vector : {&z_, &merged_, &g_}) archive.fixed(*vector);
    archive.fixed(v_);
    for (Tensor& heard : heard_) archive.fixed(heard);
    counters_.archive(archive, this->count());
  }

  void inspect(Probe& probe) const override {
    Base::inspect(probe);
    show(probe, "v", numbers_of<Real>(v_));
    show(probe, "z", z_);
    show(probe, "g", g_);
    show(probe, "merged", merged_);
    counters_.inspect(probe);
  }

  void balance(Probe& probe) const override {
    Vector<double> mass = z_ + merged_ - g_;
    counters_.add_in_flight(mass);
    show(probe, "z", mass);
  }

 private:
  void mix(Work<Real>& work, const Step& step) {
    Tensor next = work.pool.template make<Real>(this->count());
    const double gamma = this->settings().gamma.at(this->client(), step.index - 1);
    const VectorRef<Real> v = numbers_of<Real>(next);
    this->change_model([&](Index first, ConstVectorRef<Real> before, VectorRef<Real> x) {
      VectorRef<Real> v_part = part_of(v, first, x.size());
      v_part = before - (gamma * part_of(view(std::as_const(z_)), first, x.size())).template cast<Real>();
      x = static_cast<Real>(own_weight_) * v_part;
      for (std::size_t j = 0; j < weights_.size(); ++j)
        x += static_cast<Real>(weights_[j]) * part_of(numbers_of<Real>(std::as_const(heard_[j])), first, x.size());
    });
    v_ = std::move(next);
  }

  std::span<const ClientId> senders_;
  std::vector<double> weights_;  // beside them; empty: none is given, and all that is heard counts nothing
  double own_weight_;            // what they leave to its own
  TrackingMass counters_;
  Vector<double> z_, merged_, g_;
  Tensor v_;
  std::vector<Tensor> heard_;  // beside senders_: the newest v; the sender's own tensor, kept
};

constexpr auto rfast_table = step_options("gamma");

RfastSettings read_rfast(const OptionReader& options) { return {StepSize(options, "gamma")}; }

}  // namespace

constinit const CatalogueEntry entries::rfast{
    .name = "rfast",
    .summary = "R-FAST: gradient tracking with counters over digraphs, each client in its own time",
    .options = rfast_table,
    .runs = {ProtocolKind::push},
    .merge = Weights::row,
    .share = Weights::column,
    .tracks = "z",
    .needs =
        [](const AlgorithmOptions&) {
          return Needs{.opens_with_compute = true,
                       .sends_at_compute = true,
                       .keep = Keep::newest_ever,
                       .absorb = AbsorbAt::compute,
                       .knows_weights = true};
        },
    .message_bytes = model_and_mass_bytes,
    .make = made_by<Rfast, read_rfast, rfast_table>,
};

}  // namespace rubato
