// ZmqParty: hosts in one process that know each other's addresses, and keys if they have any; and folders for sockets.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/files.hpp"
#include "tests/transports/transport_contract.hpp"
#include "transports/zmq_transport.hpp"

namespace rubato::test {

enum class Wire { tcp_plain, tcp_curve, ipc_plain, ipc_curve };

/// A roster and what each host keeps to itself. What they receive comes from the pool.
class ZmqParty : public Ends {
 public:
  using Change = std::function<void(TransportOptions&)>;

  ZmqParty(TensorPool& pool, std::uint32_t hosts, Wire wire, const Change& change = {}) : pool_{pool}, change_{change} {
    const bool is_curve = wire == Wire::tcp_curve || wire == Wire::ipc_curve;
    const bool is_tcp = wire == Wire::tcp_plain || wire == Wire::tcp_curve;
    for (std::uint32_t host = 0; host < hosts; ++host) {
      identities_.push_back(make_identity());
      roster_.push_back({"host" + std::to_string(host), "", is_curve ? identities_[host].public_key : ""});
      binds_.push_back(is_tcp ? "tcp://127.0.0.1:*" : "ipc://" + (folder_.path() / std::to_string(host)).string());
    }
    for (std::uint32_t host = 0; host < hosts; ++host) open(host);
    introduce();
  }

  ZmqTransport& operator[](std::uint32_t host) override { return *hosts_[host]; }
  const std::vector<TransportHost>& roster() const { return roster_; }
  const Identity& identity(std::uint32_t host) const { return identities_[host]; }

  /// Ends the host; it answers nobody until it is reborn.
  void kill(std::uint32_t host) { hosts_[host].reset(); }
  /// A new start of the host at its old address.
  void reborn(std::uint32_t host) {
    open(host);
    introduce(host);
  }

 private:
  void open(std::uint32_t host) {
    TransportOptions options;
    options.self = HostId{host};
    options.hosts = roster_;
    options.bind = binds_[host];
    if (!roster_[host].public_key.empty()) options.secret = identities_[host].secret;
    options.limits.queue_bytes = std::size_t{64} << 20;
    if (change_) change_(options);
    hosts_.resize(roster_.size());
    hosts_[host] = ZmqTransport::open(std::move(options), pool_);
    binds_[host] = hosts_[host]->endpoint();
  }
  void introduce() {
    for (std::uint32_t host = 0; host < roster_.size(); ++host) roster_[host].address = binds_[host];
    for (std::uint32_t host = 0; host < roster_.size(); ++host) introduce(host);
  }
  void introduce(std::uint32_t host) {
    for (std::uint32_t other = 0; other < roster_.size(); ++other)
      if (other != host) hosts_[host]->reach(HostId{other}, binds_[other]);
  }

  Folder folder_;
  TensorPool& pool_;
  Change change_;
  std::vector<Identity> identities_;
  std::vector<TransportHost> roster_;
  std::vector<std::string> binds_;
  std::vector<std::unique_ptr<ZmqTransport>> hosts_;
};

}  // namespace rubato::test
