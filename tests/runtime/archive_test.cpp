// Archives: what was written is read, and nothing else is believed.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "runtime/archive.hpp"
#include "tests/support/property.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

using Bytes = std::vector<std::byte>;

template <class Act>
std::string refusal(Act act) {
  try {
    act();
  } catch (const BadArchive& fault) {
    return fault.what();
  }
  return "nothing was refused";
}

Tensor floats(TensorPool& pool, const std::vector<float>& numbers) {
  Tensor tensor = pool.make<float>(numbers.size());
  std::copy(numbers.begin(), numbers.end(), tensor.writable<float>());
  return tensor;
}

std::vector<float> numbers_of(const Tensor& tensor) { return {tensor.data<float>(), tensor.data<float>() + tensor.count()}; }

enum class Colour : std::uint8_t { red, green };

// One of everything.
struct State {
  std::uint32_t whole = 0;
  double number = 0;
  Colour colour = Colour::red;
  bool is_true = false;
  std::string word;
  std::vector<double> numbers;
  std::vector<std::string> words;
  Tensor tensor, empty;

  void archive(Archive& archive) {
    archive(whole);
    archive(number);
    archive(colour);
    archive(is_true);
    archive(word);
    archive(numbers);
    archive.list(words, [](Archive& each, std::string& text) { each(text); });
    archive(tensor);
    archive(empty);
  }
};

State some_state(TensorPool& pool) {
  State state{7, 0.5, Colour::green, true, "word", {1, 2, 3}, {"a", "bc", ""}, {}, {}};
  state.tensor = floats(pool, {4, 5});
  return state;
}

Bytes written(State state) {
  Archive archive;
  state.archive(archive);
  return archive.take();
}

}  // namespace

TEST_CASE("what was written comes back, whatever was there before") {
  TensorPool pool;
  const Bytes bytes = written(some_state(pool));
  State read{1, 1, Colour::red, false, "else", {9}, {"x"}, {}, floats(pool, {1})};
  Archive archive(bytes, pool);
  read.archive(archive);
  CHECK(archive.bytes_left() == 0);
  archive.expect_end();
  CHECK(read.whole == 7);
  CHECK(read.number == 0.5);
  CHECK(read.colour == Colour::green);
  CHECK(read.is_true);
  CHECK(read.word == "word");
  CHECK(read.numbers == std::vector<double>{1, 2, 3});
  CHECK(read.words == std::vector<std::string>{"a", "bc", ""});
  CHECK(numbers_of(read.tensor) == std::vector<float>{4, 5});
  CHECK_FALSE(read.empty);
  CHECK(written(read) == bytes);
}

TEST_CASE("a read tensor lies in memory of its own") {
  TensorPool pool;
  Tensor tensor = floats(pool, {1, 2});
  const Tensor published = tensor;
  Archive archive;
  archive(tensor);
  Archive back(archive.bytes(), pool);
  back(tensor);
  tensor.writable<float>()[0] = 9;
  CHECK(numbers_of(published) == std::vector<float>{1, 2});
}

TEST_CASE("an archive that ends early is refused at every length") {
  TensorPool pool;
  const Bytes bytes = written(some_state(pool));
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    State read;
    Archive archive(std::span{bytes}.first(length), pool);
    CHECK(refusal([&] { read.archive(archive); }) != "nothing was refused");
  }
}

TEST_CASE("no bytes, whatever they are, make a reader take more memory than there are bytes") {
  CHECK(broken(
            [](const std::vector<std::uint8_t>& given) {
              TensorPool pool;
              const auto bytes = std::as_bytes(std::span{given});
              State read;
              Archive archive(bytes, pool);
              try {
                read.archive(archive);
              } catch (const BadArchive&) {
              }
              RC_ASSERT(read.word.size() <= given.size());
              RC_ASSERT(read.numbers.size() <= given.size());
              RC_ASSERT(read.words.size() <= given.size());
              RC_ASSERT(read.tensor.bytes() <= given.size());
            },
            2000) == "");
}

TEST_CASE("a length that no memory could hold is refused before memory is asked for") {
  TensorPool pool;
  std::uint64_t length = ~std::uint64_t{0};
  std::uint8_t kind = 2;
  Archive lie, tensor_lie;
  lie(length);
  tensor_lie(kind);
  tensor_lie(length);
  std::vector<double> numbers;
  Tensor tensor;
  Archive one(lie.bytes(), pool), other(tensor_lie.bytes(), pool);
  CHECK(refusal([&] { one(numbers); }) == "a list is longer than the archive");
  CHECK(refusal([&] { other(tensor); }) == "a list is longer than the archive");
}

TEST_CASE("a flag that is neither and a tensor of no scalar are refused") {
  TensorPool pool;
  const Bytes two{std::byte{2}}, four{std::byte{4}};
  bool flag = false;
  Tensor tensor;
  Archive one(two, pool), other(four, pool);
  CHECK(refusal([&] { one(flag); }) == "neither true nor false");
  CHECK(refusal([&] { other(tensor); }) == "a tensor of an unknown scalar");
}

TEST_CASE("where a size is known, another is refused in words, and nothing at all where something must be") {
  TensorPool pool;
  Archive archive;
  Tensor two = floats(pool, {1, 2}), none;
  std::vector<double> numbers{1, 2, 3};
  std::vector<Tensor> list{two, none};
  const auto read = [&](auto write, auto take) {
    Archive to;
    write(to);
    Archive from(to.bytes(), pool);
    return refusal([&] { take(from); });
  };
  const auto writes_two = [&](Archive& to) { to(two); };
  const auto writes_none = [&](Archive& to) { to(none); };
  Tensor three = floats(pool, {0, 0, 0}), doubles = pool.make<double>(2);
  CHECK(read(writes_two, [&](Archive& from) { from.fixed(three); }) ==
        "a tensor of 2 float32 where there must be one of 3 float32");
  CHECK(read(writes_two, [&](Archive& from) { from.fixed(doubles); }) ==
        "a tensor of 2 float32 where there must be one of 2 float64");
  CHECK(read(writes_none, [&](Archive& from) { from.fixed(three); }) == "no tensor where there must be one of 3 float32");
  CHECK(read(writes_none, [&](Archive& from) { from.optional(three, Scalar::float32, 3); }) == "nothing was refused");
  CHECK_FALSE(three);
  CHECK(read(writes_two, [&](Archive& from) { from.optional(three, Scalar::float32, 3); }) ==
        "a tensor of 2 float32 where there must be one of 3 float32");
  CHECK(read(writes_two, [&](Archive& from) { from.optional(three, Scalar::float32, 2); }) == "nothing was refused");
  CHECK(numbers_of(three) == std::vector<float>{1, 2});
  std::vector<double> four(4);
  CHECK(read([&](Archive& to) { to.fixed(numbers); }, [&](Archive& from) { from.fixed(four); }) ==
        "3 numbers where there must be 4");
  std::vector<Tensor> one(1);
  CHECK(read([&](Archive& to) { to.optional(list, Scalar::float32, 2); },
             [&](Archive& from) { from.optional(one, Scalar::float32, 2); }) == "2 tensors where there must be 1");
}

TEST_CASE("what is left over is counted") {
  TensorPool pool;
  const Bytes bytes(3);
  Archive archive(bytes, pool);
  std::uint8_t first = 0;
  archive(first);
  CHECK(refusal([&] { archive.expect_end(); }) == "2 bytes are left over");
}

TEST_CASE("tensors beside an archive are neither copied nor missed, and none is left over") {
  TensorPool pool;
  State state = some_state(pool);
  Archive written(Archive::Beside{});
  state.archive(written);
  const Bytes bytes = written.take();
  const std::vector<Tensor> beside = written.take_tensors();
  REQUIRE(beside.size() == 1);
  CHECK(beside[0].data<float>() == state.tensor.data<float>());
  const auto read_with = [&](std::vector<Tensor> tensors) {
    State read;
    Archive archive(bytes, std::move(tensors));
    read.archive(archive);
    archive.expect_end();
    CHECK(numbers_of(read.tensor) == std::vector<float>{4, 5});
    CHECK_FALSE(read.empty);
  };
  CHECK_NOTHROW(read_with(beside));
  CHECK(refusal([&] { read_with({}); }) == "a tensor is missing beside it");
  CHECK(refusal([&] { read_with({Tensor{}}); }) == "a tensor is missing beside it");
  CHECK(refusal([&] { read_with({beside[0], beside[0]}); }) == "there are more tensors beside it than it says");
}

TEST_CASE("what may be missing is missing or there, and a time beyond all bounds is refused") {
  std::optional<std::uint32_t> there = 7, missing;
  Duration longest = Archive::longest;
  Archive written;
  written(there, missing, longest);
  Archive read(written.bytes());
  std::optional<std::uint32_t> one, other = 3;
  Duration time{};
  read(one, other, time);
  read.expect_end();
  CHECK(one == 7);
  CHECK_FALSE(other);
  CHECK(time == longest);
  CHECK_NOTHROW(read.require_moderate(time));
  CHECK(refusal([&] { read.require_moderate(time + Duration{1}); }) == "a time beyond all bounds");
}
