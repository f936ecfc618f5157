// Addresses of hosts, as ZeroMQ writes them: which we accept, and which stay on this machine.
#pragma once

#include <string>
#include <vector>

namespace rubato {

/// What the address must be, if it is not tcp://HOST:PORT or ipc://PATH; else nothing. Where one listens (`is_bound`)
/// HOST may be * and PORT 0 or *.
std::string address_fault(const std::string& address, bool is_bound);

/// Throws std::invalid_argument, with `what` it is the address of, where that has a fault.
void check_address(const std::string& address, const std::string& what, bool is_bound);

/// True for ipc and for tcp to 127.0.0.0/8, ::1 or localhost: no other machine can listen in.
bool stays_here(const std::string& address);

/// What connections from this IP address have in common for one stranger: an IPv4 address (as IPv6, too), or the first
/// half of an IPv6 one, whose other half a network may choose at will. Empty where the text is no IP address.
std::string source_of(const std::string& ip);

/// The sources that a host with this address may connect from, as far as it says: none for names but localhost, and for
/// 0.0.0.0, which stands for any. Over ipc there is one, which is empty.
std::vector<std::string> sources_of(const std::string& address);

/// True for tcp://[...]:PORT.
bool is_ipv6(const std::string& address);

}  // namespace rubato
