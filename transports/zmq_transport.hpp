// ZmqTransport: parcels between hosts over ZeroMQ, encrypted, over tcp or ipc.
#pragma once

#include <memory>
#include <string>

#include "transports/open.hpp"
#include "transports/transport.hpp"

namespace rubato {

/// All sockets live on one thread of its own, which also calls the sink.
class ZmqTransport : public Transport {
 public:
  /// Listens at once, connects with start(). What arrives takes its memory from the pool, which outlives the transport
  /// and the parcels. Throws std::invalid_argument: bad address or key, an address in use, plain text that would leave
  /// this machine.
  static std::unique_ptr<ZmqTransport> open(TransportOptions options, TensorPool& pool);

  /// Where it listens, with the port that the system has chosen.
  virtual const std::string& endpoint() const = 0;
  /// Before start(): where a host is that the roster could not know.
  virtual void reach(HostId host, const std::string& address) = 0;
  /// What the user must be told in red; empty if there is nothing.
  virtual const std::string& warning() const = 0;
};

}  // namespace rubato
