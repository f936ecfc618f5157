// Heads of parcels: a few numbers and texts as little-endian bytes, written and read by the same calls.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/ids.hpp"
#include "runtime/time.hpp"
#include "transports/transport.hpp"

namespace rubato {

static_assert(std::endian::native == std::endian::little, "heads are little endian");

/// A head that is written, or one that is read. Reading trusts nothing: what is missing or too long leaves zeros and a
/// head that is not whole.
class Head {
 public:
  static constexpr std::size_t longest_text = 4096;
  static constexpr Duration longest = Duration::max() / 8;  ///< so that sums of a few do not overflow

  /// To be written.
  Head() = default;
  /// To be read; the bytes outlive it.
  explicit Head(std::span<const std::byte> bytes) : given_{bytes}, is_reading_{true} {}

  bool is_reading() const { return is_reading_; }
  /// Everything was there and nothing is left.
  bool is_whole() const { return is_good_ && given_.empty(); }
  std::vector<std::byte> take() { return std::move(written_); }

  template <class Number>
  requires(std::is_arithmetic_v<Number> || std::is_enum_v<Number>) &&
      (!std::is_same_v<Number, bool>)void operator()(Number& value) {
    raw(&value, sizeof value);
  }
  void operator()(bool& value) {
    auto byte = static_cast<std::uint8_t>(value);
    (*this)(byte);
    require(byte <= 1);
    value = byte == 1;
  }
  void operator()(Duration& value) {
    Duration::rep count = value.count();
    (*this)(count);
    require(count >= -longest.count() && count <= longest.count());
    value = is_good_ ? Duration{count} : Duration{};
  }
  void operator()(ClientId& client) { (*this)(client.value); }
  void operator()(std::string& text) {
    if (!is_reading_ && text.size() > longest_text) text.resize(longest_text);
    auto size = static_cast<std::uint16_t>(text.size());
    (*this)(size);
    require(size <= longest_text && (!is_reading_ || size <= given_.size()));
    if (is_reading_) text.resize(is_good_ ? size : 0);
    raw(text.data(), text.size());
  }
  template <class Value>
  void operator()(std::optional<Value>& value) {
    bool is_there = value.has_value();
    (*this)(is_there);
    if (is_reading_) value = is_there ? std::optional<Value>(Value{}) : std::nullopt;
    if (value) (*this)(*value);
  }
  /// Things in a row, each at least one byte and not more than `most`; `each` does one of them.
  template <class Value, class Each>
  void list(std::vector<Value>& values, Each each, std::size_t most = std::numeric_limits<std::size_t>::max()) {
    auto count = static_cast<std::uint32_t>(values.size());
    (*this)(count);
    require(!is_reading_ || (count <= given_.size() && count <= most));
    if (!is_reading_) {
      for (Value& value : values) each(*this, value);
      return;
    }
    values.clear();  // it grows with what is really there
    for (std::uint32_t i = 0; i < count && is_good_; ++i) each(*this, values.emplace_back());
  }
  /// What a reader finds wrong itself.
  void require(bool is_right) { is_good_ = is_good_ && is_right; }

 private:
  void raw(void* data, std::size_t size) {
    if (size == 0) return;
    if (!is_reading_) {
      written_.resize(written_.size() + size);
      std::memcpy(written_.data() + written_.size() - size, data, size);
      return;
    }
    require(size <= given_.size());
    if (!is_good_) {
      std::memset(data, 0, size);
      return;
    }
    std::memcpy(data, given_.data(), size);
    given_ = given_.subspan(size);
  }

  std::vector<std::byte> written_;
  std::span<const std::byte> given_;
  bool is_reading_ = false;
  bool is_good_ = true;
};

/// The bytes of something that has a member `void form(Head&)`.
template <class Thing>
std::vector<std::byte> head_of(Thing thing) {
  Head head;
  thing.form(head);
  return head.take();
}

template <class Thing>
Parcel parcel_of(ParcelKind kind, Thing thing, WhenFull when_full = WhenFull::wait) {
  return {kind, when_full, false, head_of(std::move(thing)), {}};
}

/// The thing that these bytes are; nothing if they are no such thing.
template <class Thing>
std::optional<Thing> read_head(std::span<const std::byte> bytes) {
  Head head(bytes);
  Thing thing;
  thing.form(head);
  if (!head.is_whole()) return std::nullopt;
  return thing;
}

}  // namespace rubato
