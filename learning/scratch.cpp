#include "learning/scratch.hpp"

#include <algorithm>
#include <cassert>
#include <new>

namespace rubato {

namespace {

constexpr std::size_t smallest_block = 64 * 1024;

std::size_t whole_lines(std::size_t bytes) { return (bytes + buffer_alignment - 1) / buffer_alignment * buffer_alignment; }

}  // namespace

template <class Real>
void Scratch<Real>::Free::operator()(std::byte* memory) const {
  ::operator delete (memory, std::align_val_t{buffer_alignment});
}

template <class Real>
std::size_t Scratch<Real>::capacity() const {
  std::size_t bytes = 0;
  for (const Block& block : blocks_) bytes += block.size;
  return bytes;
}

template <class Real>
std::byte* Scratch<Real>::take_bytes(std::size_t bytes) {
  assert(frames_ > 0 && "scratch memory is taken only while a frame lives");
  const std::size_t size = whole_lines(bytes);
  if (blocks_.empty() || blocks_[block_].size - used_ < size) next_block(size);
  std::byte* const start = blocks_[block_].memory.get() + used_;
  used_ += size;
  return start;
}

// Buffers that are lent out must not move, so what does not fit goes to another block.
template <class Real>
void Scratch<Real>::next_block(std::size_t bytes) {
  while (block_ + 1 < blocks_.size()) {
    ++block_;
    used_ = 0;
    if (blocks_[block_].size >= bytes) return;
  }
  open_block(bytes);
}

template <class Real>
void Scratch<Real>::open_block(std::size_t bytes) {
  const std::size_t size = std::max({bytes, smallest_block, capacity()});
  auto* const memory = static_cast<std::byte*>(::operator new (size, std::align_val_t{buffer_alignment}));
  blocks_.push_back({std::unique_ptr<std::byte, Free>{memory}, size});
  block_ = blocks_.size() - 1;
  used_ = 0;
}

template <class Real>
void Scratch<Real>::give_back(std::size_t block, std::size_t used) {
  block_ = block;
  used_ = used;
  --frames_;
  if (frames_ == 0 && blocks_.size() > 1) join_blocks();
}

// Nothing is lent out: one block as large as all of them serves the next time.
template <class Real>
void Scratch<Real>::join_blocks() {
  const std::size_t bytes = capacity();
  blocks_.clear();
  open_block(bytes);
}

template class Scratch<float>;
template class Scratch<double>;

}  // namespace rubato
