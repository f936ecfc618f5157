#include "algos/stationarity.hpp"

namespace rubato {

template <class Real>
double squared_prox_gradient(const Penalty& penalty, double alpha, ConstVectorRef<Real> x, const Vector<double>& gradient) {
  const Vector<double> from = x.template cast<double>();
  Vector<double> to = from - alpha * gradient;
  penalty.prox(view(to), alpha);
  return (from - to).squaredNorm() / (alpha * alpha);
}

void StationaritySum::add(double prox_gradient, const Vector<double>& gradient, const Vector<double>& tracker) {
  if (clients_++ == 0) gradients_ = trackers_ = Vector<double>::Zero(gradient.size());
  prox_gradients_ += prox_gradient;
  gradients_ += gradient;
  trackers_ += tracker;
}

Stationarity StationaritySum::finish(double consensus, double smoothness) const {
  if (clients_ == 0) return {};
  const double clients = static_cast<double>(clients_);
  const double tracking = (gradients_ - trackers_).squaredNorm() / clients;
  const double sum = prox_gradients_ + smoothness * smoothness * consensus + tracking;
  return {prox_gradients_, consensus, tracking, sum / clients};
}

template double squared_prox_gradient(const Penalty&, double, ConstVectorRef<float>, const Vector<double>&);
template double squared_prox_gradient(const Penalty&, double, ConstVectorRef<double>, const Vector<double>&);

}  // namespace rubato
