#include "runtime/payload.hpp"

#include <bit>
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

}  // namespace

TensorPool::~TensorPool() {
  for (Shard& shard : shards_)
    for (detail::TensorBlock* block : shard.free)
      while (block) {
        detail::TensorBlock* next = block->next;
        ::operator delete(block, std::align_val_t{line});
        block = next;
      }
}

TensorPool::Shard& TensorPool::own_shard() {
  const std::size_t hash = std::hash<std::thread::id>{}(std::this_thread::get_id());
  return shards_[(hash ^ hash >> 12 ^ hash >> 23) % shards];
}

detail::TensorBlock* TensorPool::take_free(Shard& shard, std::size_t size_class) {
  const std::lock_guard lock(shard.mutex);
  detail::TensorBlock* block = shard.free[size_class];
  if (block) shard.free[size_class] = block->next;
  return block;
}

detail::TensorBlock* TensorPool::take(Scalar scalar, std::size_t count) {
  const std::size_t size_class = class_of(sizeof(detail::TensorBlock) + count * size_of(scalar));
  Shard& own = own_shard();
  detail::TensorBlock* block = take_free(own, size_class);
  for (Shard& shard : shards_) {
    if (block) break;
    if (&shard != &own) block = take_free(shard, size_class);
  }
  if (!block) {
    const std::size_t size = size_of_class(size_class);
    block = new (::operator new(size, std::align_val_t{line})) detail::TensorBlock{};
    block->block_size = size;
    block->pool = this;
    reserved_.fetch_add(size, std::memory_order_relaxed);
  }
  block->holders.store(1, std::memory_order_relaxed);
  block->scalar = scalar;
  block->count = count;
  return block;
}

void TensorPool::give_back(detail::TensorBlock* block) {
  Shard& shard = own_shard();
  const std::lock_guard lock(shard.mutex);
  detail::TensorBlock*& head = shard.free[class_of(block->block_size)];
  block->next = head;
  head = block;
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
