#include "runtime/world/bandwidth_channel.hpp"

#include <algorithm>
#include <utility>

namespace rubato {

BandwidthChannel::BandwidthChannel(std::uint64_t seed, Capacities capacities, const Law& latency, std::size_t clients)
    : capacities_{std::move(capacities)}, latency_{seed, {.delay = latency}, {}}, clients_(clients) {}

void BandwidthChannel::begin(std::uint32_t number, const LinkUse& use) {
  if (number >= transfers_.size()) transfers_.resize(number + 1);
  transfers_[number] = {use.sender, use.receiver, 8 * sizes_.of(use.kind), 0, use.now, never};
  order_.insert({never, number});
  Client& sender = clients_[use.sender.value];
  if (sender.sending.empty()) sender.busy_since = use.now;
  sender.sending.push_back(number);
  clients_[use.receiver.value].receiving.push_back(number);
  share(use.sender, use.receiver, use.now);
}

Transfers::Done BandwidthChannel::finish() {
  const auto [now, number] = *order_.begin();
  order_.erase(order_.begin());
  const Transfer done = transfers_[number];
  Client& sender = clients_[done.sender.value];
  std::erase(sender.sending, number);
  std::erase(clients_[done.receiver.value].receiving, number);
  share(done.sender, done.receiver, now);
  return {number, now - std::exchange(sender.busy_since, now)};
}

void BandwidthChannel::share(ClientId sender, ClientId receiver, Time now) {
  for (const std::uint32_t number : clients_[sender.value].sending) set_pace(number, now);
  for (const std::uint32_t number : clients_[receiver.value].receiving)
    if (transfers_[number].sender != sender) set_pace(number, now);
}

void BandwidthChannel::set_pace(std::uint32_t number, Time now) {
  Transfer& transfer = transfers_[number];
  transfer.left = std::max(transfer.left - transfer.rate * to_seconds(now - transfer.since), 0.0);
  transfer.since = now;
  transfer.rate = std::min(up(transfer.sender) / static_cast<double>(clients_[transfer.sender.value].sending.size()),
                           down(transfer.receiver) / static_cast<double>(clients_[transfer.receiver.value].receiving.size()));
  order_.erase({transfer.ends, number});
  transfer.ends = later(now, from_seconds(transfer.left / transfer.rate));
  order_.insert({transfer.ends, number});
}

}  // namespace rubato
