// Addresses of hosts, as ZeroMQ writes them: which we accept, and which stay on this machine.
#pragma once

#include <string>

namespace rubato {

/// What the address must be, if it is not tcp://HOST:PORT or ipc://PATH; else nothing. Where one listens (`is_bound`)
/// HOST may be * and PORT 0 or *.
std::string address_fault(const std::string& address, bool is_bound);

/// Throws std::invalid_argument, with `what` it is the address of, where that has a fault.
void check_address(const std::string& address, const std::string& what, bool is_bound);

/// True for ipc and for tcp to 127.0.0.0/8, ::1 or localhost: nobody outside of this machine can listen in.
bool stays_here(const std::string& address);

/// True for tcp://[...]:PORT.
bool is_ipv6(const std::string& address);

}  // namespace rubato
