#include "transports/zmq_watch.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

namespace rubato {

namespace {

constexpr const char* endpoint = "inproc://rubato.watch";
constexpr int watched_events =
    ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL;

// What ZeroMQ and CURVE add to a part of a message at most; also more than the heartbeats between two patrols.
constexpr std::uint64_t part_overhead = 64;

struct Happening {
  std::uint16_t event = 0;
  std::uint32_t value = 0;  // for a connection its descriptor
};

std::optional<Happening> next_happening(zmq::socket_t& events) {
  zmq::message_t what, where;
  if (!events.recv(what, zmq::recv_flags::dontwait)) return {};
  if (what.more()) static_cast<void>(events.recv(where, zmq::recv_flags::dontwait));
  Happening happening;
  if (what.size() < sizeof happening.event + sizeof happening.value) return happening;
  std::memcpy(&happening.event, what.data(), sizeof happening.event);
  std::memcpy(&happening.value, what.data<char>() + sizeof happening.event, sizeof happening.value);
  return happening;
}

// Of a tcp connection; nothing for others.
std::optional<tcp_info> facts_of(int descriptor) {
  tcp_info facts{};
  socklen_t size = sizeof facts;
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &facts, &size) != 0) return {};
  return facts;
}

// Of the other end of a tcp connection, without its port; empty for others.
std::string address_of(int descriptor) {
  sockaddr_storage where{};
  socklen_t size = sizeof where;
  if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&where), &size) != 0) return "";
  char text[INET6_ADDRSTRLEN] = "";
  if (where.ss_family == AF_INET) inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(where).sin_addr, text, sizeof text);
  if (where.ss_family == AF_INET6) inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6&>(where).sin6_addr, text, sizeof text);
  return text;
}

}  // namespace

ZmqWatch::ZmqWatch(zmq::context_t& context, zmq::socket_t& watched, const Limits& limits)
    : limits_{limits}, events_{context, zmq::socket_type::pair} {
  if (zmq_socket_monitor(watched.handle(), endpoint, watched_events) != 0) throw zmq::error_t();
  events_.set(zmq::sockopt::linger, 0);
  events_.set(zmq::sockopt::rcvhwm, 0);  // one small message a connection, read often
  events_.connect(endpoint);
}

ZmqWatch::~ZmqWatch() {
  for (const Connection& connection : connections_)
    if (connection.copy >= 0) close(connection.copy);
}

void ZmqWatch::listen() {
  while (const auto happening = next_happening(events_)) {
    const auto descriptor = static_cast<int>(happening->value);
    if (happening->event == ZMQ_EVENT_ACCEPTED) {
      on_accepted(descriptor);
    } else if (happening->event == ZMQ_EVENT_DISCONNECTED) {
      on_ended(descriptor);
    } else {
      ++unexplained_failures_;
    }
  }
}

ZmqWatch::Connections::iterator ZmqWatch::find(int descriptor) {
  return std::ranges::find(connections_, descriptor, &Connection::descriptor);
}

void ZmqWatch::on_accepted(int descriptor) {
  on_ended(descriptor);  // should its end have been missed
  const int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  connections_.push_back({.descriptor = descriptor, .copy = copy, .address = address_of(copy)});
  make_room();
}

void ZmqWatch::make_room() {
  if (connections_.size() <= limits_.connections) return;
  const auto is_open = [](const Connection& connection) { return !connection.is_shut; };
  if (static_cast<std::size_t>(std::ranges::count_if(connections_, is_open)) <= limits_.connections) return;
  auto victim = std::ranges::find_if(connections_, [&](const Connection& c) { return is_open(c) && !c.is_heard; });
  if (victim == connections_.end()) victim = std::ranges::find_if(connections_, is_open);
  shut(*victim, counts_.crowded_out);
}

void ZmqWatch::shut(Connection& connection, std::uint64_t& count) {
  shutdown(connection.copy, SHUT_RDWR);
  connection.is_shut = true;
  ++count;
}

void ZmqWatch::on_ended(int descriptor) {
  const auto connection = find(descriptor);
  if (connection == connections_.end()) return;
  if (unexplained_failures_ > 0) {
    --unexplained_failures_;
    ++counts_.failed_handshakes;
    if (!connection->address.empty()) failed_address_ = connection->address;
  } else if (!connection->is_shut && was_cut_by_us(*connection)) {
    ++counts_.broke_protocol;
  }
  if (connection->copy >= 0) close(connection->copy);
  connections_.erase(connection);
}

// ZeroMQ has closed it; had the other side done so, or died in silence, that would show. One that was closed before we
// could look said something bad at once: whoever just leaves fails the handshake.
bool ZmqWatch::was_cut_by_us(const Connection& connection) const {
  if (connection.copy < 0) return true;
  char byte = 0;
  const ssize_t peeked = recv(connection.copy, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (peeked == 0 || (peeked < 0 && errno != EAGAIN && errno != EWOULDBLOCK)) return false;
  const auto facts = facts_of(connection.copy);
  return !facts || facts->tcpi_last_data_recv * std::chrono::milliseconds(1) < limits_.silence / 2;
}

void ZmqWatch::credit(zmq::message_t& message, std::size_t parts, std::size_t bytes) {
  const auto connection = find(zmq_msg_get(message.handle(), ZMQ_SRCFD));
  if (connection == connections_.end()) return;
  connection->is_heard = true;
  connection->given += bytes + parts * part_overhead;
}

void ZmqWatch::patrol() {
  for (Connection& connection : connections_) {
    const auto facts = connection.is_shut ? std::nullopt : facts_of(connection.copy);
    if (!facts) continue;
    const std::uint64_t sent = facts->tcpi_bytes_received;
    connection.given = std::min(connection.given + part_overhead, sent);  // nobody saves up for later
    if (sent - connection.given > limits_.unread_bytes) shut(connection, counts_.overfull);
  }
}

}  // namespace rubato
