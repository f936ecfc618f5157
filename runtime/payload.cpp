#include "runtime/payload.hpp"

#include <sys/mman.h>

#include <bit>
#include <cstring>
#include <new>
#include <thread>

namespace rubato {

namespace {

constexpr std::size_t line = 64;

// Classes 0..63 are multiples of 64 bytes up to 4 KiB; above, four classes to every doubling.
std::size_t class_of(std::size_t bytes) {
  if (bytes <= 64 * line) return (bytes + line - 1) / line - 1;
  const auto doublings = static_cast<std::size_t>(std::bit_width((bytes - 1) >> 12)) - 1;
  const std::size_t quarter = ((bytes - 1) >> (10 + doublings)) & 3;
  return 64 + 4 * doublings + quarter;
}

std::size_t size_of_class(std::size_t size_class) {
  if (size_class < 64) return (size_class + 1) * line;
  const std::size_t doublings = (size_class - 64) / 4;
  const std::size_t quarter = (size_class - 64) % 4;
  return (std::size_t{4096} + (quarter + 1) * 1024) << doublings;
}

// Branchless, so that compilers make vector instructions of it.
template <class Bits>
bool none_has(std::span<const std::byte> numbers, Bits exponent) {
  const auto* const first = reinterpret_cast<const Bits*>(numbers.data());
  Bits has = 0;
  for (std::size_t i = 0; i < numbers.size() / sizeof(Bits); ++i) has |= static_cast<Bits>((first[i] & exponent) == exponent);
  return has == 0;
}

// Blocks of several large pages ask for such pages: the system fills one of them far sooner than 512 small ones.
constexpr std::size_t large_page = std::size_t{2} << 20, fewest_large_pages = 4;

constexpr std::size_t alignment_of(std::size_t block_size) {
  return block_size >= fewest_large_pages * large_page ? large_page : line;
}

void* new_block(std::size_t size) {
  const std::size_t alignment = alignment_of(size);
  void* const memory = ::operator new (size, std::align_val_t{alignment});
  if (alignment == large_page) madvise(memory, size, MADV_HUGEPAGE);  // a wish: without it pages stay small
  return memory;
}

void free_block(detail::TensorBlock* block) { ::operator delete (block, std::align_val_t{alignment_of(block->block_size)}); }

}  // namespace

namespace detail {

PoolCore::Shard& PoolCore::own_shard() {
  const std::size_t hash = std::hash<std::thread::id>{}(std::this_thread::get_id());
  return shards_[(hash ^ hash >> 12 ^ hash >> 23) % shards];
}

TensorBlock* PoolCore::take_free(Shard& shard, std::size_t size_class) {
  const std::lock_guard lock(shard.mutex);
  TensorBlock* block = shard.free[size_class];
  if (!block) return nullptr;
  shard.free[size_class] = block->next;
  ++shard.lent;
  if (most_free_ != TensorPool::no_bound) free_.fetch_sub(block->block_size, std::memory_order_relaxed);
  return block;
}

TensorBlock* PoolCore::take(Scalar scalar, std::size_t count) {
  const std::size_t size_class = class_of(sizeof(TensorBlock) + count * size_of(scalar));
  Shard& own = own_shard();
  TensorBlock* block = take_free(own, size_class);
  for (Shard& shard : shards_) {
    if (block) break;
    if (&shard != &own) block = take_free(shard, size_class);
  }
  if (!block) {
    const std::size_t size = size_of_class(size_class);
    block = new (new_block(size)) TensorBlock{};
    block->block_size = size;
    block->pool = this;
    reserved_.fetch_add(size, std::memory_order_relaxed);
    const std::lock_guard lock(own.mutex);
    ++own.lent;
  }
  block->holders.store(1, std::memory_order_relaxed);
  block->scalar = scalar;
  block->count = count;
  block->finiteness.store(Finiteness::unknown, std::memory_order_relaxed);
  return block;
}

void PoolCore::give_back(TensorBlock* block) {
  Shard& shard = own_shard();
  const std::size_t size = block->block_size;
  bool is_last = false;
  {
    const std::lock_guard lock(shard.mutex);
    const bool is_bounded = most_free_ != TensorPool::no_bound;
    const bool has_room = !is_bounded || free_.fetch_add(size, std::memory_order_relaxed) + size <= most_free_;
    if (shard.is_abandoned) {
      is_last = left_.fetch_sub(1, std::memory_order_acq_rel) == 1;
    } else {
      --shard.lent;  // afterwards another thread may end this object as soon as the lock is free
      if (has_room) {
        TensorBlock*& head = shard.free[class_of(size)];
        block->next = head;
        head = block;
        return;
      }
      free_.fetch_sub(size, std::memory_order_relaxed);
      reserved_.fetch_sub(size, std::memory_order_relaxed);
    }
  }
  free_block(block);
  if (is_last) delete this;
}

void PoolCore::abandon() {
  // Far above any count: no block that comes back meanwhile is taken for the last one.
  constexpr std::int64_t counting = std::int64_t{1} << 48;
  left_.store(counting, std::memory_order_relaxed);
  for (Shard& shard : shards_) {
    std::array<TensorBlock*, size_classes> free{};
    {
      const std::lock_guard lock(shard.mutex);
      shard.is_abandoned = true;
      free.swap(shard.free);
      left_.fetch_add(shard.lent, std::memory_order_relaxed);
    }
    for (TensorBlock* block : free)
      while (block) free_block(std::exchange(block, block->next));
  }
  if (left_.fetch_sub(counting, std::memory_order_acq_rel) == counting) delete this;
}

}  // namespace detail

bool are_finite(std::span<const std::byte> numbers, Scalar scalar) {
  if (scalar == Scalar::uint32) return true;
  return scalar == Scalar::float64 ? none_has<std::uint64_t>(numbers, 0x7FF0'0000'0000'0000)
                                   : none_has<std::uint32_t>(numbers, 0x7F80'0000);
}

bool Tensor::is_finite() const {
  using detail::Finiteness;
  if (!block_) return true;
  Finiteness known = block_->finiteness.load(std::memory_order_relaxed);
  if (known == Finiteness::unknown) {
    known = are_finite({data<std::byte>(), bytes()}, scalar()) ? Finiteness::finite : Finiteness::not_finite;
    block_->finiteness.store(known, std::memory_order_relaxed);
  }
  return known == Finiteness::finite;
}

Tensor Tensor::another() const { return Tensor{block_->pool->take(scalar(), count())}; }

void Tensor::separate() {
  if (!is_shared()) return;
  Tensor own = another();
  std::memcpy(own.writable<std::byte>(), data<std::byte>(), bytes());
  *this = std::move(own);
}

bool Payload::is_finite(std::uint32_t place) const {
  for (const Tensor& tensor : common)
    if (!tensor.is_finite()) return false;
  const std::size_t first = std::size_t{place} * own_each;
  for (std::size_t i = first; i < first + own_each && i < own.size(); ++i)
    if (!own[i].is_finite()) return false;
  return true;
}

std::size_t Payload::message_bytes() const {
  std::size_t sum = 0;
  for (const Tensor& tensor : common) sum += tensor.bytes();
  for (std::size_t i = 0; i < own_each && i < own.size(); ++i) sum += own[i].bytes();
  return sum;
}

double Payload::message_paper_bits() const {
  if (paper_bits > 0) return paper_bits;
  std::size_t numbers = 0;
  for (const Tensor& tensor : common) numbers += tensor ? tensor.count() : 0;
  for (std::size_t i = 0; i < own_each && i < own.size(); ++i) numbers += own[i] ? own[i].count() : 0;
  return 64.0 * static_cast<double>(numbers);
}

std::size_t Payload::bytes() const {
  std::size_t sum = 0;
  for (const Tensor& tensor : common) sum += tensor.bytes();
  for (const Tensor& tensor : own) sum += tensor.bytes();
  return sum;
}

}  // namespace rubato
