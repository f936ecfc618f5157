#include "runtime/event_queue.hpp"

#include <functional>
#include <tuple>

namespace rubato {

namespace {

constexpr unsigned priority_shift = 60;
constexpr unsigned client_shift = 28;
constexpr std::uint64_t detail_mask = (1u << client_shift) - 1;

std::uint64_t rank_of(Priority priority, std::uint32_t client, std::uint32_t detail) {
  return static_cast<std::uint64_t>(priority) << priority_shift | static_cast<std::uint64_t>(client) << client_shift |
         (detail & detail_mask);
}

// Into a heap of four children a node.
template <class Entry, class Before>
void insert(std::vector<Entry>& heap, const Entry& entry, Before before) {
  std::size_t hole = heap.size();
  heap.push_back(entry);
  for (; hole > 0 && before(entry, heap[(hole - 1) / 4]); hole = (hole - 1) / 4) heap[hole] = heap[(hole - 1) / 4];
  heap[hole] = entry;
}

}  // namespace

EventQueue::EventQueue(std::size_t wakes, bool flights_keep_order, bool flights_by_exchange)
    : in_order_{flights_keep_order}, by_exchange_{flights_by_exchange} {
  wakes_.reserve(wakes + 8);
}

EventQueue::Packed EventQueue::pack(const Wake& wake) {
  return {wake.at.time_since_epoch().count(), rank_of(wake.priority, wake.client.value, wake.detail)};
}

Wake EventQueue::unpack(const Packed& packed) {
  return {Time{Duration{packed.at}}, static_cast<Priority>(packed.rank >> priority_shift),
          ClientId{static_cast<std::uint32_t>(packed.rank >> client_shift)}, static_cast<std::uint32_t>(packed.rank & detail_mask)};
}

EventQueue::Kind EventQueue::first() {
  Packed best{0, 0};
  first_ = Kind::none;
  if (!wakes_.empty()) {
    best = wakes_.front();
    first_ = Kind::wake;
  }
  const auto consider = [&](Packed candidate, Kind kind) {
    if (first_ != Kind::none && !(candidate < best)) return;
    best = candidate;
    first_ = kind;
  };
  if (in_order_ ? !lane_.empty() : !heap_.empty()) {
    const std::int64_t at = in_order_ ? lane_.front().arrived.time_since_epoch().count() : heap_.front().at;
    const std::uint32_t receiver = in_order_ ? lane_.front().receiver.value : heap_.front().receiver;
    consider({at, rank_of(Priority::arrival, receiver, 0)}, Kind::flight);
  }
  if (!closings_.empty()) {
    const Wake& closing = closings_.front();
    consider({closing.at.time_since_epoch().count(), rank_of(Priority::window_close, closing.client.value, 0)}, Kind::closing);
  }
  first_at_ = best.at;
  return first_;
}

void EventQueue::push(const Wake& wake) {
  if (wake.at != never) insert(wakes_, pack(wake), std::less<Packed>());
}

void EventQueue::sink_wake(Packed packed, std::size_t size) {
  Packed* wakes = wakes_.data();
  std::size_t hole = 0;
  while (true) {
    const std::size_t child = 4 * hole + 1;
    if (child >= size) break;
    std::size_t least = child;
    if (child + 3 < size) {
      const std::size_t left = wakes[child + 1] < wakes[child] ? child + 1 : child;
      const std::size_t right = wakes[child + 3] < wakes[child + 2] ? child + 3 : child + 2;
      least = wakes[right] < wakes[left] ? right : left;
    } else {
      for (std::size_t other = child + 1; other < size; ++other)
        if (wakes[other] < wakes[least]) least = other;
    }
    if (!(wakes[least] < packed)) break;
    wakes[hole] = wakes[least];
    hole = least;
  }
  wakes[hole] = packed;
}

void EventQueue::pop_wake() {
  const Packed last = wakes_.back();
  wakes_.pop_back();
  if (!wakes_.empty()) sink_wake(last, wakes_.size());
}

void EventQueue::drop_wakes(ClientId client, bool keeps_deadlines) {
  std::vector<Packed> kept;
  kept.swap(wakes_);
  wakes_.reserve(kept.capacity());
  for (const Packed& packed : kept) {
    const Wake wake = unpack(packed);
    const bool is_tick = wake.priority == Priority::compute || wake.priority == Priority::transmit;
    const bool is_dropped = is_tick || (wake.priority == Priority::deadline && !keeps_deadlines);
    if (wake.client != client || !is_dropped) push(wake);
  }
}

void EventQueue::replace_wake(const Wake& wake) {
  if (wake.at == never) return pop_wake();
  sink_wake(pack(wake), wakes_.size());
}

bool EventQueue::flight_before(const HeapFlight& a, const HeapFlight& b) const {
  if (a.at != b.at) return a.at < b.at;
  if (a.receiver != b.receiver) return a.receiver < b.receiver;
  const Flight& one = pool_[a.index];
  const Flight& other = pool_[b.index];
  if (!by_exchange_ || is_earlier(one, other)) return is_earlier(one, other);
  return !is_earlier(other, one) && numbers_[a.index] < numbers_[b.index];
}

// Of two messages that one client gets at one instant.
bool EventQueue::is_earlier(const Flight& a, const Flight& b) const {
  if (!by_exchange_) return std::tie(a.id.sender, a.id.sequence, a.kind) < std::tie(b.id.sender, b.id.sequence, b.kind);
  const ExchangeTag one = ExchangeTag::unpacked(a.tag), other = ExchangeTag::unpacked(b.tag);
  return std::tie(a.id.sender, one.exchange) < std::tie(b.id.sender, other.exchange);
}

void EventQueue::push(const Flight& flight) {
  if (in_order_) {
    lane_.insert(flight, [this](const Flight& a, const Flight& b) {
      if (a.arrived != b.arrived) return a.arrived < b.arrived;
      return a.receiver != b.receiver ? a.receiver < b.receiver : is_earlier(a, b);
    });
    return;
  }
  std::uint32_t index;
  if (free_.empty()) {
    index = static_cast<std::uint32_t>(pool_.size());
    pool_.push_back(flight);
    free_.reserve(pool_.capacity());
  } else {
    index = free_.back();
    free_.pop_back();
    pool_[index] = flight;
  }
  if (by_exchange_) {
    numbers_.resize(pool_.size());
    numbers_[index] = pushed_++;
  }
  const HeapFlight entry{flight.arrived.time_since_epoch().count(), flight.receiver.value, index};
  insert(heap_, entry, [this](const HeapFlight& a, const HeapFlight& b) { return flight_before(a, b); });
}

void EventQueue::pop_flight() {
  if (in_order_) {
    lane_.pop();
    return;
  }
  free_.push_back(heap_.front().index);
  const HeapFlight last = heap_.back();
  heap_.pop_back();
  std::size_t hole = 0;
  for (std::size_t child = 1; child < heap_.size(); child = 4 * hole + 1) {
    std::size_t least = child;
    for (std::size_t other = child + 1; other < child + 4 && other < heap_.size(); ++other)
      if (flight_before(heap_[other], heap_[least])) least = other;
    if (!flight_before(heap_[least], last)) break;
    heap_[hole] = heap_[least];
    hole = least;
  }
  if (!heap_.empty()) heap_[hole] = last;
}

void EventQueue::push_closing(const Wake& wake) {
  closings_.insert(wake, [](const Wake& a, const Wake& b) { return a.at != b.at ? a.at < b.at : a.client < b.client; });
}

void EventQueue::pop_closing() { closings_.pop(); }

}  // namespace rubato
