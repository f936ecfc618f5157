// open_transport(): the transport that a roster's addresses ask for.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "transports/frame.hpp"
#include "transports/transport.hpp"
#include "transports/zmq_identity.hpp"

namespace rubato {

/// A host of the roster.
struct TransportHost {
  std::string name;
  std::string address;     ///< "tcp://10.0.0.1:7001" or "ipc:///run/rubato/a"; may be empty until reach() gives it
  std::string public_key;  ///< Z85; empty: plain text
};

struct TransportLimits {
  FrameLimits frame;                                   ///< the same at all hosts
  std::size_t queue_bytes = std::size_t{64} << 20;     ///< waiting to leave for one host
  std::size_t receive_bytes = std::size_t{256} << 20;  ///< tensors of one host that are unfinished or not let go of
  std::size_t flight_bytes = std::size_t{4} << 20;     ///< in ZeroMQ's hands for one host, at either end
  /// That others may have open here, beyond what each host needs; half of them are for addresses of the roster. A host that
  /// is 50 ms away shakes hands for half a second: while others at its address open a thousand connections a second, and
  /// all of them shake hands, it gets in at the second attempt.
  std::size_t connections = 1024;
  /// Of one host in the long run; while it sends more all are read at about this pace. 0: as fast as can be.
  double frames_a_second = 50'000;
  Duration handshake = std::chrono::seconds(10);  ///< for a connection to show which host it is from
  /// After which a connection counts as dead whose other end's kernel is not heard, or takes nothing.
  Duration silence = std::chrono::seconds(15);
  Duration reconnect_first = std::chrono::milliseconds(50);
  Duration reconnect_last = std::chrono::seconds(2);  ///< the back-off doubles up to here
};

struct TransportOptions {
  HostId self;
  std::vector<TransportHost> hosts;  ///< the roster, in its order, the own one included
  std::string bind;                  ///< where to listen: "tcp://*:7001"; empty: the own address
  SecretKey secret;                  ///< none: plain text
  bool is_insecure = false;          ///< plain text is allowed beyond this machine
  /// Must grow from start to start of this host; 0: the time of day.
  std::uint64_t life = 0;
  TransportLimits limits;
  /// Hears a sentence, once for each kind of trouble and host, on the socket's thread.
  std::function<void(const std::string&)> on_trouble;
};

/// A transport, and what must be said about it before it starts.
struct OpenTransport {
  std::unique_ptr<Transport> transport;
  std::string warning;  ///< for the user, in red; empty if there is nothing
};

/// By the scheme of this host's address: tcp:// and ipc:// are carried by ZeroMQ, others by those of extend_transports(). It
/// listens at once and connects with start(). Raises the soft limit of this process's descriptors as far as the system allows. What
/// arrives takes its memory from the pool, which outlives the transport. Throws std::invalid_argument: an unknown scheme, a bad
/// address or key, an address in use, plain text that would leave this machine.
OpenTransport open_transport(TransportOptions options, TensorPool& pool);

/// What an address of a roster must be, if no transport carries it; else nothing. `is_bound`: it says where to listen.
std::string roster_address_fault(const std::string& address, bool is_bound);

}  // namespace rubato
