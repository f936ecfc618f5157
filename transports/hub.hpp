// Hub: hosts that live in one process; parcels move as handles, so that their size costs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "transports/transport.hpp"

namespace rubato {

/// Any thread may use it and its ends. Every started end has one thread that hands over what arrives.
class Hub {
 public:
  static constexpr std::size_t usual_queue_bytes = std::size_t{64} << 20;

  /// Hosts 0 .. hosts - 1. `queue_bytes` may wait on the way from one host to one other.
  explicit Hub(std::uint32_t hosts, std::size_t queue_bytes = usual_queue_bytes);
  ~Hub();

  /// The end of this host, which the hub must outlive. One at a time: when it is gone the host may come back with
  /// another and finds what the others have sent meanwhile. Throws std::invalid_argument for a host that is not there,
  /// or is.
  std::unique_ptr<Transport> end(HostId host);

 private:
  class End;
  class Inbox;

  std::vector<std::unique_ptr<Inbox>> inboxes_;  // by host
};

}  // namespace rubato
