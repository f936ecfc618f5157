// The kernel's send buffer between processes of one machine: small enough that what passes through stays in its caches.
#pragma once

#include <string>
#include <zmq.hpp>

#include "transports/zmq_address.hpp"

namespace rubato {

/// Before the socket is connected to the address. Over a real network the kernel finds the size itself, and it must be
/// large. Here that costs up to a third of the speed, and so does any size of the receiver's buffer but the kernel's
/// own choice.
inline void fit_send_buffer(zmq::socket_t& socket, const std::string& address) {
  constexpr int bytes = 512 << 10;
  if (address.starts_with("tcp://") && stays_here(address)) socket.set(zmq::sockopt::sndbuf, bytes);
}

}  // namespace rubato
