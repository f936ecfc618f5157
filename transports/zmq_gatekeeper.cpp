#include "transports/zmq_gatekeeper.hpp"

#include <charconv>
#include <cstring>

namespace rubato {

namespace {

constexpr const char* endpoint = "inproc://zeromq.zap.01";

// Where the parts of a request stand.
enum RequestPart : std::size_t { version, request_id, domain_asked, address, routing_id, mechanism, credentials };

std::vector<zmq::message_t> all_parts(zmq::socket_t& socket) {
  std::vector<zmq::message_t> parts;
  zmq::message_t part;
  while (socket.recv(part, zmq::recv_flags::dontwait)) {
    const bool has_more = part.more();
    parts.push_back(std::move(part));
    if (!has_more) break;
    part.rebuild();
  }
  return parts;
}

}  // namespace

ZmqGatekeeper::ZmqGatekeeper(zmq::context_t& context, const std::vector<std::string>& public_keys)
    : socket_{context, zmq::socket_type::rep} {
  socket_.set(zmq::sockopt::linger, 0);
  socket_.bind(endpoint);
  for (std::uint32_t host = 0; host < public_keys.size(); ++host) {
    Key key;
    zmq_z85_decode(key.data(), public_keys[host].c_str());
    known_.emplace(key, HostId{host});
  }
}

void ZmqGatekeeper::answer() {
  for (auto request = all_parts(socket_); !request.empty(); request = all_parts(socket_)) answer(request);
}

void ZmqGatekeeper::answer(const std::vector<zmq::message_t>& request) {
  const auto user = user_of(request);
  if (!user) {
    ++refused_;
    refused_address_ = request.size() > address ? request[address].to_string() : "";
  }
  const std::string id = request.size() > request_id ? request[request_id].to_string() : "";
  const std::array<std::string, 6> reply{"1.0", id, user ? "200" : "400", user ? "OK" : "not in the roster", user.value_or(""), ""};
  for (std::size_t i = 0; i < reply.size(); ++i)
    socket_.send(zmq::buffer(reply[i]), i + 1 < reply.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
}

std::optional<std::string> ZmqGatekeeper::user_of(const std::vector<zmq::message_t>& request) const {
  if (request.size() <= mechanism || request[version].to_string_view() != "1.0") return {};
  if (known_.empty()) return request[mechanism].to_string_view() == "NULL" ? std::optional(std::string()) : std::nullopt;
  if (request[mechanism].to_string_view() != "CURVE" || request.size() != credentials + 1) return {};
  Key key;
  if (request[credentials].size() != key.size()) return {};
  std::memcpy(key.data(), request[credentials].data(), key.size());
  const auto found = known_.find(key);
  return found == known_.end() ? std::nullopt : std::optional(std::to_string(found->second.value));
}

std::optional<HostId> ZmqGatekeeper::sender_of(zmq::message_t& message) {
  const char* const user = zmq_msg_gets(message.handle(), "User-Id");
  if (!user) return {};
  HostId host;
  const char* const end = user + std::strlen(user);
  return std::from_chars(user, end, host.value).ec == std::errc{} ? std::optional(host) : std::nullopt;
}

}  // namespace rubato
