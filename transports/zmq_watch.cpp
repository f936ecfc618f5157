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
#include <random>

#include "transports/descriptors.hpp"
#include "transports/zmq_address.hpp"

namespace rubato {

namespace {

constexpr const char* watch_endpoint = "inproc://rubato.watch";
constexpr int watched_events =
    ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL;

// What ZeroMQ and CURVE add to a part of a message at most.
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

// Strangers must not be able to guess which connection goes.
std::uint64_t secret_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

// How far a tcp connection has come: silent, the greeting, more. Bytes beyond say nothing: they are cheap.
std::size_t progress_of(int descriptor) {
  constexpr std::uint64_t greeting_bytes = 64;
  const auto facts = facts_of(descriptor);
  if (!facts || facts->tcpi_bytes_received == 0) return 0;
  return facts->tcpi_bytes_received <= greeting_bytes ? 1 : 2;
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
    : limits_{limits}, events_{context, zmq::socket_type::pair}, room_{limits.room, secret_seed()} {
  if (zmq_socket_monitor(watched.handle(), watch_endpoint, watched_events) != 0) throw zmq::error_t();
  events_.set(zmq::sockopt::linger, 0);
  events_.set(zmq::sockopt::rcvhwm, 0);  // one small message a connection, read often
  events_.connect(watch_endpoint);
}

ZmqWatch::~ZmqWatch() {
  for (const auto& [descriptor, connection] : connections_)
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

ZmqWatch::Connection* ZmqWatch::find(int descriptor) {
  const auto found = connections_.find(descriptor);
  return found == connections_.end() ? nullptr : &found->second;
}

void ZmqWatch::on_accepted(int descriptor) {
  on_ended(descriptor);  // should its end have been missed
  const int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  const bool is_short = copy < 0 ? errno == EMFILE : static_cast<std::size_t>(copy) + spare_descriptors >= descriptor_limit();
  const std::string address = address_of(copy < 0 ? descriptor : copy);
  connections_[descriptor] = {.descriptor = descriptor, .copy = copy, .address = address};
  room_.open(descriptor, source_of(address));
  make_room(is_short);
}

// Where descriptors run out, two go for each that comes.
void ZmqWatch::make_room(bool is_short) {
  const std::size_t open = room_.size(), usual = limits_.room.connections;
  const std::size_t wanted = is_short ? std::max(open > 2 ? open - 2 : 0, limits_.least_connections) : usual;
  const auto progress = [this](int descriptor) { return progress_of(connections_.at(descriptor).copy); };
  while (const auto victim = room_.crowded(progress, usual - std::min(wanted, usual))) {
    Connection& connection = connections_.at(*victim);
    shut(connection);
    ++counts_.crowded_out;
    crowded_address_ = connection.address;
  }
}

// Without a copy the number may be another connection's by now, which then is opened again.
void ZmqWatch::shut(Connection& connection) {
  shutdown(connection.copy < 0 ? connection.descriptor : connection.copy, SHUT_RDWR);
  connection.is_shut = true;
  room_.close(connection.descriptor);
}

void ZmqWatch::on_ended(int descriptor) {
  const Connection* const connection = find(descriptor);
  if (!connection) return;
  if (unexplained_failures_ > 0) {
    --unexplained_failures_;
    if (!connection->is_shut) {
      ++counts_.failed_handshakes;
      if (!connection->address.empty()) failed_address_ = connection->address;
    }
  } else if (!connection->is_shut && was_cut_by_us(*connection)) {
    ++counts_.broke_protocol;
  }
  if (connection->copy >= 0) close(connection->copy);
  room_.close(descriptor);
  connections_.erase(descriptor);
}

// ZeroMQ has closed it; had the other side done so, or died in silence, that would show. One that was closed before we
// could look said something bad at once: a peer that just leaves fails the handshake.
bool ZmqWatch::was_cut_by_us(const Connection& connection) const {
  if (connection.copy < 0) return true;
  char byte = 0;
  const ssize_t peeked = recv(connection.copy, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (peeked == 0 || (peeked < 0 && errno != EAGAIN && errno != EWOULDBLOCK)) return false;
  const auto facts = facts_of(connection.copy);
  return !facts || facts->tcpi_last_data_recv * std::chrono::milliseconds(1) < limits_.silence / 2;
}

void ZmqWatch::credit(zmq::message_t& message, std::size_t parts, std::size_t bytes) {
  if (Connection* const connection = find(zmq_msg_get(message.handle(), ZMQ_SRCFD)))
    connection->given += bytes + parts * part_overhead;
}

void ZmqWatch::hear(zmq::message_t& message, HostId host, bool is_shown) {
  Connection* const connection = find(zmq_msg_get(message.handle(), ZMQ_SRCFD));
  if (!connection || connection->is_heard || connection->is_shut) return;
  // What waited for us may be of an earlier connection, whose number went to a stranger.
  const char* const address = zmq_msg_gets(message.handle(), "Peer-Address");
  const std::string source = source_of(connection->address);
  if (!source.empty() && (!address || source_of(address) != source)) return;
  connection->is_heard = true;
  if (is_shown) room_.trust(source);
  if (const auto oldest = room_.hear(connection->descriptor, host)) shut(connections_.at(*oldest));
}

void ZmqWatch::patrol() {
  for (auto& [descriptor, connection] : connections_) {
    const auto facts = connection.is_shut ? std::nullopt : facts_of(connection.copy);
    if (!facts) continue;
    const std::uint64_t sent = facts->tcpi_bytes_received;
    connection.given = std::min(connection.given + part_overhead, sent);  // no connection saves up for later
    if (sent - connection.given <= limits_.unread_bytes) continue;
    shut(connection);
    ++counts_.overfull;
  }
}

}  // namespace rubato
