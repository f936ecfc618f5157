#include "transports/frame.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>

#include "runtime/checksum.hpp"

namespace rubato {

namespace {

static_assert(std::endian::native == std::endian::little, "frames are written as numbers lie in memory");

constexpr std::array<unsigned char, 4> magic{'R', 'B', 'T', 'F'};
constexpr std::uint8_t is_not_summed = 1;  // a flag
constexpr std::uint8_t no_scalar = 0xFF;
constexpr std::uint8_t last_scalar = static_cast<std::uint8_t>(Scalar::uint32);

// docs/wire-format.md explains each.
struct FixedHeader {
  std::array<unsigned char, 4> magic;
  std::uint16_t version;
  std::uint8_t kind;
  std::uint8_t flags;
  std::uint32_t sender;
  std::uint32_t receiver;
  std::uint64_t life;
  std::uint64_t sequence;
  std::uint32_t head_bytes;
  std::uint32_t tensors;
  std::uint64_t first;
  std::uint64_t bytes;
  std::uint64_t piece_checksum;
};
static_assert(sizeof(FixedHeader) == 64 && std::has_unique_object_representations_v<FixedHeader>);

struct TableEntry {
  std::uint64_t count;
  std::uint8_t scalar;
  std::array<std::uint8_t, 7> zero;
};
static_assert(sizeof(TableEntry) == 16 && std::has_unique_object_representations_v<TableEntry>);

static_assert(frame_header_bytes(1) == sizeof(FixedHeader) + sizeof(TableEntry) + sizeof(std::uint64_t));

TableEntry entry_of(const Tensor& tensor) {
  if (!tensor) return {0, no_scalar, {}};
  return {tensor.count(), static_cast<std::uint8_t>(tensor.scalar()), {}};
}

template <class Number>
Number read(FramePart part, std::size_t at) {
  Number number;
  std::memcpy(&number, part.data() + at, sizeof number);
  return number;
}

TensorShape shape_of(const TableEntry& entry) {
  if (entry.scalar == no_scalar) return TensorShape{false, Scalar::float32, 0};
  return {true, static_cast<Scalar>(entry.scalar), entry.count};
}

bool is_known(const TableEntry& entry) {
  const bool is_scalar = entry.scalar <= last_scalar || (entry.scalar == no_scalar && entry.count == 0);
  return is_scalar && entry.zero == std::array<std::uint8_t, 7>{};
}

std::optional<FrameFault> read_table(FramePart part, const FrameLimits& limits, FrameView& view) {
  view.table = part.subspan(sizeof(FixedHeader), view.tensors * sizeof(TableEntry));
  for (std::size_t i = 0; i < view.tensors; ++i) {
    const auto entry = read<TableEntry>(view.table, i * sizeof(TableEntry));
    if (!is_known(entry)) return FrameFault::malformed;
    const TensorShape shape = shape_of(entry);
    if (shape.count > (limits.parcel_bytes - view.total_bytes) / size_of(shape.scalar)) return FrameFault::oversized;
    view.total_bytes += shape.bytes();
  }
  return {};
}

// The parts are as long as the header says.
bool has_its_parts(const FrameView& view, std::span<const FramePart> parts, std::size_t header) {
  std::size_t next = 0;
  bool is_right = true;
  const auto size_of_tensor = [&](std::size_t i) { return view.shape(i).bytes(); };
  for_each_slice(view.head_bytes, view.tensors, size_of_tensor, view.first, view.bytes,
                 [&](std::size_t index, std::size_t, std::size_t bytes) {
                   const std::size_t expected = index == 0 ? header + bytes : bytes;
                   is_right = is_right && next < parts.size() && parts[next].size() == expected;
                   ++next;
                 });
  return is_right && next == parts.size();
}

// Magic, version and checksum: that this is a header, unharmed, and where it ends.
std::variant<std::size_t, FrameFault> checked_header(FramePart part) {
  if (part.size() < frame_header_bytes(0)) return FrameFault::malformed;
  const auto fixed = read<FixedHeader>(part, 0);
  if (fixed.magic != magic) return FrameFault::malformed;
  if (fixed.version != frame_version) return FrameFault::unknown;
  if (fixed.tensors > most_frame_tensors) return FrameFault::oversized;
  const std::size_t header = frame_header_bytes(fixed.tensors);
  if (part.size() < header) return FrameFault::malformed;
  const std::size_t summed = header - sizeof(std::uint64_t);
  if (read<std::uint64_t>(part, summed) != checksum(part.first(summed))) return FrameFault::malformed;
  if (fixed.kind == 0 || fixed.kind > last_parcel_kind || (fixed.flags & ~is_not_summed) != 0) return FrameFault::unknown;
  return header;
}

}  // namespace

TensorShape FrameView::shape(std::size_t tensor) const { return shape_of(read<TableEntry>(table, tensor * sizeof(TableEntry))); }

bool fits(const Parcel& parcel, const FrameLimits& limits) {
  return parcel.tensors.size() <= most_frame_tensors && parcel.bytes() <= limits.parcel_bytes &&
         parcel.head.size() <= most_head_bytes;
}

void write_frame(const Envelope& envelope, const Parcel& parcel, std::size_t first, std::size_t bytes, KnownSums* sums,
                 WrittenFrame& frame) {
  const std::size_t tensors = parcel.tensors.size(), header = frame_header_bytes(tensors);
  frame.slices.clear();
  frame.first_part.resize(header);
  std::uint64_t sum = 0;
  const bool is_summed = sums || parcel.is_spoilt;  // damage must be noticed
  const auto size_of_tensor = [&](std::size_t i) { return parcel.tensors[i].bytes(); };
  for_each_slice(parcel.head.size(), tensors, size_of_tensor, first, bytes,
                 [&](std::size_t index, std::size_t from, std::size_t count) {
                   if (index == 0) {
                     const FramePart head = FramePart(parcel.head).subspan(from, count);
                     frame.first_part.insert(frame.first_part.end(), head.begin(), head.end());
                     if (is_summed) sum = joined_checksum(sum, checksum(head));
                     return;
                   }
                   frame.slices.push_back({index - 1, from, count});
                   if (sums) sum = joined_checksum(sum, sums->of(parcel.tensors[index - 1], from, count));
                 });
  const FixedHeader fixed{magic,
                          frame_version,
                          static_cast<std::uint8_t>(parcel.kind),
                          is_summed ? std::uint8_t{0} : is_not_summed,
                          envelope.sender.value,
                          envelope.receiver.value,
                          envelope.life,
                          envelope.sequence,
                          static_cast<std::uint32_t>(parcel.head.size()),
                          static_cast<std::uint32_t>(tensors),
                          first,
                          bytes,
                          sum ^ static_cast<std::uint64_t>(parcel.is_spoilt)};
  std::byte* out = frame.first_part.data();
  std::memcpy(out, &fixed, sizeof fixed);
  for (std::size_t i = 0; i < tensors; ++i) {
    const TableEntry entry = entry_of(parcel.tensors[i]);
    std::memcpy(out + sizeof fixed + i * sizeof entry, &entry, sizeof entry);
  }
  const std::size_t summed = header - sizeof(std::uint64_t);
  const std::uint64_t header_sum = checksum(FramePart{out, summed});
  std::memcpy(out + summed, &header_sum, sizeof header_sum);
}

std::variant<FrameView, FrameFault> read_frame(std::span<const FramePart> parts, const FrameLimits& limits) {
  if (parts.empty()) return FrameFault::malformed;
  const auto header = checked_header(parts[0]);
  if (const auto* fault = std::get_if<FrameFault>(&header)) return *fault;
  const auto fixed = read<FixedHeader>(parts[0], 0);
  FrameView view;
  view.envelope = {HostId{fixed.sender}, HostId{fixed.receiver}, fixed.life, fixed.sequence};
  view.kind = static_cast<ParcelKind>(fixed.kind);
  view.head_bytes = view.total_bytes = fixed.head_bytes;
  view.tensors = fixed.tensors;
  view.is_summed = (fixed.flags & is_not_summed) == 0;
  if (!view.is_summed && fixed.piece_checksum != 0) return FrameFault::malformed;
  view.checksum = fixed.piece_checksum;
  if (view.head_bytes > std::min(limits.parcel_bytes, most_head_bytes) || fixed.bytes > limits.piece_bytes)
    return FrameFault::oversized;
  if (const auto fault = read_table(parts[0], limits, view)) return *fault;
  if (fixed.first > view.total_bytes || fixed.bytes > view.total_bytes - fixed.first) return FrameFault::malformed;
  if (fixed.bytes == 0 && view.total_bytes > 0) return FrameFault::malformed;
  if (fixed.bytes < std::min(limits.least_piece_bytes, view.total_bytes - fixed.first)) return FrameFault::malformed;
  view.first = fixed.first;
  view.bytes = fixed.bytes;
  if (!has_its_parts(view, parts, std::get<std::size_t>(header))) return FrameFault::malformed;
  view.head = parts[0].subspan(std::get<std::size_t>(header));
  view.tensor_parts = parts.subspan(1);
  return view;
}

}  // namespace rubato
