// Tensors on their way: immutable once published, counted, 64-byte aligned, handed over without a copy.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "runtime/choices.hpp"

namespace rubato {

/// The Scalar that a C++ type stands for.
template <class Number>
inline constexpr Scalar scalar_of = Scalar::float32;
/// That of double.
template <>
inline constexpr Scalar scalar_of<double> = Scalar::float64;
/// That of whole numbers.
template <>
inline constexpr Scalar scalar_of<std::uint32_t> = Scalar::uint32;

/// Bytes of one number.
constexpr std::size_t size_of(Scalar scalar) { return scalar == Scalar::float64 ? 8 : 4; }

/// No number is infinite or NaN. The bytes are whole numbers of this scalar.
bool are_finite(std::span<const std::byte> numbers, Scalar scalar);

class TensorPool;

namespace detail {
class PoolCore;

/// What is known of all numbers of a tensor.
enum class Finiteness : std::uint8_t { unknown, finite, not_finite };

/// The head of a tensor's block; the numbers follow at the next multiple of 64.
struct alignas(64) TensorBlock {
  std::atomic<std::uint32_t> holders;
  Scalar scalar;
  std::atomic<Finiteness> finiteness;
  std::uint64_t count;       // numbers
  std::uint64_t block_size;  // bytes of the block, this head included
  PoolCore* pool;
  TensorBlock* next;  // in the pool's list of free blocks
};
}  // namespace detail

/// A counted handle of one dense block of numbers. It is filled while a single handle holds it and never written
/// afterwards. Handles may be copied and dropped on any thread.
class Tensor {
 public:
  /// An empty handle.
  Tensor() = default;
  /// Shares the block.
  Tensor(const Tensor& other) : block_{other.block_} { hold(); }
  /// Takes the block over; `other` is empty afterwards.
  Tensor(Tensor&& other) noexcept : block_{std::exchange(other.block_, nullptr)} {}
  /// Lets go of the block that it held.
  Tensor& operator=(Tensor other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  /// The last handle gives the block back to its pool.
  ~Tensor() { drop(); }

  /// False for an empty handle.
  explicit operator bool() const { return block_ != nullptr; }
  /// Not of an empty handle, like the next.
  Scalar scalar() const { return block_->scalar; }
  /// Numbers, not bytes.
  std::size_t count() const { return block_->count; }
  /// Of all its numbers; 0 for an empty handle.
  std::size_t bytes() const { return block_ ? block_->count * size_of(block_->scalar) : 0; }

  /// No number is infinite or NaN; true for an empty handle. Only of a published tensor: the first call reads all numbers,
  /// later ones, of any handle and thread, know the answer.
  bool is_finite() const;

  /// 64-byte aligned, valid while a handle holds the block. `Number` is the scalar's type; the handle is not empty.
  template <class Number>
  const Number* data() const {
    return reinterpret_cast<const Number*>(block_ + 1);
  }
  /// Whether other handles hold the block too. A false answer stays true until this handle is copied.
  bool is_shared() const { return block_ && block_->holders.load(std::memory_order_acquire) > 1; }
  /// Whether both hold the same block, or none.
  bool is_same(const Tensor& other) const { return block_ == other.block_; }
  /// Makes a block that others hold too into one of its own, with the same numbers.
  void separate();
  /// One of the same pool, scalar and count, with uninitialised numbers. Not of an empty handle.
  Tensor another() const;
  /// The writer has seen whether all numbers are finite, so is_finite() need not read them; until they are written again.
  void note_finite(bool are_finite) {
    block_->finiteness.store(are_finite ? detail::Finiteness::finite : detail::Finiteness::not_finite, std::memory_order_relaxed);
  }

  /// Only before the tensor is published, or when it is not shared.
  template <class Number>
  Number* writable() {
    block_->finiteness.store(detail::Finiteness::unknown, std::memory_order_relaxed);
    return reinterpret_cast<Number*>(block_ + 1);
  }

 private:
  friend class TensorPool;
  explicit Tensor(detail::TensorBlock* block) : block_{block} {}
  void hold() const {
    if (block_) block_->holders.fetch_add(1, std::memory_order_relaxed);
  }
  void drop();

  detail::TensorBlock* block_ = nullptr;
};

namespace detail {

/// The memory behind a TensorPool. It outlives the pool until its last block has come back: a tensor may lie in a
/// message of another host of this process, or in an alarm that a clock drops, when the run that made it has gone.
class PoolCore {
 public:
  explicit PoolCore(std::size_t most_free) : most_free_{most_free} {}
  TensorBlock* take(Scalar scalar, std::size_t count);
  void give_back(TensorBlock* block);
  /// The pool has gone: free blocks go to the system, the others when they come back, and then this object itself.
  void abandon();

  std::size_t reserved_bytes() const { return reserved_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t shards = 8;
  static constexpr std::size_t size_classes = 320;
  struct alignas(64) Shard {
    std::mutex mutex;
    std::array<TensorBlock*, size_classes> free{};
    std::int64_t lent = 0;  // taken here less given back here; the sum over all shards is what is out
    bool is_abandoned = false;
  };

  ~PoolCore() = default;
  TensorBlock* take_free(Shard& shard, std::size_t size_class);
  Shard& own_shard();

  const std::size_t most_free_;
  std::array<Shard, shards> shards_;
  std::atomic<std::size_t> reserved_{0};
  std::atomic<std::size_t> free_{0};   // counted where it is bounded
  std::atomic<std::int64_t> left_{0};  // blocks still out, once abandoned
};

}  // namespace detail

/// Where tensors come from and go back to. Blocks are kept by size and used again, so a steady run asks the system for
/// nothing. May be used on any thread. Tensors may outlive it.
class TensorPool {
 public:
  /// Of free bytes: all blocks are kept for later.
  static constexpr std::size_t no_bound = std::numeric_limits<std::size_t>::max();

  /// Blocks that come back while `most_free` bytes are free go to the system: where others choose the sizes.
  explicit TensorPool(std::size_t most_free = no_bound) : core_{*new detail::PoolCore(most_free)} {}
  TensorPool(const TensorPool&) = delete;
  TensorPool& operator=(const TensorPool&) = delete;
  ~TensorPool() { core_.abandon(); }

  /// Uninitialised numbers.
  template <class Number>
  Tensor make(std::size_t count) {
    return make(scalar_of<Number>, count);
  }
  /// The same, of a scalar that is known when the program runs.
  Tensor make(Scalar scalar, std::size_t count) { return Tensor{core_.take(scalar, count)}; }

  /// Bytes asked from the system and not given back.
  std::size_t reserved_bytes() const { return core_.reserved_bytes(); }

 private:
  detail::PoolCore& core_;  // owns itself: see abandon()
};

inline void Tensor::drop() {
  if (block_ && block_->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) block_->pool->give_back(block_);
}

/// Tensors in a row, as in a std::vector; takes one pointer's room while there are none.
class TensorList {
 public:
  /// No tensors.
  TensorList() = default;
  /// `other` is empty afterwards.
  TensorList(TensorList&&) = default;
  /// The same handles; their numbers are shared.
  TensorList(const TensorList& other) : list_{other.list_ ? std::make_unique<std::vector<Tensor>>(*other.list_) : nullptr} {}
  /// Lets go of the tensors that it held.
  TensorList& operator=(TensorList other) noexcept {
    list_ = std::move(other.list_);
    return *this;
  }

  std::size_t size() const { return list_ ? list_->size() : 0; }           ///< handles, empty ones included
  bool empty() const { return size() == 0; }                               ///< true without handles
  void reserve(std::size_t count) { list().reserve(count); }               ///< room for so many
  void resize(std::size_t count) { list().resize(count); }                 ///< new handles are empty
  void push_back(Tensor tensor) { list().push_back(std::move(tensor)); }   ///< at the end
  Tensor& operator[](std::size_t i) { return (*list_)[i]; }                ///< i < size()
  const Tensor& operator[](std::size_t i) const { return (*list_)[i]; }    ///< i < size()
  const Tensor& at(std::size_t i) const { return list_->at(i); }           ///< throws std::out_of_range; not if empty()
  const Tensor* begin() const { return list_ ? list_->data() : nullptr; }  ///< valid until the list changes
  const Tensor* end() const { return begin() + size(); }                   ///< likewise

 private:
  std::vector<Tensor>& list() {
    if (!list_) list_ = std::make_unique<std::vector<Tensor>>();
    return *list_;
  }

  std::unique_ptr<std::vector<Tensor>> list_;
};

/// What one publish step hands out: a few tensors shared by all receivers and, where an algorithm needs them, tensors
/// of each receiver's own, in the order of the step's entries.
struct Payload {
  static constexpr std::size_t most_tensors = 3;  ///< that all receivers share
  std::array<Tensor, most_tensors> common;        ///< shared by all receivers; what is not used is empty
  TensorList own;                                 ///< receiver k has those from k * own_each on
  double paper_bits = 0;                          ///< what a paper would count for one message; 0: 64 a number
  std::uint8_t own_each = 1;                      ///< tensors of each receiver's own, where there are any

  /// Of one message on the wire, as if all receivers' own tensors were as large as the first's.
  std::size_t message_bytes() const;
  /// Of one message, as a paper would count: paper_bits, or 64 for each number.
  double message_paper_bits() const;
  /// Of all tensors, each once.
  std::size_t bytes() const;
  /// Every number of the message to the receiver at this place is finite.
  bool is_finite(std::uint32_t place) const;
};

}  // namespace rubato
