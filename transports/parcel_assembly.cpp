#include "transports/parcel_assembly.hpp"

#include <algorithm>
#include <utility>

#include "runtime/checksum.hpp"

namespace rubato {

bool ParcelAssembly::add(const FrameView& frame) {
  if (frame.first == 0)
    begin(frame);
  else if (!is_open_)
    return false;
  else if (!continues(frame))
    return forget(), false;
  last_sequence_ = frame.envelope.sequence;
  if (!copy(frame)) return forget(), false;
  filled_ += frame.bytes;
  return filled_ == total_;
}

void ParcelAssembly::begin(const FrameView& frame) {
  forget();
  shapes_.clear();
  for (std::size_t i = 0; i < frame.tensors; ++i) shapes_.push_back(frame.shape(i));
  parcel_.kind = frame.kind;
  parcel_.tensors.resize(frame.tensors);
  for (std::size_t i = 0; i < frame.tensors; ++i)
    if (shapes_[i].is_there && shapes_[i].count == 0) parcel_.tensors[i] = pool_.make(shapes_[i].scalar, 0);
  is_open_ = true;
  head_bytes_ = frame.head_bytes;
  total_ = frame.total_bytes;
  filled_ = 0;
}

bool ParcelAssembly::continues(const FrameView& frame) const {
  if (frame.envelope.sequence != last_sequence_ + 1 || frame.first != filled_ || frame.kind != parcel_.kind) return false;
  if (frame.head_bytes != head_bytes_ || frame.tensors != shapes_.size()) return false;
  for (std::size_t i = 0; i < frame.tensors; ++i)
    if (shapes_[i] != frame.shape(i)) return false;
  return true;
}

// Where this stretch of the head (0) or of a tensor goes.
std::byte* ParcelAssembly::place_of(std::size_t index, std::size_t from, std::size_t bytes) {
  if (index == 0) {
    parcel_.head.resize(from + bytes);
    return parcel_.head.data() + from;
  }
  Tensor& tensor = parcel_.tensors[index - 1];
  if (!tensor) tensor = pool_.make(shapes_[index - 1].scalar, shapes_[index - 1].count);
  return tensor.writable<std::byte>() + from;
}

bool ParcelAssembly::copy(const FrameView& frame) {
  std::uint64_t sum = 0;
  std::size_t next = 0;
  const auto size_of_tensor = [&](std::size_t i) { return shapes_[i].bytes(); };
  for_each_slice(frame.head_bytes, frame.tensors, size_of_tensor, frame.first, frame.bytes,
                 [&](std::size_t index, std::size_t from, std::size_t) {
                   const FramePart part = index == 0 ? frame.head : frame.tensor_parts[next++];
                   std::byte* const place = part.empty() ? nullptr : place_of(index, from, part.size());
                   if (frame.is_summed)
                     sum = joined_checksum(sum, copy_with_checksum(place, part));
                   else
                     std::copy(part.begin(), part.end(), place);
                 });
  return sum == frame.checksum;
}

Parcel ParcelAssembly::take() {
  is_open_ = false;
  return std::exchange(parcel_, {});
}

void ParcelAssembly::forget() {
  if (is_open_) ++given_up_;
  is_open_ = false;
  parcel_ = {};
}

}  // namespace rubato
