#include "transports/in_process.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace rubato {

Waiter* SlotTable::filled() {
  static constinit Waiter mark{};
  return &mark;
}

void SlotTable::add_block() {
  if (block_count_ == most_blocks) throw std::length_error("more than 67 million messages under way");
  blocks_[block_count_] = std::make_unique<Slot[]>(slots_per_block);
  const auto first = static_cast<SlotIndex>(block_count_++ * slots_per_block);
  for (SlotIndex i = 0; i < slots_per_block; ++i) at(first + i).next_free = i + 1 < slots_per_block ? first + i + 1 : free_;
  free_ = first;
}

SlotIndex SlotTable::open(std::uint32_t receivers) {
  if (free_ == no_slot) free_ = returned_.exchange(no_slot, std::memory_order_acquire);
  if (free_ == no_slot) add_block();
  const SlotIndex index = free_;
  Slot& slot = at(index);
  free_ = slot.next_free;
  slot.waiters.store(nullptr, std::memory_order_relaxed);
  slot.holders.store(receivers + 1, std::memory_order_relaxed);
  ++opened_;
  peak_ = std::max(peak_, in_use());
  return index;
}

Waiter* SlotTable::fill(SlotIndex index, Payload payload) {
  Slot& slot = at(index);
  slot.payload = std::move(payload);
  Waiter* waiters = slot.waiters.exchange(filled(), std::memory_order_acq_rel);
  drop_holder(index, std::memory_order_acq_rel);
  return waiters;
}

bool SlotTable::is_ready(SlotIndex slot) const { return at(slot).waiters.load(std::memory_order_acquire) == filled(); }

bool SlotTable::ready_or_wait(SlotIndex index, Waiter& waiter) {
  Slot& slot = at(index);
  Waiter* first = slot.waiters.load(std::memory_order_acquire);
  while (first != filled()) {
    waiter.next = first;
    if (slot.waiters.compare_exchange_weak(first, &waiter, std::memory_order_acq_rel, std::memory_order_acquire)) return false;
  }
  return true;
}

void SlotTable::release(SlotIndex slot) { drop_holder(slot, std::memory_order_acq_rel); }

void SlotTable::drop_holder(SlotIndex index, std::memory_order order) {
  Slot& slot = at(index);
  if (slot.holders.fetch_sub(1, order) != 1) return;
  slot.payload = {};
  closed_.fetch_add(1, std::memory_order_relaxed);
  SlotIndex head = returned_.load(std::memory_order_relaxed);
  do {
    slot.next_free = head;
  } while (!returned_.compare_exchange_weak(head, index, std::memory_order_release, std::memory_order_relaxed));
}

}  // namespace rubato
