// Scratch: working memory of a thread, lent to the client that computes on it, so that a client owns its model and
// nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "learning/types.hpp"

namespace rubato {

/// A stack of aligned buffers. One thread uses it at a time. It grows to the deepest use seen and allocates no more.
///
///   Scratch<float>::Frame frame(scratch);             // gives back at its end what was taken after its beginning
///   VectorRef<float> gradient = scratch.vector(n);    // uninitialised
template <class Real>
class Scratch {
 public:
  /// Everything taken while a frame lives becomes invalid when it ends. Frames nest.
  class Frame {
   public:
    /// Begins where the scratch is now; it must outlive the frame.
    explicit Frame(Scratch& scratch) : scratch_{scratch}, block_{scratch.block_}, used_{scratch.used_} { ++scratch.frames_; }
    ~Frame() { scratch_.give_back(block_, used_); }
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;

   private:
    Scratch& scratch_;
    std::size_t block_;
    std::size_t used_;
  };

  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  /// Uninitialised, 64-byte aligned, valid until the innermost frame ends. Take them only while a frame lives.
  VectorRef<Real> vector(Index size) { return {take<Real>(size), size}; }
  /// The same as a matrix.
  MatrixRef<Real> matrix(Index rows, Index columns) { return {take<Real>(rows * columns), rows, columns}; }
  /// The same as whole numbers.
  std::span<std::uint32_t> indices(Index size) { return {take<std::uint32_t>(size), static_cast<std::size_t>(size)}; }

  /// Bytes held now.
  std::size_t capacity() const;

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  struct Block {
    std::unique_ptr<std::byte, Free> memory;
    std::size_t size = 0;
  };

  template <class Number>
  Number* take(Index count) {
    return reinterpret_cast<Number*>(take_bytes(static_cast<std::size_t>(count) * sizeof(Number)));
  }
  std::byte* take_bytes(std::size_t bytes);
  void next_block(std::size_t bytes);
  void open_block(std::size_t bytes);
  void give_back(std::size_t block, std::size_t used);
  void join_blocks();

  std::vector<Block> blocks_;
  std::size_t block_ = 0;  // the block that is being filled
  std::size_t used_ = 0;   // its bytes in use
  std::size_t frames_ = 0;
};

extern template class Scratch<float>;
extern template class Scratch<double>;

}  // namespace rubato
