// ZmqGatekeeper: decides which peers may connect: answers ZeroMQ's authentication requests from the list of known keys.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "runtime/ids.hpp"

namespace rubato {

/// The ZAP handler of one context (RFC 27). Make it before any socket that asks it; use it on one thread.
class ZmqGatekeeper {
 public:
  /// What the asking sockets set as ZMQ_ZAP_DOMAIN.
  static constexpr const char* domain = "rubato";

  /// The public keys of all hosts as Z85 text, in their order; empty: plain text, any peer may connect.
  ZmqGatekeeper(zmq::context_t& context, const std::vector<std::string>& public_keys);

  zmq::socket_t& socket() { return socket_; }
  /// Answers all requests that wait.
  void answer();
  /// Connections refused for their key or mechanism.
  std::uint64_t refused() const { return refused_; }
  /// Where the last of them came from; empty if that is not known.
  const std::string& refused_address() const { return refused_address_; }

  /// Whose connection brought this message; nothing where connections are plain text.
  static std::optional<HostId> sender_of(zmq::message_t& message);

 private:
  using Key = std::array<std::uint8_t, 32>;

  void answer(const std::vector<zmq::message_t>& request);
  std::optional<std::string> user_of(const std::vector<zmq::message_t>& request) const;

  zmq::socket_t socket_;
  std::map<Key, HostId> known_;
  std::uint64_t refused_ = 0;
  std::string refused_address_;
};

}  // namespace rubato
