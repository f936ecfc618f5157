#include "algos/tracking_mass.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace rubato {

TrackingMass::TrackingMass(const ClientView& client_view)
    : senders_{client_view.senders},
      receivers_{client_view.receivers},
      assigned_(client_view.receivers.size()),
      absorbed_(client_view.senders.size()) {}

double TrackingMass::assign(ConstVectorRef<double> mass, const Step& step, TensorPool& pool, Payload& payload) {
  double shares = 0;
  if (!step.entries.empty()) payload.own.reserve(step.entries.size());
  for (const StepEntry& receiver : step.entries) {
    Tensor& sigma = assigned_[place_of(receivers_, receiver.peer)];
    Tensor next = pool.make<double>(static_cast<std::size_t>(mass.size()));  // the last one may still be on its way
    if (sigma)
      numbers_of<double>(next) = numbers_of<double>(std::as_const(sigma)) + receiver.weight * mass;
    else
      numbers_of<double>(next) = receiver.weight * mass;
    sigma = next;
    payload.own.push_back(std::move(next));
    shares += receiver.weight;
  }
  return shares;
}

void TrackingMass::repeat(std::size_t numbers, const Step& step, TensorPool& pool, Payload& payload) {
  if (!step.entries.empty()) payload.own.reserve(step.entries.size());
  for (const StepEntry& receiver : step.entries) {
    Tensor& sigma = assigned_[place_of(receivers_, receiver.peer)];
    if (!sigma) {
      sigma = pool.make<double>(numbers);
      numbers_of<double>(sigma).setZero();
    }
    payload.own.push_back(sigma);
  }
}

void TrackingMass::absorb(ClientId sender, const Tensor& counter, VectorRef<double> mass) {
  Tensor& rho = absorbed_[place_of(senders_, sender)];
  if (rho)
    mass += numbers_of<double>(counter) - numbers_of<double>(std::as_const(rho));
  else
    mass += numbers_of<double>(counter);
  rho = counter;
}

void TrackingMass::reset() {
  std::ranges::fill(assigned_, Tensor{});
  std::ranges::fill(absorbed_, Tensor{});
}

void TrackingMass::archive(Archive& archive, std::size_t numbers) {
  archive.optional(assigned_, Scalar::float64, numbers);
  archive.optional(absorbed_, Scalar::float64, numbers);
}

void TrackingMass::inspect(Probe& probe) const {
  for (std::size_t place = 0; place < assigned_.size(); ++place)
    if (assigned_[place]) show(probe, "sigma " + std::to_string(receivers_[place].value), numbers_of<double>(assigned_[place]));
  for (std::size_t place = 0; place < absorbed_.size(); ++place)
    if (absorbed_[place]) show(probe, "rho " + std::to_string(senders_[place].value), numbers_of<double>(absorbed_[place]));
}

void TrackingMass::add_in_flight(Vector<double>& sum) const {
  for (const Tensor& sigma : assigned_)
    if (sigma) sum += numbers_of<double>(sigma);
  for (const Tensor& rho : absorbed_)
    if (rho) sum -= numbers_of<double>(rho);
}

}  // namespace rubato
