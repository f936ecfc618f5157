// RawFrame: bytes that a fuzzer made, cut into parts as a peer would send them, with checksums mended on request: else
// no random change would ever get past them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "runtime/checksum.hpp"
#include "tests/fuzz/insist.hpp"
#include "transports/frame.hpp"

namespace rubato::fuzz {

/// The bytes of an input, taken from its front; beyond its end everything is 0.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : bytes_{reinterpret_cast<const std::byte*>(data), size} {}

  bool is_empty() const { return bytes_.empty(); }
  std::uint8_t byte() { return static_cast<std::uint8_t>(number(1)); }
  std::size_t number(std::size_t width) {
    std::size_t value = 0;
    const auto taken = some(width);
    std::memcpy(&value, taken.data(), taken.size());
    return value;
  }
  /// So many, or what is left.
  std::span<const std::byte> some(std::size_t count) {
    const auto taken = bytes_.first(std::min(count, bytes_.size()));
    bytes_ = bytes_.subspan(taken.size());
    return taken;
  }

 private:
  std::span<const std::byte> bytes_;
};

/// What is done to the bytes before they are sent.
enum Mending : std::uint8_t {
  seal_header = 1,  // the header's checksum is made right
  seal_piece = 2,   // the piece's is
  cut_anyhow = 4,   // into parts whose lengths the input says, else into those that the header says
};

class RawFrame {
 public:
  /// Takes lengths from the input if the mending says so, then bytes.
  RawFrame(std::uint8_t mending, Input& input, std::size_t most_bytes) {
    std::vector<std::size_t> lengths;
    if (mending & cut_anyhow)
      for (std::size_t parts = input.byte() % 8 + 1u; parts > 0; --parts) lengths.push_back(input.number(2));
    const auto given = input.some(most_bytes);
    bytes_.assign(given.begin(), given.end());
    cut(mending & cut_anyhow ? lengths : claimed_lengths());
    if (mending & seal_piece) mend_piece();
    if (mending & seal_header) mend_header();
  }

  std::span<const FramePart> parts() const { return parts_; }
  std::uint64_t claimed_sender() const { return at<std::uint32_t>(sender_at); }

 private:
  static constexpr std::size_t fixed = 64, entry = 16, sum = 8;  // docs/wire-format.md
  static constexpr std::size_t sender_at = 8, head_at = 32, tensors_at = 36, first_at = 40, bytes_at = 48, sum_at = 56;

  template <class Number>
  std::uint64_t at(std::size_t place) const {
    Number number = 0;
    if (place + sizeof number <= bytes_.size()) std::memcpy(&number, bytes_.data() + place, sizeof number);
    return number;
  }
  std::size_t tensors() const { return std::min<std::size_t>(at<std::uint32_t>(tensors_at), most_frame_tensors + 1); }
  std::size_t header() const { return frame_header_bytes(tensors()); }

  std::vector<std::size_t> claimed_lengths() const {
    constexpr std::uint64_t much = 1 << 20;
    const auto size_of_tensor = [&](std::size_t i) {
      const std::size_t place = fixed + i * entry;
      const bool is_wide = at<std::uint8_t>(place + 8) == 1;
      return std::min(at<std::uint64_t>(place), much) * (is_wide ? 8 : 4);
    };
    std::vector<std::size_t> lengths;
    for_each_slice(at<std::uint32_t>(head_at), tensors(), size_of_tensor, std::min(at<std::uint64_t>(first_at), much),
                   std::min(at<std::uint64_t>(bytes_at), much), [&](std::size_t index, std::size_t, std::size_t bytes) {
                     lengths.push_back(index == 0 ? header() + bytes : bytes);
                   });
    return lengths;
  }

  // What is left over is one more part.
  void cut(const std::vector<std::size_t>& lengths) {
    std::size_t done = 0;
    for (const std::size_t length : lengths) {
      const std::size_t bytes = std::min(length, bytes_.size() - done);
      parts_.push_back(FramePart{bytes_}.subspan(done, bytes));
      done += bytes;
    }
    if (done < bytes_.size()) parts_.push_back(FramePart{bytes_}.subspan(done));
  }

  void mend_piece() {
    if (parts_.empty() || parts_[0].size() < header()) return;
    std::uint64_t value = joined_checksum(0, checksum(parts_[0].subspan(header())));
    for (const FramePart part : std::span{parts_}.subspan(1)) value = joined_checksum(value, checksum(part));
    std::memcpy(bytes_.data() + sum_at, &value, sizeof value);
  }
  void mend_header() {
    if (bytes_.size() < header()) return;
    const std::uint64_t value = checksum(FramePart{bytes_}.first(header() - sum));
    std::memcpy(bytes_.data() + header() - sum, &value, sizeof value);
  }

  std::vector<std::byte> bytes_;
  std::vector<FramePart> parts_;
};

}  // namespace rubato::fuzz
