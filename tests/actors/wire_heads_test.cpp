// What docs/wire-format.md says of heads: bytes made from that page alone are understood, and what hosts send is as it
// says.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "actors/hosts/host_progress.hpp"
#include "actors/hosts/host_views.hpp"
#include "actors/hosts/item_exchange.hpp"
#include "actors/hosts/membership.hpp"
#include "tests/transports/collector.hpp"
#include "transports/hub.hpp"
#include "transports/message.hpp"
#include "transports/parcel_head.hpp"

using namespace rubato;
using namespace rubato::test;
using namespace std::chrono_literals;

namespace {

/// A head, field by field, as the page names them.
class Head {
 public:
  template <class Number>
  Head& number(Number value) {
    const auto* const begin = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), begin, begin + sizeof value);
    return *this;
  }
  Head& u8(std::uint8_t value) { return number(value); }
  Head& flag(bool value) { return u8(value ? 1 : 0); }
  Head& u32(std::uint32_t value) { return number(value); }
  Head& u64(std::uint64_t value) { return number(value); }
  Head& i64(std::int64_t value) { return number(value); }
  Head& f64(double value) { return number(value); }
  Head& text(std::string_view value) {
    u64(value.size());
    for (const char each : value) u8(static_cast<std::uint8_t>(each));
    return *this;
  }

  operator std::vector<std::byte>() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

Parcel parcel_with(ParcelKind kind, std::vector<std::byte> head, std::vector<Tensor> tensors = {}) {
  return {.kind = kind, .head = std::move(head), .tensors = std::move(tensors)};
}

HostInfo info_of(std::uint64_t life) { return {.run = "f00d", .arithmetic = "sse", .version = "1.2.3", .life = life}; }

/// The hello of a host that takes part in nothing yet.
Head hello(std::uint64_t life, std::uint64_t heard_life, std::uint32_t heard_edition, bool asks) {
  Head head;
  head.text("f00d").text("sse").text("1.2.3").u64(life).flag(false).flag(false).u64(0).i64(0).u32(0).flag(false).u64(0).u64(0);
  return head.u32(0).u64(heard_life).u32(heard_edition).flag(asks).u32(0);
}

/// Host a is ours; b is whoever has read the page.
struct Scene {
  Hub hub{2};
  std::unique_ptr<Transport> end_a = hub.end(a), end_b = hub.end(b);
  Collector heard;  // by b
  Membership membership{*end_a, {.names = {"a", "b"}, .self = info_of(7)}};

  void start() {
    end_b->start(heard);
    membership.start();
    send(ParcelKind::hello, hello(9, 0, 0, true));
    REQUIRE(comes_true([&] { return membership.host_info(b).has_value(); }));
  }
  ~Scene() {
    membership.stop({});
    end_b->stop({});
  }
  void send(ParcelKind kind, std::vector<std::byte> head) { REQUIRE(end_b->send(a, parcel_with(kind, std::move(head)))); }
  /// Waits for a parcel that is just so.
  bool hears(ParcelKind kind, const std::vector<std::byte>& head) {
    return heard.wait_until([&](const std::vector<Heard>& all) {
      return std::any_of(all.begin(), all.end(),
                         [&](const Heard& each) { return each.parcel.kind == kind && each.parcel.head == head; });
    });
  }
};

}  // namespace

TEST_CASE("a hello made from the page is understood, and answered by one as the page says") {
  Scene scene;
  scene.start();
  CHECK(scene.membership.host_info(b)->version == "1.2.3");
  CHECK(scene.membership.life(b) == 9);
  CHECK(scene.hears(ParcelKind::hello, hello(7, 9, 0, true)));
  scene.send(ParcelKind::hello, hello(9, 7, 0, true));
  CHECK(scene.hears(ParcelKind::hello, hello(7, 9, 0, false)));
  CHECK(scene.membership.ignored() == 0);
  Head running;
  running.text("f00d").text("sse").text("1.2.3").u64(9).flag(false).flag(true).i64(5).u64(77).i64(8).u32(2).flag(true).i64(9).u64(
      3);
  running.u64(1).text("algorithm.eta").text("0.1");
  scene.send(ParcelKind::hello, running.u32(1).u64(7).u32(0).flag(false).u32(4));
  CHECK(comes_true([&] { return scene.membership.host_info(b)->running_since == Duration(5); }));
  CHECK(scene.membership.host_info(b)->begun == 77);
  CHECK(scene.membership.host_info(b)->came_to == Duration(8));
  CHECK(scene.membership.host_info(b)->goes_on_from == Duration(9));
  CHECK(scene.membership.host_info(b)->checkpoint == 3);
  CHECK(scene.membership.known_lives() == 4);
}

TEST_CASE("a question for the time made from the page is answered as it says") {
  Scene scene;
  scene.start();
  scene.send(ParcelKind::clock_ask, Head().i64(123'456'789));
  REQUIRE(scene.heard.wait_until([](const auto& all) {
    return std::any_of(all.begin(), all.end(), [](const Heard& each) { return each.parcel.kind == ParcelKind::clock_answer; });
  }));
  const auto all = scene.heard.heard();
  const auto answer =
      std::find_if(all.begin(), all.end(), [](const Heard& each) { return each.parcel.kind == ParcelKind::clock_answer; });
  REQUIRE(answer->parcel.head.size() == 24);
  std::array<std::int64_t, 3> instants{};
  std::memcpy(instants.data(), answer->parcel.head.data(), sizeof instants);
  CHECK(instants[0] == 123'456'789);
  CHECK(instants[1] <= instants[2]);
}

TEST_CASE("an item asked for as the page says comes as it says, and is let go of when its receipt comes") {
  Scene scene;
  TensorPool pool;
  ItemExchange items(scene.membership, *scene.end_a, pool);
  scene.start();
  const Tensor tensor = tensor_of(pool, Scalar::float32, 10);
  items.promise({ItemKind::payload, 5}, {b});
  items.deliver({ItemKind::payload, 5}, [&](HostId) { return Item{std::vector<std::byte>(Head().u8(42)), {tensor}}; });
  scene.send(ParcelKind::want, Head().flag(false).u64(1).u8(1).u64(5));
  const Head expected = Head().u8(1).u64(5).u32(0).u32(1).u8(42);
  REQUIRE(scene.hears(ParcelKind::payload, expected));
  for (const Heard& each : scene.heard.heard())
    if (each.parcel.kind == ParcelKind::payload) CHECK(are_equal(each.parcel.tensors.at(0), tensor));
  CHECK(items.kept() == 1);
  scene.send(ParcelKind::have, Head().flag(false).u64(1).u8(1).u64(5));
  CHECK(comes_true([&] { return items.kept() == 0; }));
  CHECK(items.refused() == 0);

  bool has_come = false;
  items.want({ItemKind::answer, 3}, b,
             [&](std::optional<Item> item) { return has_come = item && item->head == std::vector<std::byte>(Head().u8(1)); });
  CHECK(scene.hears(ParcelKind::want, Head().flag(false).u64(1).u8(3).u64(3)));
  scene.send(ParcelKind::payload, Head().u8(3).u64(3).u32(0).u32(1).u8(1));
  CHECK(scene.hears(ParcelKind::have, Head().flag(false).u64(1).u8(3).u64(3)));
  CHECK(has_come);
  scene.membership.stop({});
}

namespace {

/// Host a is ours and exchanges items with b and c; what they send a test makes up, and c hears what it is sent.
struct Trio {
  Hub hub{3};
  std::unique_ptr<Transport> end_a = hub.end(a), end_c = hub.end(c);
  Collector heard;  // by c
  TensorPool pool;
  Membership membership{*end_a, {.names = {"a", "b", "c"}, .self = info_of(7)}};
  ItemExchange items{membership, *end_a, pool};

  Trio() {
    end_c->start(heard);
    membership.start();
    for (const HostId host : {b, c}) hear(host, ParcelKind::hello, hello(9, 7, 0, false));
  }
  ~Trio() {
    membership.stop({});
    end_c->stop({});
  }
  void hear(HostId from, ParcelKind kind, std::vector<std::byte> head) {
    membership.on_parcel(from, parcel_with(kind, std::move(head)), monotonic_now());
  }
  /// Payloads of publications, from this number on.
  static Head names(std::uint64_t first, std::uint64_t count) {
    Head head;
    head.flag(false).u64(count);
    for (std::uint64_t i = 0; i < count; ++i) head.u8(1).u64(first + i);
    return head;
  }
  bool c_has_item() {
    return heard.wait_until([](const auto& all) {
      return std::any_of(all.begin(), all.end(), [](const Heard& each) { return each.parcel.kind == ParcelKind::payload; });
    });
  }
};

}  // namespace

TEST_CASE("whatever one host asks for, what others ask for is remembered until it is there") {
  Trio trio;
  for (std::uint64_t first = 0; first < 100'000; first += 1000) trio.hear(b, ParcelKind::want, Trio::names(first, 1000));
  trio.hear(c, ParcelKind::want, Trio::names(3, 1));
  trio.items.promise({ItemKind::payload, 3}, {c});
  trio.items.deliver({ItemKind::payload, 3}, [](HostId) { return Item{}; });
  CHECK(trio.c_has_item());
}

TEST_CASE("a host gets what was promised to it, and its receipt lets go of what was sent to it, and of nothing else") {
  Trio trio;
  const ItemName mine{ItemKind::payload, 3};
  trio.items.promise(mine, {c});
  trio.items.deliver(mine, [](HostId) { return Item{}; });
  trio.hear(b, ParcelKind::want, Trio::names(3, 1));
  for (const HostId host : {b, c}) trio.hear(host, ParcelKind::have, Trio::names(3, 1));  // nothing was sent yet
  CHECK(trio.items.keeps(mine));
  trio.hear(c, ParcelKind::want, Trio::names(3, 1));
  CHECK(trio.c_has_item());
  trio.hear(b, ParcelKind::have, Trio::names(3, 1));
  CHECK(trio.items.keeps(mine));
  trio.hear(c, ParcelKind::have, Trio::names(3, 1));
  CHECK_FALSE(trio.items.keeps(mine));
}

TEST_CASE("a host tells how far it is as the page says, and why it cannot go on") {
  Scene scene;
  TensorPool pool;
  ItemExchange items(scene.membership, *scene.end_a, pool);
  HostProgress progress(scene.membership, *scene.end_a, items, {a, b});
  scene.start();
  const auto notice = [](bool has_failed) {
    Head head;
    head.u64(0).flag(false).flag(false).flag(false).u64(0).u64(0).u64(0).u64(0).u64(0).text("").flag(has_failed);
    return has_failed ? head.text("enough").flag(false) : head.flag(false);
  };
  CHECK(scene.hears(ParcelKind::notice, notice(false)));
  scene.send(ParcelKind::notice, notice(true));
  CHECK(comes_true([&] { return progress.failure() == "enough"; }));
  CHECK(scene.hears(ParcelKind::notice, notice(true)));
  scene.membership.stop({});
}

TEST_CASE("a host asks for a view and tells its own as the page says") {
  Scene scene;
  const std::vector<HostId> host_of{a, a, b, b, b};
  HostViews views(scene.membership, *scene.end_a, host_of, 60);
  scene.start();
  REQUIRE(comes_true([&] { return scene.membership.is_alive(b); }));
  const auto are_heard = [&](auto say, const std::vector<std::byte>& head) {  // said again, because what gives way may be left out
    return comes_true([&] {
      say();
      return std::ranges::any_of(
          scene.heard.heard(), [&](const Heard& each) { return each.parcel.kind == ParcelKind::view && each.parcel.head == head; });
    });
  };
  CHECK(are_heard([&] { views.ask(); }, {}));
  views.tell({});
  CHECK_FALSE(views.is_asked());
  scene.send(ParcelKind::view, {});
  REQUIRE(comes_true([&] { return views.is_asked(); }));
  const auto told = [&](const HostView& view, const Head& head) { return are_heard([&] { views.tell(view); }, head); };
  CHECK(told({.seconds = 2, .computations = 3, .sent = 4, .delivered = 5}, Head().f64(2).u64(3).u64(4).u64(5).flag(false)));
  HostView scored{.seconds = 8.5, .computations = 30, .sent = 40, .delivered = 39};
  scored.scores = HostScores{.seconds = 8, .measured = 2, .loss = 0.5};
  Head head;
  head.f64(8.5).u64(30).u64(40).u64(39).flag(true).f64(8).u64(2).f64(0.5);
  CHECK(told(scored, Head(head).flag(false)));
  scored.scores->accuracy = HostAccuracy{0.75, 0.7, {1}};
  CHECK(told(scored, Head(head).flag(true).f64(0.75).f64(0.7).u32(1)));
  scene.send(ParcelKind::view, head.flag(true).f64(0.875).f64(0.25).u32(4));
  REQUIRE(comes_true([&] { return views.newest(b).has_value(); }));
  const HostView heard = views.newest(b)->view;
  CHECK(heard.seconds == 8.5);
  CHECK(heard.computations == 30);
  CHECK(heard.sent == 40);
  CHECK(heard.delivered == 39);
  REQUIRE(heard.scores);
  CHECK(heard.scores->seconds == 8);
  CHECK(heard.scores->measured == 2);
  CHECK(heard.scores->loss == 0.5);
  REQUIRE(heard.scores->accuracy);
  CHECK(heard.scores->accuracy->mean == 0.875);
  CHECK(heard.scores->accuracy->worst == 0.25);
  CHECK(heard.scores->accuracy->client == ClientId{4});
  scene.membership.stop({});
}

TEST_CASE("a message made from the page is understood, and is what a host makes of it again") {
  TensorPool pool;
  const Tensor shared = tensor_of(pool, Scalar::float32, 5), own = tensor_of(pool, Scalar::float64, 3);
  Head head;
  head.u8(0).u32(2).u32(1).u32(40).u32(6).u32(3).u32(1).i64(1'000'000'000).i64(700'000'000);
  head.u64(2);
  head.u32(4).u32(0).u8(0).i64(10).i64(0);
  head.u32(5).u32(2).u8(1).i64(20).i64(30);
  head.flag(true).flag(false).flag(false).f64(160).u8(1).flag(true).flag(true).flag(false);
  const auto arrived = to_message(parcel_with(ParcelKind::message, head, {shared, own}), 6);
  REQUIRE(arrived);
  const Message& message = *arrived->message;
  CHECK(message.id == MessageId{{2}, 1, 40});
  CHECK(message.tag == 6);
  CHECK(message.epoch == Epoch{3, 1});
  CHECK(message.sent == Time{1s});
  CHECK(message.since == Time{700ms});
  REQUIRE(arrived->deliveries.size() == 2);
  CHECK(arrived->deliveries[1].receiver == ClientId{5});
  CHECK(arrived->deliveries[1].place == 2);
  CHECK(arrived->deliveries[1].copy_delay == Duration(30));
  CHECK(are_equal(message.payload.common[0], shared));
  CHECK(are_equal(message.payload.own.at(0), own));
  CHECK(message.payload.paper_bits == 160);
  const Parcel again = to_parcel(message, arrived->deliveries, true);
  CHECK(again.kind == ParcelKind::message);
  CHECK(again.head == std::vector<std::byte>(head));
  CHECK(again.tensors.size() == 2);

  Head request;
  request.u8(3).u32(2).u32(1).u32(0).u32(9).u32(0).u32(0).i64(5).i64(0).u64(1).u32(4).u32(0).u8(0).i64(0).i64(0);
  request.flag(false).flag(false).flag(false).f64(0).u8(1).flag(false);
  const auto asked = to_message(parcel_with(ParcelKind::control, request), 6);
  REQUIRE(asked);
  CHECK(asked->message->kind == MessageKind::request);
  CHECK(to_parcel(*asked->message, asked->deliveries, false).kind == ParcelKind::control);
}

TEST_CASE("a payload in virtual time made from the page is understood, and is what a host makes of it again") {
  TensorPool pool;
  const Tensor shared = tensor_of(pool, Scalar::float32, 5), own = tensor_of(pool, Scalar::float32, 3);
  Head head;
  head.u64(2).u32(1).u32(3);
  head.flag(true).flag(false).flag(false).f64(0).u8(1).flag(true).flag(true).flag(true);
  const auto payload = payload_of({head, {shared, own, own}}, 4);
  REQUIRE(payload);
  CHECK(are_equal(payload->common[0], shared));
  REQUIRE(payload->own.size() == 4);
  CHECK(are_equal(payload->own.at(3), own));
  CHECK(packed_payload(*payload, {1, 3}).head == std::vector<std::byte>(head));
}
