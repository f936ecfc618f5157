#include "runtime/archive.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "runtime/words.hpp"

namespace rubato {

std::string Archive::in_words(const Shape& shape) { return std::to_string(shape.count) + " " + std::string(word_of(shape.scalar)); }

Archive::Shape Archive::shape_of(const Tensor& tensor) { return tensor ? Shape{false, tensor.scalar(), tensor.count()} : Shape{}; }

Archive::Shape Archive::shape(const Tensor& tensor) {
  Shape shape = shape_of(tensor);
  // 0: no tensor; else 1 + its scalar.
  std::uint8_t kind = tensor ? static_cast<std::uint8_t>(1 + static_cast<unsigned>(shape.scalar)) : std::uint8_t{0};
  (*this)(kind);
  if (kind > 3) throw BadArchive("a tensor of an unknown scalar");
  if (kind == 0) return {};
  shape.scalar = static_cast<Scalar>(kind - 1);
  shape.count = length(shape.count, size_of(shape.scalar));
  shape.is_empty = false;
  return shape;
}

void Archive::numbers(Tensor& tensor, const Shape& shape) {
  if (is_reading()) {
    assert((shape.is_empty || pool_) && "an archive with tensors is read with a pool");
    tensor = shape.is_empty ? Tensor{} : pool_->make(shape.scalar, shape.count);
  }
  if (tensor) raw(tensor.writable<std::byte>(), tensor.bytes());
}

void Archive::operator()(Tensor& tensor) { is_beside_ ? tensor_beside(tensor) : numbers(tensor, shape(tensor)); }

void Archive::tensor_beside(Tensor& tensor) {
  bool is_there = static_cast<bool>(tensor);
  (*this)(is_there);
  if (!is_reading_) {
    if (is_there) beside_.push_back(tensor);
    return;
  }
  require(!is_there || (next_beside_ < beside_.size() && beside_[next_beside_]), "a tensor is missing beside it");
  tensor = is_there ? std::move(beside_[next_beside_++]) : Tensor{};
}

void Archive::payload(Payload& payload, std::span<const std::uint32_t> places) {
  for (Tensor& tensor : payload.common) (*this)(tensor);
  bool has_own = !payload.own.empty();
  (*this)(payload.paper_bits, payload.own_each, has_own);
  const std::size_t each = payload.own_each;
  require(each >= 1 && each <= Payload::most_tensors);
  if (!has_own || places.empty()) return;
  if (is_reading_) payload.own.resize((*std::ranges::max_element(places) + std::size_t{1}) * each);
  for (const std::size_t place : places)
    for (std::size_t i = 0; i < each; ++i) (*this)(payload.own[place * each + i]);
}

void Archive::payload(Payload& whole) {
  std::vector<std::uint32_t> places(length(whole.own.size() / whole.own_each, 1));
  std::iota(places.begin(), places.end(), 0u);
  payload(whole, places);
}

void Archive::tensor_of(Tensor& tensor, const Shape& expected, bool may_be_empty) {
  const Shape found = shape(tensor);
  if (found != expected && !(found.is_empty && may_be_empty))
    throw BadArchive((found.is_empty ? "no tensor" : "a tensor of " + in_words(found)) + " where there must be one of " +
                     in_words(expected));
  numbers(tensor, found);
}

void Archive::fixed(Tensor& tensor) {
  assert(tensor && "a tensor that is never empty");
  tensor_of(tensor, shape_of(tensor), false);
}

void Archive::optional(Tensor& tensor, Scalar scalar, std::size_t count) { tensor_of(tensor, {false, scalar, count}, true); }

void Archive::optional(std::vector<Tensor>& tensors, Scalar scalar, std::size_t count) {
  expect(length(tensors.size(), 1), tensors.size(), "tensors");
  for (Tensor& tensor : tensors) optional(tensor, scalar, count);
}

}  // namespace rubato
