// ParcelAssembly: the frames of one sender become parcels again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transports/frame.hpp"

namespace rubato {

/// Holds one unfinished parcel at most. Frames come in the order of their sequence; the pieces of a parcel follow each
/// other without a gap, else the parcel is given up. Memory is taken as pieces come that need it: for the head as much as
/// there is of it, for a tensor with its first byte. One thread at a time.
class ParcelAssembly {
 public:
  /// Tensors come from the pool, which outlives them.
  explicit ParcelAssembly(TensorPool& pool) : pool_{pool} {}

  /// True: a parcel is complete, take() it. False: more pieces are to come, or something was given up. Throws
  /// std::bad_alloc; then forget() is to follow.
  bool add(const FrameView& frame);
  Parcel take();
  /// Gives up what is unfinished; pieces that would continue it are passed over.
  void forget();

  /// Parcels that were begun and given up: damaged, or a piece is missing.
  std::uint64_t given_up() const { return given_up_; }

 private:
  void begin(const FrameView& frame);
  bool continues(const FrameView& frame) const;
  std::byte* place_of(std::size_t index, std::size_t from, std::size_t bytes);
  bool copy(const FrameView& frame);

  TensorPool& pool_;
  Parcel parcel_;
  bool is_open_ = false;
  std::size_t head_bytes_ = 0;
  std::vector<TensorShape> shapes_;
  std::size_t total_ = 0;
  std::size_t filled_ = 0;
  std::uint64_t last_sequence_ = 0;
  std::uint64_t given_up_ = 0;
};

}  // namespace rubato
