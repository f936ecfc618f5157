#include "transports/parcel_assembly.hpp"

#include <algorithm>
#include <utility>

#include "runtime/checksum.hpp"

namespace rubato {

namespace {

bool has_shape(const Tensor& tensor, const TensorShape& shape) {
  if (!tensor) return !shape.is_there;
  return shape.is_there && tensor.scalar() == shape.scalar && tensor.count() == shape.count;
}

}  // namespace

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
  parcel_ = Parcel{frame.kind, WhenFull::wait, false, std::vector<std::byte>(frame.head_bytes), {}};
  parcel_.tensors.reserve(frame.tensors);
  for (std::size_t i = 0; i < frame.tensors; ++i) {
    const TensorShape shape = frame.shape(i);
    parcel_.tensors.push_back(shape.is_there ? pool_.make(shape.scalar, shape.count) : Tensor{});
  }
  is_open_ = true;
  total_ = frame.total_bytes;
  filled_ = 0;
}

bool ParcelAssembly::continues(const FrameView& frame) const {
  if (frame.envelope.sequence != last_sequence_ + 1 || frame.first != filled_ || frame.kind != parcel_.kind) return false;
  if (frame.head_bytes != parcel_.head.size() || frame.tensors != parcel_.tensors.size()) return false;
  for (std::size_t i = 0; i < frame.tensors; ++i)
    if (!has_shape(parcel_.tensors[i], frame.shape(i))) return false;
  return true;
}

bool ParcelAssembly::copy(const FrameView& frame) {
  std::uint64_t sum = 0;
  std::size_t next = 0;
  const auto size_of_tensor = [&](std::size_t i) { return frame.shape(i).bytes(); };
  for_each_slice(frame.head_bytes, frame.tensors, size_of_tensor, frame.first, frame.bytes,
                 [&](std::size_t index, std::size_t from, std::size_t) {
                   std::byte* target = index == 0 ? parcel_.head.data() : parcel_.tensors[index - 1].writable<std::byte>();
                   const FramePart part = index == 0 ? frame.head : frame.tensor_parts[next++];
                   std::byte* const place = part.empty() ? nullptr : target + from;
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
