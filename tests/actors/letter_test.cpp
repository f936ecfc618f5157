// Letters between hosts: what is sent arrives, and what is no letter is none.
#include <doctest/doctest.h>

#include "actors/letter.hpp"
#include "runtime/random.hpp"

using namespace rubato;

namespace {

Tensor tensor_of(TensorPool& pool, std::initializer_list<double> numbers) {
  Tensor tensor = pool.make<double>(numbers.size());
  std::copy(numbers.begin(), numbers.end(), tensor.writable<double>());
  return tensor;
}

// To receivers 2, 5 and 7, the second tensor of whom is their own.
Letter some_letter(TensorPool& pool) {
  Letter letter;
  letter.sender = {3};
  letter.incarnation = 2;
  letter.sequence = 17;
  letter.tag = 9;
  letter.epoch = {4, 1};
  letter.sent = Time{std::chrono::milliseconds(1234)};
  letter.payload.common[0] = tensor_of(pool, {1, 2, 3});
  letter.payload.paper_bits = 192;
  for (const double number : {20.0, 50.0, 70.0}) letter.payload.own.push_back(tensor_of(pool, {number}));
  return letter;
}

std::vector<Delivery> two_of_three() {
  return {{{2}, 0, 0, Duration{5}, {}}, {{7}, 2, 1, Duration{6}, Duration{8}}};
}

}  // namespace

TEST_CASE("a letter arrives as it was sent, with the own tensors of the receivers of that host at their places") {
  TensorPool pool;
  auto arrived = to_letter(to_parcel(some_letter(pool), two_of_three(), false), 10);
  REQUIRE(arrived);
  const Letter& letter = *arrived->letter;
  CHECK(letter.sender == ClientId{3});
  CHECK(letter.incarnation == 2);
  CHECK(letter.sequence == 17);
  CHECK(letter.tag == 9);
  CHECK(letter.epoch == Epoch{4, 1});
  CHECK(letter.sent == Time{std::chrono::milliseconds(1234)});
  CHECK(letter.payload.paper_bits == 192);
  CHECK(letter.payload.common[0].data<double>()[2] == 3);
  CHECK_FALSE(letter.payload.common[1]);
  REQUIRE(letter.payload.own.size() == 3);
  CHECK(letter.payload.own[0].data<double>()[0] == 20);
  CHECK_FALSE(letter.payload.own[1]);
  CHECK(letter.payload.own[2].data<double>()[0] == 70);
  REQUIRE(arrived->deliveries.size() == 2);
  CHECK(arrived->deliveries[1].receiver == ClientId{7});
  CHECK(arrived->deliveries[1].copies == 1);
  CHECK(arrived->deliveries[1].copy_delay == Duration{8});
}

TEST_CASE("a letter cut anywhere, or with other tensors than it says, is none") {
  TensorPool pool;
  const Parcel whole = to_parcel(some_letter(pool), two_of_three(), true);
  CHECK(whole.when_full == WhenFull::drop_oldest);
  for (std::size_t length = 0; length < whole.head.size(); ++length) {
    Parcel cut = whole;
    cut.head.resize(length);
    CHECK_FALSE(to_letter(std::move(cut), 10));
  }
  Parcel longer = whole;
  longer.head.push_back({});
  CHECK_FALSE(to_letter(std::move(longer), 10));
  Parcel fewer = whole;
  fewer.tensors.pop_back();
  CHECK_FALSE(to_letter(std::move(fewer), 10));
  Parcel more = whole;
  more.tensors.push_back(more.tensors.front());
  CHECK_FALSE(to_letter(std::move(more), 10));
  CHECK_FALSE(to_letter(whole, 7));  // a run of seven clients has no client 7
}

TEST_CASE("heads of random bytes never make more than a letter of this run") {
  TensorPool pool;
  const Parcel whole = to_parcel(some_letter(pool), two_of_three(), false);
  Stream chance(5, no_client, Purpose::noise);
  std::size_t taken = 0;
  for (int i = 0; i < 20000; ++i) {
    Parcel damaged = whole;
    for (std::uint64_t k = 1 + chance.below(3); k > 0; --k)
      damaged.head[chance.below(damaged.head.size())] = static_cast<std::byte>(chance.below(256));
    const auto letter = to_letter(std::move(damaged), 10);
    if (!letter) continue;
    ++taken;
    REQUIRE(letter->letter->sender.value < 10);
    for (const Delivery& delivery : letter->deliveries) {
      REQUIRE(delivery.receiver.value < 10);
      REQUIRE(delivery.place < letter->letter->payload.own.size());
    }
  }
  CHECK(taken > 0);
  CHECK(taken < 20000);
}

TEST_CASE("a note between protocols arrives as it was sent, and nothing else is one") {
  const Note note{MessageKind::request, {4}, {6}, 77, Duration{3}};
  const Parcel parcel = to_parcel(note);
  const auto arrived = to_note(parcel, 8);
  REQUIRE(arrived);
  CHECK(arrived->from == ClientId{4});
  CHECK(arrived->to == ClientId{6});
  CHECK(arrived->number == 77);
  CHECK(arrived->delay == Duration{3});
  CHECK_FALSE(to_note(parcel, 6));
  CHECK_FALSE(to_note(to_parcel(Note{MessageKind::update, {4}, {6}, 77, {}}), 8));
}
