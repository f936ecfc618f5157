#include "runtime/engine/energy.hpp"

#include <algorithm>

#include "runtime/time.hpp"

namespace rubato {

namespace {

double of_client(const std::vector<double>& numbers, ClientId client) {
  if (numbers.empty()) return 0;
  return numbers[numbers.size() > 1 ? client.value : 0];
}

}  // namespace

bool EnergyModel::is_counted() const {
  const auto costs = [](double number) { return number > 0; };
  return std::ranges::any_of(transmit_watts, costs) || std::ranges::any_of(compute_joules, costs);
}

Energy EnergyModel::of(ClientId client, const MessageCounts& counts) const {
  Energy energy;
  energy.airtime =
      counts.airtime > Duration::zero() ? to_seconds(counts.airtime) : message_seconds * static_cast<double>(counts.publications);
  energy.transmitting = of_client(transmit_watts, client) * energy.airtime;
  energy.computing = of_client(compute_joules, client) * static_cast<double>(counts.computations);
  return energy;
}

}  // namespace rubato
