// What other machines send is looked at before it is merged: algorithms know what fits them and what does not.
#include <doctest/doctest.h>

#include <functional>

#include "tests/support/algorithm_contract.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

using Change = std::function<Tensor(const Tensor&, TensorPool&)>;

Tensor cut(const Tensor& tensor, TensorPool& pool) {
  Tensor shorter = pool.make(tensor.scalar(), tensor.count() - 1);
  std::memcpy(shorter.writable<std::byte>(), tensor.data<std::byte>(), shorter.bytes());
  return shorter;
}

Tensor in_another_scalar(const Tensor& tensor, TensorPool& pool) {
  Tensor other = pool.make(tensor.scalar() == Scalar::float32 ? Scalar::uint32 : Scalar::float32, tensor.count());
  std::memset(other.writable<std::byte>(), 0, other.bytes());
  return other;
}

// The first coordinate lies beyond the end.
Tensor astray(const Tensor& tensor, TensorPool& pool) {
  Tensor other = pool.make(tensor.scalar(), tensor.count());
  std::memcpy(other.writable<std::byte>(), tensor.data<std::byte>(), other.bytes());
  other.writable<std::uint32_t>()[0] = static_cast<std::uint32_t>(ContractClient<float>::dimension);
  return other;
}

std::vector<Tensor*> tensors_of(Payload& payload) {
  std::vector<Tensor*> all;
  for (Tensor& tensor : payload.common)
    if (tensor) all.push_back(&tensor);
  for (std::size_t i = 0; i < payload.own.size(); ++i) all.push_back(&payload.own[i]);
  return all;
}

// With one tensor changed after the other.
void check_refused(const Algorithm<float>& algorithm, const Payload& payload, const Change& change, TensorPool& pool) {
  Payload copy = payload;
  for (std::size_t i = 0; i < tensors_of(copy).size(); ++i) {
    CAPTURE(i);
    Payload damaged = payload;
    Tensor& tensor = *tensors_of(damaged)[i];
    tensor = change(tensor, pool);
    CHECK_FALSE(algorithm.fits(damaged, {.kind = StepKind::merge}, 0));
  }
}

void check_fits(std::string_view name, const AlgorithmOptions& options) {
  CAPTURE(name);
  const CatalogueEntry& entry = catalogue_entry(name);
  using Client = ContractClient<float>;
  const Vector<float> start = contract_vector<float>(Client::dimension, 1);
  TensorPool pool;
  Client one(entry, options, pool, 0, start), other(entry, options, pool, 1, start);
  if (!one.needs().sends) return;
  one.compute();
  one.compute();
  const auto payload = one.publish();
  REQUIRE(payload);
  const Algorithm<float>& algorithm = *other;
  CHECK(algorithm.fits(*payload, {.kind = StepKind::merge}, 0));
  CHECK_FALSE(algorithm.fits({}, {.kind = StepKind::merge}, 0));
  if (!payload->own.empty()) CHECK_FALSE(algorithm.fits(*payload, {.kind = StepKind::merge}, 1));
  check_refused(
      algorithm, *payload, [](const Tensor&, TensorPool&) { return Tensor{}; }, pool);
  check_refused(algorithm, *payload, cut, pool);
  check_refused(algorithm, *payload, in_another_scalar, pool);
}

AlgorithmOptions with(const char* name, const char* word) {
  AlgorithmOptions options;
  options.set(name, word);
  return options;
}

}  // namespace

TEST_CASE("what a neighbour sends fits, and not when a tensor is missing, too short, or of another scalar") {
  std::size_t seen = 0;
  for (const CatalogueEntry* entry : catalogue()) {
    if (!entry->runs.has(ProtocolKind::push)) continue;
    ++seen;
    check_fits(entry->name, {});
  }
  CHECK(seen > 15);
  for (const char* kept : {"identity", "rand", "gsgd"}) check_fits("choco", with("compressor", kept));
}

TEST_CASE("a coordinate that no vector has does not fit") {
  for (const char* name : {"choco", "pame"}) {
    CAPTURE(name);
    TensorPool pool;
    ContractClient<float> one(catalogue_entry(name), {}, pool, 0, contract_vector<float>(ContractClient<float>::dimension, 1));
    one.compute();
    auto payload = one.publish();
    REQUIRE(payload);
    std::size_t coordinates = 0;
    for (Tensor* tensor : tensors_of(*payload)) {
      if (tensor->scalar() != Scalar::uint32) continue;
      ++coordinates;
      *tensor = astray(*tensor, pool);
    }
    CHECK(coordinates > 0);
    CHECK_FALSE((*one).fits(*payload, {.kind = StepKind::merge}, 0));
  }
}
