#include "runtime/payload.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

using namespace rubato;

namespace {

template <class Number>
Tensor filled(TensorPool& pool, std::size_t count, Number first) {
  Tensor tensor = pool.make<Number>(count);
  for (std::size_t i = 0; i < count; ++i) tensor.writable<Number>()[i] = first + static_cast<Number>(i);
  return tensor;
}

}  // namespace

TEST_CASE("the numbers of every tensor begin at a multiple of 64 bytes") {
  TensorPool pool;
  std::vector<Tensor> kept;
  for (std::size_t count : {0, 1, 7, 16, 17, 1000, 1008, 1009, 100000}) {
    kept.push_back(pool.make<float>(count));
    kept.push_back(pool.make<double>(count));
    kept.push_back(pool.make<std::uint32_t>(count));
  }
  for (const Tensor& tensor : kept) CHECK(reinterpret_cast<std::uintptr_t>(tensor.data<std::byte>()) % 64 == 0);
}

TEST_CASE("a tensor knows its scalar, count and bytes") {
  TensorPool pool;
  const Tensor floats = pool.make<float>(3), doubles = pool.make<double>(3), indices = pool.make<std::uint32_t>(5);
  CHECK(floats.scalar() == Scalar::float32);
  CHECK(doubles.scalar() == Scalar::float64);
  CHECK(indices.scalar() == Scalar::uint32);
  CHECK(floats.count() == 3);
  CHECK(floats.bytes() == 12);
  CHECK(doubles.bytes() == 24);
  CHECK(indices.bytes() == 20);
  CHECK_FALSE(Tensor{});
  CHECK(Tensor{}.bytes() == 0);
  Payload payload{.common = {floats, doubles}};
  for (int i = 0; i < 2; ++i) payload.own.push_back(indices);
  CHECK(payload.bytes() == 12 + 24 + 40);
}

TEST_CASE("a payload is shared without a copy, however many hold it") {
  TensorPool pool;
  Payload payload;
  payload.common[0] = filled<double>(pool, 1000, 1);
  const std::size_t reserved = pool.reserved_bytes();
  const std::vector<Payload> holders(1000, payload);
  for (const Payload& holder : holders) CHECK(holder.common[0].data<double>() == payload.common[0].data<double>());
  CHECK(pool.reserved_bytes() == reserved);
}

TEST_CASE("the numbers live until the last holder is gone, and their block is used again afterwards") {
  TensorPool pool;
  Tensor first = filled<float>(pool, 100, 0);
  const float* const block = first.data<float>();
  Tensor second = first;
  first = Tensor{};
  CHECK(second.data<float>() == block);
  CHECK(second.data<float>()[99] == 99);
  CHECK(pool.make<float>(100).data<float>() != block);  // still held: another block
  second = Tensor{};
  CHECK(pool.make<float>(100).data<float>() == block);
}

TEST_CASE("a tensor that is separated from its other holders has the same numbers in a block of its own") {
  TensorPool pool;
  Tensor mine = filled<float>(pool, 1000, 1);
  const float* const block = mine.data<float>();
  CHECK_FALSE(mine.is_shared());
  mine.separate();
  CHECK(mine.data<float>() == block);
  const Tensor other = mine;
  CHECK(mine.is_shared());
  CHECK(mine.is_same(other));
  mine.separate();
  CHECK_FALSE(mine.is_same(other));
  CHECK_FALSE(mine.is_shared());
  mine.writable<float>()[999] = -1;
  CHECK(mine.data<float>()[0] == 1);
  CHECK(other.data<float>() == block);
  CHECK(other.data<float>()[999] == 1000);
  CHECK(Tensor{}.is_same(Tensor{}));
  CHECK_FALSE(Tensor{}.is_shared());
}

TEST_CASE("a tensor of many megabytes is like any other, and its memory goes back to the system") {
  TensorPool pool(0);
  Tensor large = pool.make<double>(3'000'000);
  CHECK(reinterpret_cast<std::uintptr_t>(large.data<double>()) % 64 == 0);
  large.writable<double>()[2'999'999] = 7;
  CHECK(large.data<double>()[2'999'999] == 7);
  CHECK(pool.reserved_bytes() >= 24'000'000);
  large = {};
  CHECK(pool.reserved_bytes() == 0);
}

TEST_CASE("a tensor may be given to itself and moved from") {
  TensorPool pool;
  Tensor tensor = filled<float>(pool, 4, 5);
  const Tensor& same = tensor;
  tensor = same;
  CHECK(tensor.data<float>()[0] == 5);
  const Tensor moved = std::move(tensor);
  CHECK(moved.data<float>()[3] == 8);
}

TEST_CASE("a steady run asks the system for nothing") {
  TensorPool pool;
  const auto round = [&] {
    std::vector<Tensor> under_way;
    for (std::size_t i = 0; i < 300; ++i) under_way.push_back(pool.make<float>(i * i));
  };
  round();
  const std::size_t reserved = pool.reserved_bytes();
  for (int i = 0; i < 20; ++i) round();
  CHECK(pool.reserved_bytes() == reserved);
}

TEST_CASE("a block is never smaller than its tensor and at most a quarter and a line larger") {
  TensorPool pool;
  for (std::size_t count = 0; count < 200000; count = count * 5 / 4 + 1) {
    const std::size_t before = pool.reserved_bytes();
    const Tensor tensor = pool.make<double>(count);
    const std::size_t reserved = pool.reserved_bytes() - before;
    if (reserved == 0) continue;  // a block of an earlier size was good enough
    CAPTURE(count);
    REQUIRE(reserved >= tensor.bytes() + 64);
    REQUIRE(reserved <= (tensor.bytes() + 64) * 5 / 4 + 64);
  }
}

TEST_CASE("a block that another thread gives back is used again") {
  TensorPool pool;
  for (int i = 0; i < 100; ++i) {
    Tensor made = filled<double>(pool, 500, i);
    std::thread other([tensor = std::move(made), i] { REQUIRE(tensor.data<double>()[0] == i); });
    other.join();
  }
  CHECK(pool.reserved_bytes() < 2 * (500 * 8 + 64) + 2048);
}

TEST_CASE("tensors outlive their pool, on whichever thread they end") {
  for (int turn = 0; turn < 50; ++turn) {
    auto pool = std::make_unique<TensorPool>();
    std::vector<std::thread> holders;
    for (int i = 0; i < 4; ++i)
      holders.emplace_back([tensors = std::vector<Tensor>(20, filled<double>(*pool, 100u + static_cast<unsigned>(i), 0.5)),
                            more = filled<float>(*pool, 7, 3.f)]() mutable {
        while (!tensors.empty()) tensors.pop_back();
        REQUIRE(more.data<float>()[6] == 9.f);
      });
    const Tensor kept = filled<double>(*pool, 300, 1.);
    pool.reset();
    CHECK(kept.data<double>()[299] == 300.);
    for (std::thread& holder : holders) holder.join();
  }
}

TEST_CASE("a message is finite if all tensors that its receiver gets are") {
  TensorPool pool;
  Payload payload;
  payload.common[0] = filled<float>(pool, 33, 0);
  payload.common[1] = filled<std::uint32_t>(pool, 5, 0x7FF0'0000);
  payload.own_each = 2;
  for (int i = 0; i < 4; ++i) payload.own.push_back(filled<double>(pool, 9, i));
  CHECK(payload.is_finite(0));
  CHECK(payload.is_finite(1));
  CHECK(payload.is_finite(7));  // beyond its receivers
  Tensor infinite = filled<double>(pool, 9, 0);
  infinite.writable<double>()[8] = -std::numeric_limits<double>::infinity();
  payload.own[3] = infinite;
  CHECK(payload.is_finite(0));
  CHECK_FALSE(payload.is_finite(1));
  Tensor nan = filled<float>(pool, 33, 0);
  nan.writable<float>()[32] = std::numeric_limits<float>::quiet_NaN();
  payload.common[0] = nan;
  CHECK_FALSE(payload.is_finite(0));
}

TEST_CASE("what was known of the numbers of a tensor is forgotten with them") {
  TensorPool pool;
  {
    Tensor nan = filled<float>(pool, 8, 0);
    nan.writable<float>()[3] = std::numeric_limits<float>::quiet_NaN();
    CHECK_FALSE(nan.is_finite());
    CHECK_FALSE(nan.is_finite());
  }
  Tensor again = filled<float>(pool, 8, 0);  // the same block
  CHECK(again.is_finite());
  again.writable<float>()[7] = std::numeric_limits<float>::infinity();
  CHECK_FALSE(again.is_finite());
}
