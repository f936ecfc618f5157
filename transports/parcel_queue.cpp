#include "transports/parcel_queue.hpp"

#include <iterator>
#include <utility>

namespace rubato {

bool ParcelQueue::has_room(std::size_t cost, std::size_t taken, std::size_t limit) const {
  return cost <= limit && taken <= limit - cost;
}

ParcelQueue::Outcome ParcelQueue::put(Parcel parcel) {
  if (parcel.when_full == WhenFull::give_way && !is_empty()) return {.is_taken = false, .gave_way = true};
  const std::size_t own = cost(parcel);
  const bool is_state = parcel.when_full == WhenFull::drop_oldest;
  const std::size_t limit = parcel.when_full == WhenFull::wait ? 2 * limit_ : limit_;
  if (!has_room(own, is_state ? bytes_ - state_bytes_ : bytes_, limit)) return {.is_taken = false};
  std::uint64_t dropped = 0;
  for (; !has_room(own, bytes_, limit); ++dropped) drop_oldest_state();
  parcels_.push_back(std::move(parcel));
  bytes_ += own;
  if (is_state) {
    states_.push_back(std::prev(parcels_.end()));
    state_bytes_ += own;
  }
  return {.is_taken = true, .dropped_states = dropped};
}

void ParcelQueue::drop_oldest_state() {
  const auto oldest = states_.front();
  bytes_ -= cost(*oldest);
  state_bytes_ -= cost(*oldest);
  states_.pop_front();
  parcels_.erase(oldest);
}

Parcel ParcelQueue::take() {
  Parcel parcel = std::move(parcels_.front());
  const std::size_t own = cost(parcel);
  bytes_ -= own;
  if (parcel.when_full == WhenFull::drop_oldest) {
    state_bytes_ -= own;
    states_.pop_front();
  }
  parcels_.pop_front();
  return parcel;
}

void ParcelQueue::clear() {
  states_.clear();
  parcels_.clear();
  bytes_ = state_bytes_ = 0;
}

}  // namespace rubato
