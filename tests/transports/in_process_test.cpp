// One slot, from opening to release. What threads do to it at once is in tsan_slots.cpp.
#include "transports/in_process.hpp"

#include <doctest/doctest.h>

#include <set>
#include <vector>

using namespace rubato;

namespace {

Payload payload_of(TensorPool& pool, double number, std::size_t count = 8) {
  Payload payload;
  payload.common[0] = pool.make<double>(count);
  for (std::size_t i = 0; i < count; ++i) payload.common[0].writable<double>()[i] = number;
  return payload;
}

}  // namespace

TEST_CASE("a slot is ready when it is filled, not before") {
  TensorPool pool;
  SlotTable slots;
  const SlotIndex slot = slots.open(1);
  CHECK_FALSE(slots.is_ready(slot));
  CHECK(slots.fill(slot, payload_of(pool, 3)) == nullptr);
  CHECK(slots.is_ready(slot));
  Waiter waiter;
  CHECK(slots.ready_or_wait(slot, waiter));
  CHECK(slots.payload(slot).common[0].data<double>()[7] == 3);
  slots.release(slot);
}

TEST_CASE("filling hands back everyone who waits, once") {
  TensorPool pool;
  SlotTable slots;
  const SlotIndex slot = slots.open(3);
  std::vector<Waiter> waiters(3);
  for (Waiter& waiter : waiters) CHECK_FALSE(slots.ready_or_wait(slot, waiter));
  std::set<Waiter*> woken;
  for (Waiter* waiter = slots.fill(slot, payload_of(pool, 1)); waiter; waiter = waiter->next) woken.insert(waiter);
  CHECK(woken == std::set<Waiter*>{&waiters[0], &waiters[1], &waiters[2]});
  for (int i = 0; i < 3; ++i) slots.release(slot);
}

TEST_CASE("all receivers see the same numbers, not copies") {
  TensorPool pool;
  SlotTable slots;
  const Payload payload = payload_of(pool, 1);
  const double* const numbers = payload.common[0].data<double>();
  const SlotIndex slot = slots.open(500);
  slots.fill(slot, payload);
  for (int i = 0; i < 500; ++i) {
    CHECK(slots.payload(slot).common[0].data<double>() == numbers);
    slots.release(slot);
  }
}

TEST_CASE("a slot is free when it was filled and every receiver is done, in whatever order") {
  TensorPool pool;
  SlotTable slots;
  const SlotIndex filled_first = slots.open(2), released_first = slots.open(2), lost_by_all = slots.open(0);
  CHECK(slots.in_use() == 3);
  slots.fill(filled_first, payload_of(pool, 1));
  slots.release(filled_first);
  CHECK(slots.in_use() == 3);
  slots.release(filled_first);
  CHECK(slots.in_use() == 2);
  slots.release(released_first);
  slots.release(released_first);
  CHECK(slots.in_use() == 2);
  slots.fill(released_first, payload_of(pool, 1));
  CHECK(slots.in_use() == 1);
  slots.fill(lost_by_all, payload_of(pool, 1));
  CHECK(slots.in_use() == 0);
}

TEST_CASE("the payload is dropped with the last release") {
  TensorPool pool;
  SlotTable slots;
  const SlotIndex slot = slots.open(1);
  Payload payload = payload_of(pool, 1, 100);
  const double* const block = payload.common[0].data<double>();
  slots.fill(slot, std::move(payload));
  slots.release(slot);
  CHECK(slots.peak() == 1);
  CHECK(pool.make<double>(100).data<double>() == block);
}

TEST_CASE("free slots are opened again: a steady run needs no more of them") {
  TensorPool pool;
  SlotTable slots;
  std::set<SlotIndex> used;
  for (int i = 0; i < 10000; ++i) {
    const SlotIndex slot = slots.open(1);
    used.insert(slot);
    slots.fill(slot, payload_of(pool, i));
    slots.release(slot);
  }
  CHECK(used.size() <= 1024);
  CHECK(slots.peak() == 1);
}

TEST_CASE("slots in use at once are different ones, more than one block of them too") {
  SlotTable slots;
  std::set<SlotIndex> used;
  for (int i = 0; i < 5000; ++i) used.insert(slots.open(1));
  CHECK(used.size() == 5000);
  CHECK(slots.in_use() == 5000);
}
