// What a peer may have waiting is bounded, and the bound is its own.
#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "transports/message.hpp"

using namespace rubato;

using Place = std::shared_ptr<const void>;

TEST_CASE("a room has so many places, and who leaves makes room for another") {
  const InboundQuota quota(2);
  Place first = quota.enter();
  const Place second = quota.enter();
  REQUIRE(first);
  REQUIRE(second);
  CHECK_FALSE(quota.enter());
  CHECK_FALSE(quota.enter());
  Place copy = first;
  first.reset();
  CHECK_FALSE(quota.enter());
  copy.reset();
  CHECK(quota.enter());
}

TEST_CASE("a full room takes no place of another one") {
  std::vector<InboundQuota> rooms;
  for (int i = 0; i < 2; ++i) rooms.emplace_back(1);
  const Place place = rooms[0].enter();
  CHECK_FALSE(rooms[0].enter());
  CHECK(rooms[1].enter());
}

TEST_CASE("a place may be given back after its room has gone") {
  Place place;
  {
    const InboundQuota quota(1);
    place = quota.enter();
  }
  place.reset();  // AddressSanitizer knows if that touches the room
}

TEST_CASE("however many threads come and go, no more are inside than there are places") {
  constexpr int places = 5;
  const InboundQuota quota(places);
  std::atomic<int> inside{0}, most{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 20'000; ++k) {
        std::vector<Place> mine;
        for (int n = 0; n < 3; ++n)
          if (Place place = quota.enter()) mine.push_back(std::move(place));
        const int now = inside += static_cast<int>(mine.size());
        for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
        }
        inside -= static_cast<int>(mine.size());
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(most <= places);
  CHECK(most > 0);
  std::vector<Place> all;
  for (int n = 0; n < places; ++n) all.push_back(quota.enter());
  for (const Place& place : all) CHECK(place);
  CHECK_FALSE(quota.enter());
}
