// What waits to leave, and what makes room for what.
#include "transports/parcel_queue.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "tests/support/property.hpp"
#include "tests/transports/collector.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

constexpr std::size_t each = ParcelQueue::overhead + 100;

Parcel parcel_of(std::uint64_t number, WhenFull when_full, std::size_t bytes = 100) {
  Parcel parcel = numbered(number, when_full);
  parcel.head.resize(bytes);
  return parcel;
}

std::vector<std::uint64_t> all_of(ParcelQueue& queue) {
  std::vector<std::uint64_t> numbers;
  while (!queue.is_empty()) numbers.push_back(number_of(queue.take()));
  return numbers;
}

}  // namespace

TEST_CASE("parcels leave a queue in the order in which they came") {
  ParcelQueue queue(10 * each);
  for (std::uint64_t i = 0; i < 5; ++i) CHECK(queue.put(parcel_of(i, WhenFull{static_cast<std::uint8_t>(i % 3)})).is_taken);
  CHECK(queue.size() == 5);
  CHECK(queue.bytes() == 5 * each);
  CHECK(all_of(queue) == std::vector<std::uint64_t>{0, 1, 2, 3, 4});
  CHECK(queue.bytes() == 0);
}

TEST_CASE("in a full queue as many of the oldest states make room as a newer one needs") {
  ParcelQueue queue(4 * each);
  for (std::uint64_t i = 0; i < 4; ++i) queue.put(parcel_of(i, i == 1 ? WhenFull::refuse : WhenFull::drop_oldest));
  const auto outcome = queue.put(parcel_of(4, WhenFull::drop_oldest, 100 + each));
  CHECK(outcome.is_taken);
  CHECK(outcome.dropped_states == 2);
  CHECK(all_of(queue) == std::vector<std::uint64_t>{1, 3, 4});
}

TEST_CASE("a state that would not fit even alone is refused, and nothing makes room for it in vain") {
  ParcelQueue queue(3 * each);
  queue.put(parcel_of(0, WhenFull::refuse));
  queue.put(parcel_of(1, WhenFull::drop_oldest));
  const auto outcome = queue.put(parcel_of(2, WhenFull::drop_oldest, 100 + 2 * each));
  CHECK_FALSE(outcome.is_taken);
  CHECK(outcome.dropped_states == 0);
  CHECK(all_of(queue) == std::vector<std::uint64_t>{0, 1});
}

TEST_CASE("increments push no parcel out, and control is taken up to twice the limit") {
  ParcelQueue queue(2 * each);
  for (std::uint64_t i = 0; i < 2; ++i) REQUIRE(queue.put(parcel_of(i, WhenFull::drop_oldest)).is_taken);
  CHECK_FALSE(queue.put(parcel_of(2, WhenFull::refuse)).is_taken);
  CHECK(queue.put(parcel_of(3, WhenFull::wait)).is_taken);
  CHECK(queue.put(parcel_of(4, WhenFull::wait)).is_taken);
  CHECK_FALSE(queue.put(parcel_of(5, WhenFull::wait)).is_taken);
  CHECK(all_of(queue) == std::vector<std::uint64_t>{0, 1, 3, 4});
}

TEST_CASE("what gives way is taken by an empty queue alone, and nothing makes room for it") {
  ParcelQueue queue(2 * each);
  CHECK(queue.put(parcel_of(0, WhenFull::give_way)).is_taken);
  const auto second = queue.put(parcel_of(1, WhenFull::give_way));
  CHECK_FALSE(second.is_taken);
  CHECK(second.gave_way);
  CHECK(second.dropped_states == 0);
  CHECK(queue.put(parcel_of(2, WhenFull::refuse)).is_taken);
  CHECK_FALSE(queue.put(parcel_of(3, WhenFull::refuse)).gave_way);
  CHECK(all_of(queue) == std::vector<std::uint64_t>{0, 2});
  const auto large = queue.put(parcel_of(4, WhenFull::give_way, 3 * each));
  CHECK_FALSE(large.is_taken);
  CHECK_FALSE(large.gave_way);
}

TEST_CASE("whatever is put and taken, a queue keeps its order, its limit and its sum") {
  const std::string counterexample = broken([] {
    constexpr std::size_t limit = 5 * each;
    ParcelQueue queue(limit);
    std::uint64_t number = 0, next = 0, inside = 0;
    const int steps = *rc::gen::inRange(0, 60);
    for (int i = 0; i < steps; ++i) {
      if (!queue.is_empty() && *rc::gen::inRange(0, 3) == 0) {
        const std::uint64_t taken = number_of(queue.take());
        RC_ASSERT(taken >= next);
        next = taken + 1;
        --inside;
      } else {
        const auto outcome = queue.put(
            parcel_of(number++, *rc::gen::element(WhenFull::drop_oldest, WhenFull::refuse, WhenFull::wait, WhenFull::give_way),
                      *rc::gen::inRange<std::size_t>(8, 2 * each)));
        inside += outcome.is_taken;
        inside -= outcome.dropped_states;
      }
      RC_ASSERT(queue.bytes() <= 2 * limit);
      RC_ASSERT(queue.size() == inside);
      RC_ASSERT(queue.is_empty() == (queue.bytes() == 0));
    }
    queue.clear();
    RC_ASSERT(queue.is_empty());
    RC_ASSERT(queue.bytes() == 0u);
  });
  CAPTURE(counterexample);
  CHECK(counterexample.empty());
}
