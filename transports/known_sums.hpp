// KnownSums: checksums of tensors that were sent lately: a model that goes to ten hosts is summed once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "runtime/payload.hpp"

namespace rubato {

/// Remembers a few large slices and keeps their tensors meanwhile: forget() before the pool goes, and when idle. One
/// thread at a time.
class KnownSums {
 public:
  /// The checksum of `bytes` bytes of the tensor from `first` on.
  std::uint64_t of(const Tensor& tensor, std::size_t first, std::size_t bytes);
  void forget();

 private:
  struct Known {
    Tensor tensor;
    std::size_t first = 0;
    std::size_t bytes = 0;
    std::uint64_t sum = 0;
  };

  std::array<Known, 8> known_;
  std::size_t next_ = 0;  // the oldest, to be replaced
};

}  // namespace rubato
