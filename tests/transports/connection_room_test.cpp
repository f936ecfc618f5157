#include "transports/connection_room.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace rubato;

namespace {

const auto nobody_is_silent = [](int) { return false; };
const auto all_are_silent = [](int) { return true; };

constexpr ConnectionRoom::Limits limits{.connections = 20, .reserved = 10};

}  // namespace

TEST_CASE("nobody has to go while there is room") {
  ConnectionRoom room(limits, 1);
  for (int i = 0; i < 10; ++i) room.open(i, "10.0.0.1");
  CHECK(!room.crowded(all_are_silent));
}

TEST_CASE("a source that opens too many connections crowds out its own, and no other source's") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    ConnectionRoom room(limits, seed);
    room.open(0, "10.0.0.1");
    room.open(1, "10.0.0.2");
    for (int i = 2; i < 200; ++i) {
      room.open(i, "10.0.0.3");
      const auto gone = room.crowded(all_are_silent);
      REQUIRE(gone.has_value() == (i >= 10));
      if (!gone) continue;
      REQUIRE(*gone >= 2);
      room.close(*gone);
    }
    CHECK(room.size() == 10);
  }
}

TEST_CASE("sources that are not of the roster cannot have the reserve, however many they are") {
  ConnectionRoom room(limits, 1);
  room.trust("10.0.0.1");
  for (int i = 0; i < 10; ++i) room.open(i, "10.0.0.1");
  CHECK(!room.crowded(all_are_silent));
  for (int i = 10; i < 200; ++i) {
    room.open(i, "10.1.0." + std::to_string(i));
    const auto gone = room.crowded(all_are_silent);
    REQUIRE(gone.has_value() == (i >= 20));
    if (!gone) continue;
    REQUIRE(*gone >= 10);
    room.close(*gone);
  }
}

TEST_CASE("a source of the roster may have all the room that is free") {
  ConnectionRoom room(limits, 1);
  for (int i = 0; i < 5; ++i) room.open(i, "10.0.0.1");
  room.trust("10.0.0.1");  // as soon as a host was heard from there
  for (int i = 5; i < 20; ++i) room.open(i, "10.0.0.1");
  CHECK(!room.crowded(all_are_silent));
  room.open(20, "10.0.0.1");
  CHECK(room.crowded(all_are_silent).has_value());
}

TEST_CASE("what goes is left to chance, so that who comes first does not go first") {
  std::set<int> gone;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    ConnectionRoom room(limits, seed);
    for (int i = 0; i <= 10; ++i) room.open(i, "10.0.0.1");
    gone.insert(room.crowded(nobody_is_silent).value());
  }
  CHECK(gone.size() == 11);
}

TEST_CASE("among equals of one source a connection goes on which nothing has arrived") {
  const auto is_silent = [](int connection) { return connection >= 3; };
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    ConnectionRoom room({.connections = 300, .reserved = 150}, seed);
    for (int i = 0; i <= 150; ++i) room.open(i, "10.0.0.1");
    CHECK(room.crowded(is_silent).value() >= 3);
  }
}

TEST_CASE("a connection on which a host was heard stays, up to two of each host") {
  ConnectionRoom room(limits, 1);
  for (int i = 0; i < 10; ++i) {
    room.open(i, "10.0.0.1");
    CHECK(!room.hear(i, HostId{static_cast<std::uint32_t>(i) / 2}));
  }
  room.open(10, "10.0.0.1");
  CHECK(room.crowded(all_are_silent) == 10);
  CHECK(room.hear(10, HostId{3}) == 6);
  room.close(6);
  CHECK(!room.crowded(all_are_silent));
  CHECK(!room.hear(10, HostId{3}));  // which is known already
  room.open(6, "10.0.0.9");          // the number is free again, and nothing is known of it
  CHECK(room.crowded(all_are_silent) == 6);
}

TEST_CASE("where less room is left, strangers go first") {
  ConnectionRoom room(limits, 1);
  room.trust("10.0.0.1");
  for (int i = 0; i < 4; ++i) room.open(i, "10.0.0.1");
  for (int i = 4; i < 6; ++i) room.open(i, "10.0.0.2");
  for (int i = 0; i < 2; ++i) {
    const auto gone = room.crowded(all_are_silent, 16);
    REQUIRE(gone.value_or(-1) >= 4);
    room.close(*gone);
  }
  CHECK(!room.crowded(all_are_silent, 16));
  CHECK(room.crowded(all_are_silent, 17).has_value());
}
