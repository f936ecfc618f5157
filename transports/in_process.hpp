// Where published payloads lie until their last receiver is done: filled by the sender, read by the receivers, each on
// its own thread, without locks.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "runtime/payload.hpp"
#include "runtime/step.hpp"

namespace rubato {

/// A client that waits for a payload. It may wait for one slot at a time and must live until it is woken.
struct Waiter {
  Waiter* next = nullptr;
};

/// Slots are opened by one thread (the conductor's) and used by any. A slot opened for r receivers is free again when
/// it was filled and released r times.
class SlotTable {
 public:
  SlotTable() = default;
  SlotTable(const SlotTable&) = delete;
  SlotTable& operator=(const SlotTable&) = delete;

  /// Conductor's thread only.
  SlotIndex open(std::uint32_t receivers);

  /// Puts the payload in, once. Returns the waiters for it, linked by `next`; the caller wakes them. Read each
  /// `next` before waking: the woken may wait again at once.
  Waiter* fill(SlotIndex slot, Payload payload);

  /// True: the payload is there. False: `waiter` waits now and must not go on before it is woken.
  bool ready_or_wait(SlotIndex slot, Waiter& waiter);
  bool is_ready(SlotIndex slot) const;

  /// Valid between readiness and this receiver's release.
  const Payload& payload(SlotIndex slot) const { return at(slot).payload; }

  /// Puts another payload in the place of the one that fill() put in; only while no other thread uses the table.
  void replace(SlotIndex slot, Payload payload) { at(slot).payload = std::move(payload); }

  /// Calls `visit` with each slot in use; only while no other thread uses the table.
  template <class Visit>
  void visit_in_use(Visit visit) const {
    for (std::size_t i = 0; i < block_count_ * slots_per_block; ++i)
      if (const auto slot = static_cast<SlotIndex>(i); at(slot).holders.load() > 0) visit(slot);
  }

  /// One receiver is done with the message, or does not want it. Needs no readiness.
  void release(SlotIndex slot);

  /// Slots in use, and the most there have been. The opening thread's; rough while others work.
  std::int64_t in_use() const { return opened_ - closed_.load(std::memory_order_relaxed); }
  std::int64_t peak() const { return peak_; }

 private:
  struct alignas(64) Slot {
    std::atomic<Waiter*> waiters{nullptr};  // filled() once the payload is in
    std::atomic<std::uint32_t> holders{0};  // receivers that are not done, and one until it is filled
    SlotIndex next_free = no_slot;
    Payload payload;
  };
  static_assert(sizeof(Slot) == 64, "a slot is one cache line");
  static constexpr std::size_t slots_per_block = 1024;
  static constexpr std::size_t most_blocks = 1 << 16;

  Slot& at(SlotIndex slot) const { return blocks_[slot / slots_per_block][slot % slots_per_block]; }
  static Waiter* filled();
  void drop_holder(SlotIndex slot, std::memory_order order);
  void add_block();

  // A fixed table of blocks: its addresses never move while other threads read.
  std::unique_ptr<std::unique_ptr<Slot[]>[]> blocks_ { new std::unique_ptr<Slot[]>[ most_blocks ] };
  std::size_t block_count_ = 0;
  SlotIndex free_ = no_slot;  // the conductor's own list
  std::int64_t opened_ = 0;
  std::int64_t peak_ = 0;
  alignas(64) std::atomic<SlotIndex> returned_{no_slot};  // pushed by any thread, taken as a whole by the conductor
  std::atomic<std::int64_t> closed_{0};
};

}  // namespace rubato
