// ZmqTransport: parcels between hosts over ZeroMQ, encrypted, over tcp or ipc.
#pragma once

#include <memory>
#include <string>

#include "transports/open.hpp"
#include "transports/transport.hpp"

namespace rubato {

/// All sockets live on one thread of its own, which also calls the sink.
class ZmqTransport final : public Transport {
 public:
  /// Listens at once, connects with start(). What arrives takes its memory from the pool, which outlives the transport
  /// and the parcels. Throws std::invalid_argument: bad address or key, an address in use, plain text that would leave
  /// this machine.
  ZmqTransport(TransportOptions options, TensorPool& pool);
  ~ZmqTransport() override;

  /// Where it listens, with the port that the system has chosen.
  const std::string& endpoint() const;
  /// Before start(): where a host is that the roster could not know.
  void reach(HostId host, const std::string& address);
  /// What the user must be told in red; empty if there is nothing.
  const std::string& warning() const;

  HostId self() const override;
  void start(ParcelSink& sink) override;
  bool send(HostId to, Parcel parcel) override;
  void stop(Duration linger) override;
  TransportCounts counts() const override;

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace rubato
