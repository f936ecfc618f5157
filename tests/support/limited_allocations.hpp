// LimitedAllocations: memory that ends, for tests of what then happens. Add its source to the program that uses it.
#pragma once

#include <cstddef>

namespace rubato::test {

/// As long as it lives no allocation of the program gets more than `most` bytes: those throw std::bad_alloc.
class LimitedAllocations {
 public:
  explicit LimitedAllocations(std::size_t most);
  ~LimitedAllocations();
  LimitedAllocations(const LimitedAllocations&) = delete;
  LimitedAllocations& operator=(const LimitedAllocations&) = delete;

  /// Bytes of the largest one since, refused or not.
  std::size_t largest() const;
};

}  // namespace rubato::test
