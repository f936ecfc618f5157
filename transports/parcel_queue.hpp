// ParcelQueue: parcels that wait to leave for one host, in order, bounded in bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>

#include "transports/transport.hpp"

namespace rubato {

/// A full queue treats a parcel as its WhenFull says. Control is taken up to twice the limit. One thread at a time.
class ParcelQueue {
 public:
  /// What a parcel costs besides its bytes: its places in lists. So empty ones have a limit, too.
  static constexpr std::size_t overhead = 256;

  struct Outcome {
    bool is_taken;
    std::uint64_t dropped_states = 0;  ///< how many made room
    bool gave_way = false;             ///< not taken, because another waits
  };

  explicit ParcelQueue(std::size_t limit_bytes) : limit_{limit_bytes} {}

  Outcome put(Parcel parcel);
  /// The oldest; there must be one.
  Parcel take();
  void clear();

  bool is_empty() const { return parcels_.empty(); }
  std::size_t size() const { return parcels_.size(); }
  /// Of all that waits, with the overhead.
  std::size_t bytes() const { return bytes_; }

 private:
  static std::size_t cost(const Parcel& parcel) { return parcel.bytes() + overhead; }
  bool has_room(std::size_t cost, std::size_t taken, std::size_t limit) const;
  void drop_oldest_state();

  std::size_t limit_;
  std::list<Parcel> parcels_;
  std::deque<std::list<Parcel>::iterator> states_;  // those that may be dropped, oldest first
  std::size_t bytes_ = 0;
  std::size_t state_bytes_ = 0;
};

}  // namespace rubato
