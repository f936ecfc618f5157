#include "transports/zmq_address.hpp"

#include <arpa/inet.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "runtime/number_from.hpp"

namespace rubato {

namespace {

constexpr std::string_view tcp = "tcp://", ipc = "ipc://";

struct HostAndPort {
  std::string host;  // without the brackets of IPv6
  std::string port;
};

HostAndPort parts_of(std::string_view address) {
  address.remove_prefix(tcp.size());
  const auto colon = address.rfind(':');
  if (colon == std::string_view::npos) return {};
  std::string_view host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return {std::string(host), std::string(address.substr(colon + 1))};
}

bool is_port(const std::string& text, bool is_bound) {
  if (is_bound && text == "*") return true;
  const auto port = number_from<std::uint16_t>(text);
  return port && (*port > 0 || is_bound);
}

bool is_host(const std::string& text, bool is_bound) {
  if (text == "*") return is_bound;
  const auto fits = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-' || c == '_' ||
           c == ':' || c == '%';
  };
  return !text.empty() && std::ranges::all_of(text, fits);
}

bool is_address(const std::string& address, bool is_bound) {
  if (address.starts_with(ipc)) return address.size() > ipc.size() && address.size() - ipc.size() < sizeof(sockaddr_un::sun_path);
  if (!address.starts_with(tcp)) return false;
  const HostAndPort parts = parts_of(address);
  return is_host(parts.host, is_bound) && is_port(parts.port, is_bound);
}

}  // namespace

std::string address_fault(const std::string& address, bool is_bound) {
  if (is_address(address, is_bound)) return "";
  return std::string("must be tcp://HOST:PORT or ipc://PATH") + (is_bound ? " (HOST may be *, PORT 0)" : "") +
         "; a port is 1 to 65535, a path has at most " + std::to_string(sizeof(sockaddr_un::sun_path) - 1) + " characters";
}

void check_address(const std::string& address, const std::string& what, bool is_bound) {
  if (const std::string fault = address_fault(address, is_bound); !fault.empty())
    throw std::invalid_argument("the address of " + what + ", \"" + address + "\", " + fault);
}

bool stays_here(const std::string& address) {
  if (address.starts_with(ipc)) return true;
  if (!address.starts_with(tcp)) return false;
  const std::string host = parts_of(address).host;
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  return host == "localhost" || host == "::1";
}

std::string source_of(const std::string& ip) {
  const std::string text = ip.substr(0, ip.find('%'));  // without the interface
  in_addr v4{};
  if (inet_pton(AF_INET, text.c_str(), &v4) == 1) return text;
  in6_addr v6{};
  if (inet_pton(AF_INET6, text.c_str(), &v6) != 1) return "";
  std::array<char, INET6_ADDRSTRLEN> source{};
  if (IN6_IS_ADDR_V4MAPPED(&v6)) {
    std::memcpy(&v4, v6.s6_addr + 12, sizeof v4);
    return inet_ntop(AF_INET, &v4, source.data(), source.size());
  }
  std::memset(v6.s6_addr + 8, 0, 8);
  return inet_ntop(AF_INET6, &v6, source.data(), source.size());
}

std::vector<std::string> sources_of(const std::string& address) {
  if (address.starts_with(ipc)) return {""};
  if (!address.starts_with(tcp)) return {};
  const std::string host = parts_of(address).host;
  if (host == "localhost") return {source_of("127.0.0.1"), source_of("::1")};
  const std::string source = source_of(host);
  const bool is_any = source == "0.0.0.0" || host.find_first_not_of("0:") == std::string::npos;
  return source.empty() || is_any ? std::vector<std::string>{} : std::vector{source};
}

bool is_ipv6(const std::string& address) { return address.starts_with("tcp://["); }

}  // namespace rubato
