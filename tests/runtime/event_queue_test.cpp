#include "runtime/event_queue.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <compare>
#include <tuple>
#include <vector>

#include "runtime/random.hpp"
#include "tests/support/property.hpp"

using namespace rubato;
using namespace rubato::test;
using namespace std::chrono_literals;

namespace {

/// The order as runtime/event_queue.hpp states it; the kind of a message decides last.
using Key = std::tuple<Time, Priority, std::uint32_t, std::uint32_t, std::uint64_t, MessageKind>;

Key key_of(const Wake& wake) { return {wake.at, wake.priority, wake.client.value, wake.detail, 0, MessageKind::update}; }
Key key_of(const Flight& flight) {
  return {flight.arrived, Priority::arrival, flight.receiver.value, flight.id.sender.value, flight.id.sequence, flight.kind};
}

/// Takes the first event out of the queue.
Key pop(EventQueue& queue) {
  Key key;
  const EventQueue::Kind kind = queue.first();
  const Time at = queue.first_time();
  switch (kind) {
    case EventQueue::Kind::wake:
      key = key_of(queue.first_wake());
      queue.pop_wake();
      break;
    case EventQueue::Kind::flight:
      key = key_of(queue.first_flight());
      queue.pop_flight();
      break;
    case EventQueue::Kind::closing:
      key = key_of(queue.first_closing());
      queue.pop_closing();
      break;
    case EventQueue::Kind::none:
      FAIL("the queue is empty");
  }
  CHECK(std::get<Time>(key) == at);
  return key;
}

Flight flight(Time at, std::uint32_t receiver, std::uint32_t sender, Sequence sequence) {
  return {{{{{sender}, 0, sequence}}, no_slot, at}, {receiver}};
}

/// Pushes and pops at random, few instants and clients so that ties abound, and compares with a sorted list.
void agrees_with_a_sorted_list(bool flights_keep_order, std::uint64_t seed, int actions) {
  EventQueue queue(4, flights_keep_order);
  std::vector<Key> list;
  Stream chance(seed, {}, Purpose::batch);
  Time now{};
  Time last_flight{};
  std::uint32_t number = 0;
  const auto some = [&](std::uint64_t bound) { return static_cast<std::uint32_t>(chance.below(bound)); };
  const auto pop_both = [&] {
    std::sort(list.begin(), list.end());
    const Key expected = list.front();
    list.erase(list.begin());
    REQUIRE(pop(queue) == expected);
    now = std::get<Time>(expected);
  };
  for (int i = 0; i < actions; ++i) {
    const Time at = now + Duration{some(4)};
    switch (some(6)) {
      case 0: {
        constexpr std::array priorities{Priority::period,   Priority::unify,    Priority::compute,
                                        Priority::transmit, Priority::deadline, Priority::evaluate};
        const Wake wake{at, priorities[some(6)], {some(5)}, ++number};
        queue.push(wake);
        list.push_back(key_of(wake));
        break;
      }
      case 1:
      case 2: {
        last_flight = std::max(last_flight, at);
        Flight one = flight(flights_keep_order ? last_flight : at, some(4), some(4), ++number / 2);
        one.kind = number % 2 ? MessageKind::model : MessageKind::update;
        queue.push(one);
        list.push_back(key_of(one));
        break;
      }
      case 3: {
        // One window a client at a time.
        const Wake closing{now + 3ns, Priority::window_close, {some(5)}};
        if (std::find(list.begin(), list.end(), key_of(closing)) != list.end()) break;
        queue.push_closing(closing);
        list.push_back(key_of(closing));
        break;
      }
      default:
        if (!list.empty()) pop_both();
    }
  }
  while (!list.empty()) pop_both();
  CHECK(queue.first() == EventQueue::Kind::none);
  CHECK(queue.flights() == 0);
}

}  // namespace

TEST_CASE("events leave the queue by time, priority, client, source and sequence: free flights") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    agrees_with_a_sorted_list(false, seed, 3000);
  }
}

TEST_CASE("events leave the queue by time, priority, client, source and sequence: flights of one delay") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    agrees_with_a_sorted_list(true, seed, 3000);
  }
}

TEST_CASE("all priorities of one instant come in the order of the table, whatever order they were pushed in") {
  for (const bool keeps_order : {false, true}) {
    EventQueue queue(4, keeps_order);
    const Time at{1s};
    for (const Priority priority :
         {Priority::evaluate, Priority::transmit, Priority::unify, Priority::deadline, Priority::period, Priority::compute})
      queue.push(Wake{at, priority, {0}});
    queue.push_closing({at, Priority::window_close, {0}});
    queue.push(flight(at, 0, 1, 0));
    for (int priority = 0; priority < 8; ++priority) CHECK(std::get<Priority>(pop(queue)) == static_cast<Priority>(priority));
  }
}

TEST_CASE("among arrivals of one instant the receiver decides, then the sender, then the sequence") {
  for (const bool keeps_order : {false, true}) {
    EventQueue queue(0, keeps_order);
    for (const auto& [receiver, sender, sequence] : {std::tuple{2u, 0u, 0u}, {1u, 3u, 1u}, {1u, 2u, 9u}, {1u, 3u, 0u}})
      queue.push(flight(Time{1s}, receiver, sender, sequence));
    CHECK(pop(queue) == key_of(flight(Time{1s}, 1, 2, 9)));
    CHECK(pop(queue) == key_of(flight(Time{1s}, 1, 3, 0)));
    CHECK(pop(queue) == key_of(flight(Time{1s}, 1, 3, 1)));
    CHECK(pop(queue) == key_of(flight(Time{1s}, 2, 0, 0)));
  }
}

TEST_CASE("client, link and event numbers survive the queue up to their limits") {
  EventQueue queue(1, false);
  const Wake wake{Time{std::chrono::hours(24 * 365 * 200)}, Priority::transmit, {0xFFFF'FFFE}, (1u << 28) - 1};
  queue.push(wake);
  REQUIRE(queue.first() == EventQueue::Kind::wake);
  CHECK(key_of(queue.first_wake()) == key_of(wake));
}

TEST_CASE("replacing the first wake is the same as taking it and pushing another") {
  Stream chance(3, {}, Purpose::batch);
  EventQueue replaced(8, true), popped(8, true);
  for (std::uint32_t client = 0; client < 100; ++client)
    for (EventQueue* queue : {&replaced, &popped}) queue->push(Wake{Time{Duration{client % 7}}, Priority::compute, {client}});
  for (int i = 0; i < 5000; ++i) {
    REQUIRE(replaced.first() == EventQueue::Kind::wake);
    REQUIRE(popped.first() == EventQueue::Kind::wake);
    Wake next = replaced.first_wake();
    REQUIRE(key_of(next) == key_of(popped.first_wake()));
    next.at += Duration{1 + static_cast<std::int64_t>(chance.below(20))};
    replaced.replace_wake(next);
    popped.pop_wake();
    popped.push(next);
  }
}

TEST_CASE("a wake at the far end of time is never kept, and replacing by it takes the first away") {
  EventQueue queue(1, true);
  queue.push(Wake{never, Priority::compute, {0}});
  CHECK(queue.first() == EventQueue::Kind::none);
  queue.push(Wake{Time{1s}, Priority::compute, {0}});
  CHECK(queue.first() == EventQueue::Kind::wake);
  queue.replace_wake(Wake{never, Priority::compute, {0}});
  CHECK(queue.first() == EventQueue::Kind::none);
}

TEST_CASE("flights of one delay stay in order when the ring is full, grows and wraps around") {
  EventQueue queue(0, true);
  std::uint32_t pushed = 0, taken = 0;
  for (int wave = 1; wave < 12; ++wave) {
    for (int i = 0; i < 60 * wave; ++i, ++pushed) queue.push(flight(Time{Duration{pushed}}, pushed, 0, 0));
    for (int i = 0; i < 50 * wave; ++i, ++taken) {
      REQUIRE(queue.first() == EventQueue::Kind::flight);
      REQUIRE(queue.first_flight().receiver.value == taken);
      queue.pop_flight();
    }
  }
  CHECK(queue.flights() == pushed - taken);
}

TEST_CASE("whatever is pushed comes out sorted") {
  CHECK(broken([] {
          using Numbers = std::tuple<std::uint8_t, std::uint8_t, std::uint8_t, std::uint8_t>;
          const auto numbers = *rc::gen::arbitrary<std::vector<Numbers>>();
          EventQueue queue(0, false);
          std::vector<Key> list;
          std::uint32_t index = 0;
          for (const auto& [time, kind, client, source] : numbers) {
            const Time at{Duration{time % 8}};
            if (kind % 3 == 0) {
              const Wake wake{at, kind % 2 ? Priority::compute : Priority::unify, {client % 4u}, index++};
              queue.push(wake);
              list.push_back(key_of(wake));
            } else {
              const Flight one = flight(at, client % 4u, source % 4u, index++);
              queue.push(one);
              list.push_back(key_of(one));
            }
          }
          std::sort(list.begin(), list.end());
          for (const Key& expected : list) RC_ASSERT(pop(queue) == expected);
          RC_ASSERT(queue.first() == EventQueue::Kind::none);
        }) == "");
}
