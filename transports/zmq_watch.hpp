// ZmqWatch: looks after the connections that others opened to us: how many there are, what they send without our having
// got it, and why they end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <zmq.hpp>

#include "runtime/time.hpp"
#include "transports/connection_room.hpp"

namespace rubato {

/// ZeroMQ bounds what waits for us as whole messages; a stranger that opens connections by the hundred or never ends a
/// message is bounded here, by shutting down its connection. One thread at a time.
class ZmqWatch {
 public:
  struct Limits {
    ConnectionRoom::Limits room;        ///< beyond, one of the address with the most that shake hands is shut down
    std::size_t least_connections = 0;  ///< that are kept even where descriptors run out
    std::size_t unread_bytes = 0;       ///< that a connection may have sent beyond what we were given (tcp)
    Duration silence{};                 ///< how long a dead connection was silent before ZeroMQ gave it up
  };
  /// Descriptors that are left to the rest of the program: for files, and for what others of its threads open.
  static constexpr std::size_t spare_descriptors = 64;

  struct Counts {
    std::uint64_t failed_handshakes = 0;
    std::uint64_t broke_protocol = 0;  ///< cut by ZeroMQ: an oversized or meaningless message
    std::uint64_t crowded_out = 0;     ///< shut down while shaking hands: too many connections
    std::uint64_t overfull = 0;        ///< shut down: too many bytes unread
  };

  /// Watches this socket, which is not bound yet.
  ZmqWatch(zmq::context_t& context, zmq::socket_t& watched, const Limits& limits);
  ~ZmqWatch();
  ZmqWatch(const ZmqWatch&) = delete;
  ZmqWatch& operator=(const ZmqWatch&) = delete;

  zmq::socket_t& socket() { return events_; }
  /// A host of the roster connects from this source (source_of).
  void trust(const std::string& source) { room_.trust(source); }
  /// Hears what has happened.
  void listen();
  /// We were given a message that begins with this part, of so many parts and bytes.
  void credit(zmq::message_t& message, std::size_t parts, std::size_t bytes);
  /// It was of this host; `is_shown`: by its key, so that its address is one of the roster from now on.
  void hear(zmq::message_t& message, HostId host, bool is_shown);
  /// Shuts down connections that sent too much. Cheap; some tens of times a second.
  void patrol();

  const Counts& counts() const { return counts_; }
  /// Where a handshake that failed came from, the last one of which it is known; else empty.
  const std::string& failed_address() const { return failed_address_; }
  /// Where the last connection came from that was crowded out; empty over ipc.
  const std::string& crowded_address() const { return crowded_address_; }

 private:
  struct Connection {
    int descriptor = -1;    // ZeroMQ's name for it
    int copy = -1;          // our own, so that no other file can get the number; -1: it was gone, or none was left
    std::string address{};  // from which it was opened; empty over ipc
    bool is_heard = false;
    bool is_shut = false;
    std::uint64_t given = 0;  // bytes of it that we got, with what ZeroMQ adds
  };

  void on_accepted(int descriptor);
  void on_ended(int descriptor);
  void make_room(bool is_short);
  void shut(Connection& connection);
  bool was_cut_by_us(const Connection& connection) const;
  Connection* find(int descriptor);

  Limits limits_;
  zmq::socket_t events_;
  std::unordered_map<int, Connection> connections_;  // by descriptor
  ConnectionRoom room_;                              // for those that are not shut
  std::uint64_t unexplained_failures_ = 0;           // failed handshakes whose end has not come yet
  Counts counts_;
  std::string failed_address_;
  std::string crowded_address_;
};

}  // namespace rubato
