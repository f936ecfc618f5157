// Letters between hosts: what is sent arrives, and what is no letter is none.
#include <doctest/doctest.h>

#include "actors/wall/gathering.hpp"
#include "runtime/random.hpp"
#include "transports/message.hpp"

using namespace rubato;

namespace {

Tensor tensor_of(TensorPool& pool, std::initializer_list<double> numbers) {
  Tensor tensor = pool.make<double>(numbers.size());
  std::copy(numbers.begin(), numbers.end(), tensor.writable<double>());
  return tensor;
}

// To receivers 2, 5 and 7, the second tensor of whom is their own.
Message some_letter(TensorPool& pool) {
  Message message;
  message.id = {{3}, 2, 17};
  message.tag = 9;
  message.epoch = {4, 1};
  message.sent = Time{std::chrono::milliseconds(1234)};
  message.payload.common[0] = tensor_of(pool, {1, 2, 3});
  message.payload.paper_bits = 192;
  for (const double number : {20.0, 50.0, 70.0}) message.payload.own.push_back(tensor_of(pool, {number}));
  return message;
}

std::vector<Delivery> two_of_three() { return {{{2}, 0, 0, Duration{5}, {}}, {{7}, 2, 1, Duration{6}, Duration{8}}}; }

}  // namespace

TEST_CASE("a letter arrives as it was sent, with the own tensors of the receivers of that host at their places") {
  TensorPool pool;
  auto arrived = to_message(to_parcel(some_letter(pool), two_of_three(), false), 10);
  REQUIRE(arrived);
  const Message& message = *arrived->message;
  CHECK(message.id == MessageId{{3}, 2, 17});
  CHECK(message.tag == 9);
  CHECK(message.epoch == Epoch{4, 1});
  CHECK(message.sent == Time{std::chrono::milliseconds(1234)});
  CHECK(message.payload.paper_bits == 192);
  CHECK(message.payload.common[0].data<double>()[2] == 3);
  CHECK_FALSE(message.payload.common[1]);
  REQUIRE(message.payload.own.size() == 3);
  CHECK(message.payload.own[0].data<double>()[0] == 20);
  CHECK_FALSE(message.payload.own[1]);
  CHECK(message.payload.own[2].data<double>()[0] == 70);
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
    CHECK_FALSE(to_message(std::move(cut), 10));
  }
  Parcel longer = whole;
  longer.head.push_back({});
  CHECK_FALSE(to_message(std::move(longer), 10));
  Parcel fewer = whole;
  fewer.tensors.pop_back();
  CHECK_FALSE(to_message(std::move(fewer), 10));
  Parcel more = whole;
  more.tensors.push_back(more.tensors.front());
  CHECK_FALSE(to_message(std::move(more), 10));
  CHECK_FALSE(to_message(whole, 7));  // a run of seven clients has no client 7
}

TEST_CASE("heads of random bytes never make more than a message of this run") {
  TensorPool pool;
  const Parcel whole = to_parcel(some_letter(pool), two_of_three(), false);
  Stream chance(5, no_client, Purpose::noise);
  std::size_t taken = 0;
  for (int i = 0; i < 20000; ++i) {
    Parcel damaged = whole;
    for (std::uint64_t k = 1 + chance.below(3); k > 0; --k)
      damaged.head[chance.below(damaged.head.size())] = static_cast<std::byte>(chance.below(256));
    const auto message = to_message(std::move(damaged), 10);
    if (!message) continue;
    ++taken;
    REQUIRE(message->message->id.sender.value < 10);
    for (const Delivery& delivery : message->deliveries) {
      REQUIRE(delivery.receiver.value < 10);
      REQUIRE(delivery.place < message->message->payload.own.size());
    }
  }
  CHECK(taken > 0);
  CHECK(taken < 20000);
}

TEST_CASE("a note between protocols arrives as it was sent, and nothing beyond the kinds of messages is one") {
  Message note;
  note.id.sender = {4};
  note.tag = 77;
  note.kind = MessageKind::request;
  const Parcel parcel = to_parcel(note, {{.receiver = {6}, .delay = Duration{3}}}, true);
  CHECK(parcel.kind == ParcelKind::control);
  CHECK(parcel.when_full == WhenFull::wait);
  const auto arrived = to_message(parcel, 8);
  REQUIRE(arrived);
  CHECK(arrived->message->id == note.id);
  CHECK(arrived->message->tag == 77);
  CHECK(arrived->message->kind == MessageKind::request);
  REQUIRE(arrived->deliveries.size() == 1);
  CHECK(arrived->deliveries[0].receiver == ClientId{6});
  CHECK(arrived->deliveries[0].delay == Duration{3});
  CHECK_FALSE(to_message(parcel, 6));
  note.kind = static_cast<MessageKind>(5);
  CHECK_FALSE(to_message(to_parcel(note, {{.receiver = {6}}}, false), 8));
}

TEST_CASE("the last state of a client arrives at another host with every one of its counters") {
  TensorPool pool;
  FinalClient last;
  last.client = {4};
  last.counts = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, Duration{12}};
  last.snapshot.traffic = {1, 2, 3.5, 4};
  last.snapshot.model = last.model = tensor_of(pool, {0.5, 0.25});
  Archive sent{Archive::Beside{}};
  last.archive(sent, &pool);
  Archive received(sent.bytes(), sent.take_tensors());
  FinalClient arrived;
  arrived.archive(received);
  received.expect_end();
  CHECK(arrived.client == ClientId{4});
  CHECK(arrived.counts == last.counts);
  CHECK(arrived.snapshot.traffic.gradients == 4);
}
