// LentTensors: how many bytes of what was handed out are still in use.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>

#include "runtime/payload.hpp"

namespace rubato {

/// Keeps a handle of each tensor until it is the only one. One thread at a time; the others' handles may be dropped on
/// any.
class LentTensors {
 public:
  void lend(const Tensor& tensor) {
    if (!tensor) return;
    bytes_ += tensor.bytes();
    lent_.push_back(tensor);
  }

  /// Takes back what came back first; cheap, to be called often.
  void collect() {
    while (!lent_.empty() && is_back(lent_.front())) {
      bytes_ -= lent_.front().bytes();
      lent_.pop_front();
    }
  }
  /// Takes back whatever came back.
  void collect_all() {
    std::erase_if(lent_, [this](const Tensor& tensor) {
      const bool is_returned = is_back(tensor);
      if (is_returned) bytes_ -= tensor.bytes();
      return is_returned;
    });
  }

  /// Since the last collection.
  std::size_t bytes() const { return bytes_; }

 private:
  // There is no other handle, so no other can be made.
  static bool is_back(const Tensor& tensor) {
    const auto* block = reinterpret_cast<const detail::TensorBlock*>(tensor.data<std::byte>()) - 1;
    return block->holders.load(std::memory_order_acquire) == 1;
  }

  std::deque<Tensor> lent_;
  std::size_t bytes_ = 0;
};

}  // namespace rubato
