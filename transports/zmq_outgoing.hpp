// ZmqOutgoing: the way from here to one other host: a queue that any thread fills, and the socket that empties it.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <zmq.hpp>

#include "transports/frame.hpp"
#include "transports/parcel_queue.hpp"

namespace rubato {

/// Everything but put() and has_waiting() belongs to the socket's thread.
class ZmqOutgoing {
 public:
  struct Limits {
    FrameLimits frame;
    std::size_t queue_bytes = 0;
    std::size_t flight_bytes = 0;  ///< tensor bytes that ZeroMQ may hold
  };

  /// The socket is set up and not yet connected. `sums` is shared by the ways of one thread; null: whatever is
  /// sent is authenticated and needs no checksum. `on_room`: called on ZeroMQ's thread when it has let go of bytes that
  /// were waited for.
  ZmqOutgoing(zmq::socket_t socket, Envelope envelope, const Limits& limits, KnownSums* sums, std::function<void()> on_room);

  /// Any thread.
  ParcelQueue::Outcome put(Parcel parcel);
  /// Any thread. Nothing waits: all was handed to ZeroMQ.
  bool has_waiting() const { return waiting_.load() > 0; }

  /// An address on this machine needs no checksums: what arrives was copied by the kernel.
  void connect(const std::string& address);
  zmq::socket_t& socket() { return socket_; }

  /// Hands frames to ZeroMQ, `most` at a time, until it takes no more or none waits. True: it took some.
  bool pump(int most);
  /// There is something to send, and as far as we know ZeroMQ takes it.
  bool can_pump() const { return has_waiting() && !is_blocked_ && has_room(); }
  /// There is something to send and the socket does not take it: wait until it can be written.
  bool is_blocked() const { return is_blocked_; }
  /// Lets ZeroMQ look after a socket that is not used.
  void attend() { static_cast<void>(socket_.get(zmq::sockopt::events)); }
  /// Once; nothing is taken any more, and what waits here is given up. What ZeroMQ has may take this long to leave.
  void close(std::chrono::milliseconds linger);

 private:
  struct Loan;

  bool send_frame();
  void send_slice(const TensorSlice& slice, bool has_more);
  bool has_room() const { return in_flight_.load() < limits_.flight_bytes; }
  bool take_next();
  void finish_parcel();
  void give_back(std::size_t bytes);

  zmq::socket_t socket_;
  Envelope envelope_;
  Limits limits_;
  KnownSums* sums_;  // null: this way needs none
  std::function<void()> on_room_;

  std::mutex mutex_;
  ParcelQueue queue_;
  bool is_closed_ = false;
  std::atomic<std::size_t> waiting_{0};  // parcels in the queue, and the one that is leaving

  std::optional<Parcel> leaving_;
  std::size_t left_bytes_ = 0;  // of the leaving parcel
  WrittenFrame frame_;
  bool is_written_ = false;  // frame_ is the next to go
  bool is_blocked_ = false;
  std::atomic<std::size_t> in_flight_{0};
};

}  // namespace rubato
