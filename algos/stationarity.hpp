// Stationarity: how far models are from a point where a loss with a penalty cannot be improved, as DEPOSITUM's paper
// measures it (docs/references.md#depositum).
//   G(x) = (x - prox(x - alpha grad F(x))) / alpha, prox the penalty's operator of step alpha, F the mean of all losses
//   s = sum_i ||G(x_i)||^2 + L^2 sum_i ||x_i - mean x||^2 + m ||mean_i grad f_i(x_i) - mean_i nu_i||^2
#pragma once

#include <cstdint>

#include "algos/penalty.hpp"
#include "learning/metrics.hpp"
#include "learning/types.hpp"

namespace rubato {

/// ||G(x)||^2 at a model x, given grad F(x).
template <class Real>
double squared_prox_gradient(const Penalty& penalty, double alpha, ConstVectorRef<Real> x, const Vector<double>& gradient) {
  const Vector<double> from = x.template cast<double>();
  Vector<double> to = from - alpha * gradient;
  penalty.prox(view(to), alpha);
  return (from - to).squaredNorm() / (alpha * alpha);
}

/// Takes the clients one after the other, in client order.
class StationaritySum {
 public:
  /// ||G(x_i)||^2, grad f_i(x_i) and nu_i.
  void add(double prox_gradient, const Vector<double>& gradient, const Vector<double>& tracker) {
    if (clients_++ == 0) gradients_ = trackers_ = Vector<double>::Zero(gradient.size());
    prox_gradients_ += prox_gradient;
    gradients_ += gradient;
    trackers_ += tracker;
  }

  /// `consensus` is sum_i ||x_i - mean x||^2, L the smoothness of the losses. All zeros without clients.
  Stationarity finish(double consensus, double smoothness) const {
    if (clients_ == 0) return {};
    const double clients = static_cast<double>(clients_);
    const double tracking = (gradients_ - trackers_).squaredNorm() / clients;
    const double sum = prox_gradients_ + smoothness * smoothness * consensus + tracking;
    return {prox_gradients_, consensus, tracking, sum / clients};
  }

 private:
  std::uint64_t clients_ = 0;
  double prox_gradients_ = 0;
  Vector<double> gradients_;
  Vector<double> trackers_;
};

}  // namespace rubato
