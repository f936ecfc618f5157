#include "transports/open.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "transports/descriptors.hpp"
#include "transports/zmq_address.hpp"
#include "transports/zmq_transport.hpp"

namespace rubato {

namespace {

std::vector<const OwnTransport*>& known_transports() {
  static std::vector<const OwnTransport*> known;
  return known;
}

constexpr std::string_view carried_by_zmq[] = {"tcp", "ipc"};

bool has_scheme(std::string_view address, std::string_view scheme) {
  return address.starts_with(scheme) && address.substr(scheme.size()).starts_with("://");
}

const OwnTransport* own_transport_of(std::string_view address) {
  const auto& known = known_transports();
  const auto found = std::ranges::find_if(known, [&](const OwnTransport* own) { return has_scheme(address, own->scheme); });
  return found == known.end() ? nullptr : *found;
}

std::string carried() {
  std::string schemes = "tcp://HOST:PORT and ipc://PATH";
  for (const OwnTransport* own : known_transports()) schemes += ", " + std::string(own->scheme) + "://...";
  return schemes;
}

}  // namespace

void extend_transports(std::span<const OwnTransport* const> own) {
  for (const OwnTransport* each : own) {
    const std::string name = "the transport of " + std::string(each->scheme) + "://";
    if (each->scheme.empty() || each->scheme.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789") != each->scheme.npos)
      throw std::invalid_argument(name + " has a scheme that is no word of small letters and digits");
    const bool is_taken = std::ranges::find(carried_by_zmq, each->scheme) != std::end(carried_by_zmq) ||
                          std::ranges::find(known_transports(), each->scheme, &OwnTransport::scheme) != known_transports().end();
    if (is_taken) throw std::invalid_argument(name + " is there already");
    if (!each->open) throw std::invalid_argument(name + " has no function that opens it");
    known_transports().push_back(each);
  }
}

std::string roster_address_fault(const std::string& address, bool is_bound) {
  return own_transport_of(address) ? "" : address_fault(address, is_bound);
}

OpenTransport open_transport(TransportOptions options, TensorPool& pool) {
  const std::string& address = options.hosts.at(options.self.value).address;
  if (const OwnTransport* own = own_transport_of(address)) {
    std::vector<std::string> addresses;
    for (const TransportHost& host : options.hosts) addresses.push_back(host.address);
    return {own->open(options.self, addresses, pool), {}};
  }
  if (std::ranges::any_of(carried_by_zmq, [&](std::string_view scheme) { return has_scheme(address, scheme); })) {
    raise_descriptor_limit();
    auto sockets = ZmqTransport::open(std::move(options), pool);
    std::string warning = sockets->warning();
    return {std::move(sockets), std::move(warning)};
  }
  throw std::invalid_argument("no transport carries \"" + address + "\"; " + carried() + " can be carried");
}

}  // namespace rubato
