// Archive: the state of something as bytes, by one function that both writes and reads it.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/payload.hpp"
#include "runtime/time.hpp"

namespace rubato {

/// An archive could not be read: it is too short, or holds what cannot be.
class BadArchive : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

static_assert(std::endian::native == std::endian::little, "archives are little endian");

/// Written by calling it with each part of a state, read by the same calls on another archive. Numbers are kept as they
/// lie in memory (little endian). Reading trusts nothing: what is missing or too long throws BadArchive before any
/// memory is taken for it; what was read until then is half a state and of no use.
class Archive {
 public:
  /// So that sums of a few do not overflow.
  static constexpr Duration longest = Duration::max() / 8;

  /// An empty one, to be written.
  Archive() = default;
  /// Chooses that whole tensors are not copied into the bytes: they are handed out beside them.
  struct Beside {};
  /// An empty one, to be written, with tensors beside its bytes.
  explicit Archive(Beside) : is_beside_{true} {}
  /// To be read; the bytes outlive it. Tensors come from the pool.
  Archive(std::span<const std::byte> bytes, TensorPool& pool) : is_reading_{true}, given_{bytes}, pool_{&pool} {}
  /// To be read; it holds no tensors but those beside it.
  explicit Archive(std::span<const std::byte> bytes, std::vector<Tensor> beside = {})
      : is_reading_{true}, is_beside_{true}, given_{bytes}, beside_{std::move(beside)} {}

  /// True if it was made from bytes.
  bool is_reading() const { return is_reading_; }
  /// What has been written so far; valid until the next call.
  const std::vector<std::byte>& bytes() const { return written_; }
  /// What has been written; the archive is empty afterwards.
  std::vector<std::byte> take() { return std::move(written_); }
  /// The tensors that lie beside the bytes; none are left.
  std::vector<Tensor> take_tensors() { return std::move(beside_); }
  /// What has not been read yet.
  std::size_t bytes_left() const { return given_.size() - position_; }
  /// Nothing may be left when a state was read to its end: throws BadArchive otherwise.
  void expect_end() const {
    if (bytes_left() > 0) throw BadArchive(std::to_string(bytes_left()) + " bytes are left over");
    if (is_reading_ && next_beside_ < beside_.size()) throw BadArchive("there are more tensors beside it than it says");
  }
  /// What a reader finds wrong itself: throws BadArchive.
  void require(bool is_right, const char* fault = "it holds what cannot be") const {
    if (is_reading_ && !is_right) throw BadArchive(fault);
  }
  /// Reading refuses a time beyond `longest`, either way.
  void require_moderate(Duration value) const { require(value >= -longest && value <= longest, "a time beyond all bounds"); }

  /// A number, an enumerator or a plain structure without gaps.
  template <class T>
  requires(std::has_unique_object_representations_v<T> || std::is_floating_point_v<T>) &&
      (!requires(T & value, Archive& archive) { value.archive(archive); }) void operator()(T& value) {
    raw(&value, sizeof value);
  }

  /// What knows its parts itself.
  template <class T>
  requires requires(T& value, Archive& archive) { value.archive(archive); }
  void operator()(T& value) { value.archive(*this); }

  /// Several, one after the other.
  template <class First, class Second, class... More>
  void operator()(First& first, Second& second, More&... more) {
    (*this)(first);
    (*this)(second);
    ((*this)(more), ...);
  }

  /// Whether it is there, and then the value.
  template <class T>
  void operator()(std::optional<T>& value) {
    bool is_there = value.has_value();
    (*this)(is_there);
    if (is_reading_) value = is_there ? std::optional<T>(T{}) : std::nullopt;
    if (value) (*this)(*value);
  }

  /// One byte; reading refuses any but 0 and 1.
  void operator()(bool& value) {
    auto byte = static_cast<std::uint8_t>(value);
    (*this)(byte);
    if (byte > 1) throw BadArchive("neither true nor false");
    value = byte == 1;
  }

  /// Numbers in a row that know their length: std::vector, Eigen's vectors.
  template <class List>
  requires requires(List& list) {
    list.resize(list.size());
    requires std::is_trivially_copyable_v<std::remove_reference_t<decltype(*list.data())>>;
  }
  void operator()(List& list) {
    using Number = std::remove_reference_t<decltype(*list.data())>;
    const std::size_t count = length(static_cast<std::size_t>(list.size()), sizeof(Number));
    if (is_reading()) list.resize(static_cast<decltype(list.size())>(count));
    raw(list.data(), count * sizeof(Number));
  }

  /// Other things in a row: `each` archives one.
  template <class T, class Each>
  void list(std::vector<T>& values, Each each) {
    const std::size_t count = length(values.size(), 1);
    if (!is_reading()) {
      for (T& value : values) each(*this, value);
      return;
    }
    values.clear();  // it grows with what is really there
    for (std::size_t i = 0; i < count; ++i) each(*this, values.emplace_back());
  }

  /// Empty handles stay empty.
  void operator()(Tensor& tensor);

  /// Of a payload's tensors that are each receiver's own those at these places go along, and come back to them.
  void payload(Payload& payload, std::span<const std::uint32_t> places);
  /// All of it.
  void payload(Payload& payload);

  /// As above, for a state whose sizes are known before it is read. Numbers in a row: as many as there are now.
  template <class List>
  requires requires(List& list) { list.data(); }
  void fixed(List& list) {
    using Number = std::remove_reference_t<decltype(*list.data())>;
    const auto expected = static_cast<std::size_t>(list.size());
    expect(length(expected, sizeof(Number)), expected, "numbers");
    raw(list.data(), expected * sizeof(Number));
  }
  /// A tensor that is never empty: of the scalar and the count that it has now.
  void fixed(Tensor& tensor);
  /// A tensor that is empty, or has this scalar and count.
  void optional(Tensor& tensor, Scalar scalar, std::size_t count);
  /// As many of them as there are now.
  void optional(std::vector<Tensor>& tensors, Scalar scalar, std::size_t count);

  /// So many bytes as they lie in memory, without their number.
  void raw(void* data, std::size_t size) {
    if (size == 0) return;
    if (!is_reading()) {
      const std::size_t before = written_.size();
      written_.resize(before + size);
      std::memcpy(written_.data() + before, data, size);
      return;
    }
    if (size > bytes_left()) throw BadArchive("ends too early");
    std::memcpy(data, given_.data() + position_, size);
    position_ += size;
  }

 private:
  // Writes the length, or reads one that the rest of the archive can hold.
  std::size_t length(std::size_t count, std::size_t each) {
    std::uint64_t value = count;
    (*this)(value);
    if (is_reading() && value > bytes_left() / each) throw BadArchive("a list is longer than the archive");
    return static_cast<std::size_t>(value);
  }
  static void expect(std::size_t count, std::size_t expected, const char* things) {
    if (count != expected)
      throw BadArchive(std::to_string(count) + " " + things + " where there must be " + std::to_string(expected));
  }

  // What a tensor is, before its numbers: nothing, or a scalar and a count that the rest of the archive can hold.
  struct Shape {
    bool is_empty = true;
    Scalar scalar = Scalar::float32;
    std::size_t count = 0;
    bool operator==(const Shape&) const = default;
  };
  static std::string in_words(const Shape& shape);
  static Shape shape_of(const Tensor& tensor);
  Shape shape(const Tensor& tensor);
  void numbers(Tensor& tensor, const Shape& shape);
  void tensor_of(Tensor& tensor, const Shape& expected, bool may_be_empty);
  void tensor_beside(Tensor& tensor);

  bool is_reading_ = false;
  bool is_beside_ = false;  // whole tensors are
  std::vector<std::byte> written_;
  std::span<const std::byte> given_;
  std::vector<Tensor> beside_;
  std::size_t next_beside_ = 0;
  std::size_t position_ = 0;
  TensorPool* pool_ = nullptr;
};

}  // namespace rubato
