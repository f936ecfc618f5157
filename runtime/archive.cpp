#include "runtime/archive.hpp"

#include <cassert>

namespace rubato {

namespace {

std::string in_words(Scalar scalar) {
  switch (scalar) {
    case Scalar::float32:
      return "float32";
    case Scalar::float64:
      return "float64";
    case Scalar::uint32:
      return "uint32";
  }
  return "unknown";
}

}  // namespace

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

void Archive::operator()(Tensor& tensor) { numbers(tensor, shape(tensor)); }

void Archive::tensor_of(Tensor& tensor, const Shape& expected, bool may_be_empty) {
  const Shape found = shape(tensor);
  if (found != expected && !(found.is_empty && may_be_empty))
    throw BadArchive((found.is_empty ? "no tensor" : "a tensor of " + std::to_string(found.count) + " " + in_words(found.scalar)) +
                     " where there must be one of " + std::to_string(expected.count) + " " + in_words(expected.scalar));
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
