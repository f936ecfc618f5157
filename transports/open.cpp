#include "transports/open.hpp"

#include <stdexcept>
#include <utility>

#include "transports/descriptors.hpp"
#include "transports/zmq_transport.hpp"

namespace rubato {

OpenTransport open_transport(TransportOptions options, TensorPool& pool) {
  const std::string& address = options.hosts.at(options.self.value).address;
  if (address.starts_with("tcp://") || address.starts_with("ipc://")) {
    raise_descriptor_limit();
    auto sockets = std::make_unique<ZmqTransport>(std::move(options), pool);
    std::string warning = sockets->warning();
    return {std::move(sockets), std::move(warning)};
  }
  throw std::invalid_argument("no transport carries \"" + address + "\"; tcp://HOST:PORT and ipc://PATH can be carried");
}

}  // namespace rubato
