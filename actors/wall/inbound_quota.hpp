// InboundQuota: how much of one peer may wait here at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace rubato {

/// Any thread may use it. Places that are taken may outlive the room.
class InboundQuota {
 public:
  explicit InboundQuota(std::int64_t places) : places_{places} {}
  InboundQuota(InboundQuota&&) = default;  // a copy would share its places

  /// A place, for as long as a copy of it lives; nothing if all are taken.
  std::shared_ptr<const void> enter() const {
    if (taken_->fetch_add(1, std::memory_order_relaxed) < places_)
      return {taken_.get(), [taken = taken_](const void*) { taken->fetch_sub(1, std::memory_order_relaxed); }};
    taken_->fetch_sub(1, std::memory_order_relaxed);
    return nullptr;
  }

 private:
  std::int64_t places_;
  std::shared_ptr<std::atomic<std::int64_t>> taken_ = std::make_shared<std::atomic<std::int64_t>>(0);
};

}  // namespace rubato
