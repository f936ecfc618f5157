// Frame: a parcel, or a piece of one, as it lies on the wire (docs/wire-format.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "transports/known_sums.hpp"
#include "transports/transport.hpp"

namespace rubato {

/// What a receiver accepts, and a sender keeps to. All hosts of a run have the same.
struct FrameLimits {
  std::size_t parcel_bytes = std::size_t{32} << 20;  ///< of a parcel: its head and its tensors
  std::size_t piece_bytes = std::size_t{4} << 20;    ///< of what one frame carries
  std::size_t least_piece_bytes = 1024;              ///< likewise, unless it is the last of its parcel
};

inline constexpr std::uint16_t frame_version = 2;
inline constexpr std::size_t most_frame_tensors = 1024;
inline constexpr std::size_t most_head_bytes = std::size_t{16} << 20;

/// Of a first part, without its share of the head.
constexpr std::size_t frame_header_bytes(std::size_t tensors) { return 64 + 16 * tensors + 8; }

/// Sender, receiver and order of a frame: a later start of the sender has a higher life, a later frame of it a higher sequence.
struct Envelope {
  HostId sender;
  HostId receiver;
  std::uint64_t life = 0;
  std::uint64_t sequence = 0;
};

/// Bytes of a tensor of a parcel.
struct TensorSlice {
  std::size_t tensor = 0;
  std::size_t first = 0;
  std::size_t bytes = 0;
};

/// A frame ready to leave: its first part, and what the other parts are.
struct WrittenFrame {
  std::vector<std::byte> first_part;
  std::vector<TensorSlice> slices;
};

/// False: a parcel of this form cannot be sent (too many bytes or tensors).
bool fits(const Parcel& parcel, const FrameLimits& limits);

/// Writes the frame that carries `bytes` bytes of the parcel from `first` on. The parcel fits and has so many. Without
/// `sums` the piece goes without a checksum: for ways that cannot damage it.
void write_frame(const Envelope& envelope, const Parcel& parcel, std::size_t first, std::size_t bytes, KnownSums* sums,
                 WrittenFrame& frame);

/// Why a frame is not accepted.
enum class FrameFault : std::uint8_t {
  malformed,  ///< no frame, a damaged one, or one that contradicts itself
  oversized,  ///< beyond the limits
  unknown,    ///< of another version, or of a kind we do not know
};

struct TensorShape {
  bool is_there = true;  ///< false: an empty handle
  Scalar scalar = Scalar::float32;
  std::size_t count = 0;
  std::size_t bytes() const { return count * size_of(scalar); }
  bool operator==(const TensorShape&) const = default;
};

/// A frame that was read: consistent with itself and within the limits. Points into the parts.
struct FrameView {
  Envelope envelope;
  ParcelKind kind = ParcelKind::notice;
  std::size_t head_bytes = 0;  // of the whole parcel, as all of these
  std::size_t total_bytes = 0;
  std::size_t tensors = 0;
  std::span<const std::byte> table;  // of their shapes, already judged
  TensorShape shape(std::size_t tensor) const;
  std::size_t first = 0;  // where in the parcel this piece begins
  std::size_t bytes = 0;
  bool is_summed = true;  // the piece has a checksum; the reader that copies it compares
  std::uint64_t checksum = 0;
  std::span<const std::byte> head;                           // the piece's share of the head
  std::span<const std::span<const std::byte>> tensor_parts;  // then of each tensor that it touches
};

using FramePart = std::span<const std::byte>;

/// Trusts nothing, allocates nothing, throws nothing. The piece itself is not looked at.
std::variant<FrameView, FrameFault> read_frame(std::span<const FramePart> parts, const FrameLimits& limits);

/// Calls slice(index, first, bytes) for each stretch of [first, first + bytes): index 0 is the head, which comes always
/// (perhaps empty), i + 1 the i-th tensor, which comes if bytes of it do. `size_of_tensor(i)` is in bytes.
template <class Size, class Slice>
void for_each_slice(std::size_t head_bytes, std::size_t tensors, Size size_of_tensor, std::size_t first, std::size_t bytes,
                    Slice slice) {
  const std::size_t end = first + bytes;
  std::size_t begins = 0;
  for (std::size_t i = 0; i <= tensors; ++i) {
    const std::size_t ends = begins + (i == 0 ? head_bytes : size_of_tensor(i - 1));
    const std::size_t from = begins > first ? begins : first;
    const std::size_t to = ends < end ? ends : end;
    if (from < to)
      slice(i, from - begins, to - from);
    else if (i == 0)
      slice(i, head_bytes, std::size_t{0});
    begins = ends;
  }
}

}  // namespace rubato
