// Events in their one order: (time, priority, client, source, sequence).
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/mailbox.hpp"
#include "runtime/time.hpp"

namespace rubato {

/// What happens at one instant happens in this order.
enum class Priority : std::uint8_t { period, unify, arrival, window_close, compute, transmit, deadline, evaluate };

/// Anything but an arrival: a tick, a window that closes, a date of the world. `detail` tells several timers of one
/// client apart (its k-th link, the k-th repetition).
struct Wake {
  Time at{};
  Priority priority{};
  ClientId client{};
  std::uint32_t detail = 0;
};

/// A message under way: as it will be at its receiver.
struct Flight : Arrival {
  ClientId receiver{};
};

/// Events of equal time and priority go by client, then source, then sequence. Pushing and popping allocate nothing
/// once the queue has seen its greatest length.
class EventQueue {
 public:
  /// `clients` wakes are expected. With `flights_keep_order` messages must be pushed with times that never decrease:
  /// all links then share one delay, and a message costs no search.
  /// `flights_by_exchange`: messages of one instant, receiver and sender go by the exchange that their tags name, and those of
  /// one exchange as they were pushed; else by sequence.
  EventQueue(std::size_t wakes, bool flights_keep_order, bool flights_by_exchange = false);

  enum class Kind : std::uint8_t { none, wake, flight, closing };

  /// What comes first; none if the queue is empty. The calls below speak of it until the next push or pop.
  Kind first();
  Time first_time() const { return Time{Duration{first_at_}}; }

  Wake first_wake() const { return unpack(wakes_.front()); }
  const Flight& first_flight() const { return in_order_ ? lane_.front() : pool_[heap_.front().index]; }
  Wake first_closing() const { return closings_.front(); }

  void push(const Wake& wake);
  void push(const Flight& flight);
  /// A window that closes; times must not decrease from call to call, because all windows are equally long.
  void push_closing(const Wake& wake);

  /// Calls see(wake) for every wake of this instant, which must not be later than the first; in no order.
  template <class See>
  void see_wakes_at(Time at, See see) const {
    see_wakes(0, at.time_since_epoch().count(), see);
  }

  void pop_wake();
  /// Forgets the client's ticks, and its deadlines too unless `keeps_deadlines`. Looks at every wake.
  void drop_wakes(ClientId client, bool keeps_deadlines);
  /// The first wake was a timer whose next tick is this: one descent instead of two.
  void replace_wake(const Wake& wake);
  void pop_flight();
  void pop_closing();

  std::size_t flights() const { return in_order_ ? lane_.size() : heap_.size(); }

 private:
  struct Packed {
    std::int64_t at;
    std::uint64_t rank;  // priority, client, detail
    friend bool operator<(const Packed& a, const Packed& b) { return a.at != b.at ? a.at < b.at : a.rank < b.rank; }
  };
  struct HeapFlight {
    std::int64_t at;
    std::uint32_t receiver;
    std::uint32_t index;  // into pool_
  };

  // A ring that grows and never shrinks; insertion walks back from the end, past later events of the same instant.
  template <class Event>
  class Lane {
   public:
    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }
    const Event& front() const { return ring_[head_]; }
    void pop() {
      head_ = (head_ + 1) & (ring_.size() - 1);
      --size_;
    }
    template <class Before>
    void insert(const Event& event, Before before) {
      if (size_ == ring_.size()) grow();
      const std::size_t mask = ring_.size() - 1;
      std::size_t hole = (head_ + size_++) & mask;
      while (hole != head_) {
        const std::size_t previous = (hole - 1) & mask;
        if (!before(event, ring_[previous])) break;
        ring_[hole] = ring_[previous];
        hole = previous;
      }
      ring_[hole] = event;
    }

   private:
    void grow() {
      std::vector<Event> larger(ring_.empty() ? 64 : 2 * ring_.size());
      for (std::size_t i = 0; i < size_; ++i) larger[i] = ring_[(head_ + i) & (ring_.size() - 1)];
      ring_.swap(larger);
      head_ = 0;
    }
    std::vector<Event> ring_;
    std::size_t head_ = 0;
    std::size_t size_ = 0;
  };

  template <class See>
  void see_wakes(std::size_t node, std::int64_t at, See& see) const {
    if (node >= wakes_.size() || wakes_[node].at > at) return;  // whatever lies below is later still
    see(unpack(wakes_[node]));
    for (std::size_t child = 4 * node + 1; child <= 4 * node + 4; ++child) see_wakes(child, at, see);
  }

  static Packed pack(const Wake& wake);
  static Wake unpack(const Packed& packed);
  bool flight_before(const HeapFlight& a, const HeapFlight& b) const;
  bool is_earlier(const Flight& a, const Flight& b) const;
  void sink_wake(Packed packed, std::size_t size);

  std::vector<Packed> wakes_;  // a heap of four children a node: one cache line each
  bool in_order_;
  bool by_exchange_;
  std::uint64_t pushed_ = 0;            // flights, by exchange
  std::vector<std::uint64_t> numbers_;  // beside pool_, by exchange
  Lane<Flight> lane_;
  std::vector<HeapFlight> heap_;
  std::vector<Flight> pool_;
  std::vector<std::uint32_t> free_;
  Lane<Wake> closings_;
  Kind first_ = Kind::none;
  std::int64_t first_at_ = 0;
};

}  // namespace rubato
