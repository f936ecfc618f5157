#include "tests/support/limited_allocations.hpp"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> most_at_once{SIZE_MAX}, largest_so_far{0};

void* limited(std::size_t size, std::size_t alignment) {
  if (size > largest_so_far) largest_so_far = size;
  void* const memory =
      size > most_at_once ? nullptr : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return limited(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) { return limited(size, static_cast<std::size_t>(alignment)); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace rubato::test {

LimitedAllocations::LimitedAllocations(std::size_t most) {
  largest_so_far = 0;
  most_at_once = most;
}
LimitedAllocations::~LimitedAllocations() { most_at_once = SIZE_MAX; }

std::size_t LimitedAllocations::largest() const { return largest_so_far; }

}  // namespace rubato::test
