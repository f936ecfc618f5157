// One frame of arbitrary bytes: reading it breaks nothing, and what was read, written again, is the same bytes.
#include "tests/fuzz/raw_frame.hpp"
#include "transports/known_sums.hpp"

using namespace rubato;
using namespace rubato::fuzz;

namespace {

constexpr FrameLimits limits{.parcel_bytes = 16'384, .piece_bytes = 4096, .least_piece_bytes = 16};

void keeps_its_limits(const FrameView& frame) {
  insist(frame.total_bytes <= limits.parcel_bytes && frame.bytes <= limits.piece_bytes);
  insist(frame.bytes >= std::min(limits.least_piece_bytes, frame.total_bytes - frame.first));
  insist(frame.first <= frame.total_bytes && frame.bytes <= frame.total_bytes - frame.first);
  std::size_t total = frame.head_bytes, piece = frame.head.size();
  for (std::size_t i = 0; i < frame.tensors; ++i) total += frame.shape(i).bytes();
  for (const FramePart part : frame.tensor_parts) piece += part.size();
  insist(total == frame.total_bytes && piece == frame.bytes);
}

// A parcel of which the frame is a piece.
Parcel parcel_with(const FrameView& frame, TensorPool& pool) {
  Parcel parcel{.kind = frame.kind, .head = std::vector<std::byte>(frame.head_bytes), .tensors = {}};
  for (std::size_t i = 0; i < frame.tensors; ++i)
    parcel.tensors.push_back(frame.shape(i).is_there ? pool.make(frame.shape(i).scalar, frame.shape(i).count) : Tensor{});
  std::size_t next = 0;
  for_each_slice(
      frame.head_bytes, frame.tensors, [&](std::size_t i) { return frame.shape(i).bytes(); }, frame.first, frame.bytes,
      [&](std::size_t index, std::size_t from, std::size_t) {
        const FramePart part = index == 0 ? frame.head : frame.tensor_parts[next++];
        std::byte* const target = index == 0 ? parcel.head.data() : parcel.tensors[index - 1].writable<std::byte>();
        if (!part.empty()) std::memcpy(target + from, part.data(), part.size());
      });
  return parcel;
}

bool has_its_checksum(const FrameView& frame) {
  std::uint64_t sum = joined_checksum(0, checksum(frame.head));
  for (const FramePart part : frame.tensor_parts) sum = joined_checksum(sum, checksum(part));
  return sum == frame.checksum;
}

void is_written_as_it_was_read(const FrameView& frame, std::span<const FramePart> parts) {
  TensorPool pool;
  const Parcel parcel = parcel_with(frame, pool);
  insist(fits(parcel, limits));
  WrittenFrame written;
  KnownSums sums;
  write_frame(frame.envelope, parcel, frame.first, frame.bytes, frame.is_summed ? &sums : nullptr, written);
  insist(written.slices.size() + 1 == parts.size());
  insist(std::ranges::equal(written.first_part, parts[0]));
  for (std::size_t i = 0; i < written.slices.size(); ++i) {
    const TensorSlice& slice = written.slices[i];
    const FramePart bytes{parcel.tensors[slice.tensor].data<std::byte>() + slice.first, slice.bytes};
    insist(std::ranges::equal(bytes, parts[i + 1]));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const std::uint8_t mending = input.byte();
  const RawFrame raw(mending, input, 2 * limits.parcel_bytes);
  const auto read = read_frame(raw.parts(), limits);
  if (const auto* frame = std::get_if<FrameView>(&read)) {
    keeps_its_limits(*frame);
    if (has_its_checksum(*frame)) is_written_as_it_was_read(*frame, raw.parts());
  }
  return 0;
}
