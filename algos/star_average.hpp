// Star average: a client for itself and for its peers what the server of FedAvg is for all.
#pragma once

#include <array>

#include "algos/exchange_slots.hpp"
#include "algos/one_model.hpp"

namespace rubato {

/// What settings of a StarAverage read besides those of the slots.
inline constexpr std::array star_average_options{
    word_option("peers", "keep", "what the peers of an exchange do with the star's new model: keep their own, or adopt it",
                "keep|adopt"),
};

/// theta <- theta + step() (mean - theta), where the mean is that of the models in the window and the own one. Settings have
/// `peers_adopt`.
template <class Real, class Settings>
class StarAverage : public OneModel<Real, Settings> {
 public:
  using OneModel<Real, Settings>::OneModel;

  Payload publish(Work<Real>&, const Step&) override { return this->model_message(); }

  void merge(Work<Real>& work, const Step& step, std::span<const Received<Real>> window) override {
    if (window.empty()) return;
    if (step.phase == ExchangeSlots::news) {
      if (this->settings().peers_adopt) this->x() = window.back().common();
      return;
    }
    const typename Scratch<Real>::Frame frame(work.scratch);
    VectorRef<Real> mean = work.scratch.vector(this->model().size());
    mean = this->model();
    for (const Received<Real>& peer : window) mean += peer.common();
    mean /= static_cast<Real>(window.size() + 1);
    const Real share = static_cast<Real>(this->towards_mean());
    VectorRef<Real> x = this->x();
    if (share == 1)
      x = mean;
    else
      x += share * (mean - x);
  }

 protected:
  /// How far an exchange goes from the own model towards the mean.
  virtual double towards_mean() const { return 1; }
};

}  // namespace rubato
