// Addresses of hosts, as ZeroMQ writes them: which we accept, and which stay on this machine.
#pragma once

#include <string>

namespace rubato {

/// Throws std::invalid_argument, with `what` it is the address of, unless it is tcp://HOST:PORT or ipc://PATH. Where one
/// listens (`is_bound`) HOST may be * and PORT 0 or *.
void check_address(const std::string& address, const std::string& what, bool is_bound);

/// True for ipc and for tcp to 127.0.0.0/8, ::1 or localhost: nobody outside of this machine can listen in.
bool stays_here(const std::string& address);

/// True for tcp://[...]:PORT.
bool is_ipv6(const std::string& address);

}  // namespace rubato
