// BandwidthChannel: clients with so many bits per second up and down, shared by the messages that they send and
// receive.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "runtime/world/channel.hpp"

namespace rubato {

/// Each message gets the smaller of an equal part of its sender's up-link and an equal part of its receiver's
/// down-link, from beginning to end of whatever else is under way; its latency comes on top. Nothing is lost. Virtual
/// time only.
class BandwidthChannel final : public Channel, private Transfers {
 public:
  /// Bits per second of each client; one number stands for all.
  struct Capacities {
    std::vector<double> up, down;
  };
  BandwidthChannel(std::uint64_t seed, Capacities capacities, const Law& latency, std::size_t clients);

  Fate carry(const LinkUse& use) const override { return latency_.carry(use); }
  Transfers* transfers() override { return this; }
  void set_sizes(const MessageSizes& sizes) override { sizes_ = sizes; }

 private:
  struct Transfer {
    ClientId sender, receiver;
    double left = 0;  // bits
    double rate = 0;  // bits per second
    Time since{};     // when so much was left
    Time ends{};
  };
  struct Client {
    std::vector<std::uint32_t> sending, receiving;  // numbers of transfers
    Time busy_since{};                              // since when its airtime is not counted yet
  };

  void begin(std::uint32_t number, const LinkUse& use) override;
  Time next() const override { return order_.empty() ? never : order_.begin()->first; }
  Done finish() override;

  double up(ClientId client) const { return capacities_.up[capacities_.up.size() > 1 ? client.value : 0]; }
  double down(ClientId client) const { return capacities_.down[capacities_.down.size() > 1 ? client.value : 0]; }
  /// What the two share is shared anew from this instant on.
  void share(ClientId sender, ClientId receiver, Time now);
  void set_pace(std::uint32_t number, Time now);

  Capacities capacities_;
  RandomChannel latency_;
  MessageSizes sizes_;
  std::vector<Transfer> transfers_;  // by number
  std::vector<Client> clients_;
  std::set<std::pair<Time, std::uint32_t>> order_;  // (end, number)
};

}  // namespace rubato
