// PushSum: the mass of a model and its weight, passed on by counters, and the model that is their quotient.
// Source: push-sum in SGP and its continuous form (docs/references.md#sgp, docs/references.md#tracking-mass); sgp.cpp has the
// equations.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "algos/catalogue.hpp"
#include "algos/tracking_mass.hpp"

namespace rubato {

/// Shared by all clients.
struct PushSumSettings {
  StepSize eta;
  bool weighs_step;  ///< outside rounds steps of x are eta w
};

/// What read_push_sum reads besides step_options().
inline constexpr OptionSpec push_sum_options[] = {
    {"weigh_step", OptionType::flag, "true",
     "outside rounds steps of x are eta w, so that those of the model are eta; false is the literal form, whose weights may run to "
     "0"},
};
inline PushSumSettings read_push_sum(const OptionReader& options) { return {StepSize(options), options.flag("weigh_step")}; }

/// Bytes of a message: the model's mass and its weight.
inline double push_sum_bytes(const AlgorithmOptions&, const MessageForm& form) {
  return static_cast<double>((form.numbers + 1) * form.mass_bytes);
}

/// What merging and sending does to a client's mass. A derived class says where gradients are taken.
template <class Real>
class PushSum : public Algorithm<Real> {
 public:
  explicit PushSum(const Setup<Real, PushSumSettings>& setup)
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

 protected:
  /// The step size of this computation, for x.
  double step_size(const Step& step) { return settings_->eta.at(client_, step.index) * (weighs_step_ ? w() : 1); }
  /// x <- x - eta g;   z <- x / w
  void descend(double eta, ConstVectorRef<Real> g) {
    x() -= eta * g.template cast<double>();
    if (own_.size() > 0) own_ -= eta * g.template cast<double>();
    divide();
  }
  std::size_t count() const { return z_.count(); }

 private:
  static constexpr double least_given_of = 1e-6;  // of a client's weight, with weigh_step

  VectorRef<Real> z() { return numbers_of<Real>(z_); }
  VectorRef<double> x() { return {mass_.writable<double>(), static_cast<Index>(z_.count())}; }
  double& w() { return mass_.writable<double>()[z_.count()]; }

  void divide() { z() = (x() / w()).template cast<Real>(); }

  std::shared_ptr<const PushSumSettings> settings_;
  std::size_t client_;
  bool weighs_step_;
  TrackingMass counters_;
  Tensor z_;
  Tensor mass_;         // x, then w
  Vector<double> own_;  // x at the start or the last reset, and all own steps; empty where the balance is not asked for
};

}  // namespace rubato
