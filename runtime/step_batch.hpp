// Steps of one client on their way from the conductor to its actor, in blocks that are used again and again.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <new>
#include <vector>

#include "runtime/step.hpp"

namespace rubato {

/// A run of steps with their entries, back to back.
class StepBatch {
 public:
  StepBatch* next = nullptr;  ///< in a client's list, or in the pool's

  bool fits(const Step& step) const { return used_ + size_of(step) <= capacity_; }

  void add(const Step& step) {
    Step* copy = new (bytes() + used_) Step(step);
    StepEntry* entries = reinterpret_cast<StepEntry*>(copy + 1);
    std::copy(step.entries.begin(), step.entries.end(), entries);
    copy->entries = {entries, step.entries.size()};
    used_ += size_of(step);
  }

  void clear() {
    next = nullptr;
    used_ = read_ = 0;
  }

  /// The first step that was not passed yet; null at the end.
  const Step* current() const { return read_ < used_ ? std::launder(reinterpret_cast<const Step*>(bytes() + read_)) : nullptr; }
  void pass() { read_ += size_of(*current()); }

  static std::size_t size_of(const Step& step) { return sizeof(Step) + step.entries.size() * sizeof(StepEntry); }

 private:
  friend class StepBatchPool;
  explicit StepBatch(std::size_t capacity) : capacity_{capacity} {}
  std::byte* bytes() { return reinterpret_cast<std::byte*>(this + 1); }
  const std::byte* bytes() const { return reinterpret_cast<const std::byte*>(this + 1); }

  std::size_t capacity_;
  std::size_t used_ = 0;
  std::size_t read_ = 0;
};

/// Blocks are taken by one thread (the conductor's) and given back by any. Outlives its blocks.
class StepBatchPool {
 public:
  explicit StepBatchPool(std::size_t block_bytes) : block_bytes_{block_bytes} {}
  StepBatchPool(const StepBatchPool&) = delete;
  StepBatchPool& operator=(const StepBatchPool&) = delete;
  ~StepBatchPool() {
    for (StepBatch* block : all_) ::operator delete(block);
  }

  /// A block with room for at least this step. Conductor's thread only.
  StepBatch& take(const Step& first) {
    const std::size_t needed = StepBatch::size_of(first);
    if (needed > block_bytes_) return make(needed);  // an unusually wide publish: kept, but not offered again
    if (!free_) free_ = returned_.exchange(nullptr, std::memory_order_acquire);
    if (!free_) return make(block_bytes_);
    StepBatch& block = *free_;
    free_ = block.next;
    block.clear();
    return block;
  }

  /// Any thread.
  void give_back(StepBatch& block) {
    if (block.capacity_ > block_bytes_) return ::operator delete(&block);
    StepBatch* head = returned_.load(std::memory_order_relaxed);
    do {
      block.next = head;
    } while (!returned_.compare_exchange_weak(head, &block, std::memory_order_release, std::memory_order_relaxed));
  }

 private:
  StepBatch& make(std::size_t capacity) {
    StepBatch* block = new (::operator new(sizeof(StepBatch) + capacity)) StepBatch(capacity);
    if (capacity == block_bytes_) all_.push_back(block);
    return *block;
  }

  std::size_t block_bytes_;
  StepBatch* free_ = nullptr;
  std::atomic<StepBatch*> returned_{nullptr};
  std::vector<StepBatch*> all_;
};

}  // namespace rubato
