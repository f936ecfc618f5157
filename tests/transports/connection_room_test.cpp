#include "transports/connection_room.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace rubato;

namespace {

const auto all_are_equal = [](int) { return std::size_t{0}; };

constexpr ConnectionRoom::Limits limits{.connections = 20, .reserved = 10};

}  // namespace

TEST_CASE("nobody has to go while there is room") {
  ConnectionRoom room(limits, 1);
  for (int i = 0; i < 10; ++i) room.open(i, "10.0.0.1");
  CHECK(!room.crowded(all_are_equal));
}

TEST_CASE("a source that opens too many connections crowds out its own, and no other source's") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    ConnectionRoom room(limits, seed);
    room.open(0, "10.0.0.1");
    room.open(1, "10.0.0.2");
    for (int i = 2; i < 200; ++i) {
      room.open(i, "10.0.0.3");
      const auto gone = room.crowded(all_are_equal);
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
  CHECK(!room.crowded(all_are_equal));
  for (int i = 10; i < 200; ++i) {
    room.open(i, "10.1.0." + std::to_string(i));
    const auto gone = room.crowded(all_are_equal);
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
  CHECK(!room.crowded(all_are_equal));
  room.open(20, "10.0.0.1");
  CHECK(room.crowded(all_are_equal).has_value());
}

TEST_CASE("what goes is left to chance, so that who comes first does not go first") {
  std::set<int> gone;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    ConnectionRoom room(limits, seed);
    for (int i = 0; i <= 10; ++i) room.open(i, "10.0.0.1");
    gone.insert(room.crowded(all_are_equal).value());
  }
  CHECK(gone.size() == 11);
}

TEST_CASE("of one source those that have come least far go first, and the others have a chance") {
  const auto progress = [](int connection) { return connection < 3 ? std::size_t{1} : std::size_t{0}; };
  int ahead = 0, behind = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    ConnectionRoom room({.connections = 12, .reserved = 6}, seed);
    for (int i = 0; i < 7; ++i) room.open(i, "10.0.0.1");
    ++(room.crowded(progress).value() < 3 ? ahead : behind);
  }
  CHECK(ahead > 330);  // 3 / 14 of 2,000, and a few
  CHECK(ahead < 530);
  CHECK(behind > 1470);
}

TEST_CASE("a connection on which a host was heard stays, up to two of each host") {
  ConnectionRoom room(limits, 1);
  for (int i = 0; i < 10; ++i) {
    room.open(i, "10.0.0.1");
    CHECK(!room.hear(i, HostId{static_cast<std::uint32_t>(i) / 2}));
  }
  room.open(10, "10.0.0.1");
  CHECK(room.crowded(all_are_equal) == 10);
  CHECK(room.hear(10, HostId{3}) == 6);
  room.close(6);
  CHECK(!room.crowded(all_are_equal));
  CHECK(!room.hear(10, HostId{3}));  // which is known already
  room.open(6, "10.0.0.9");          // the number is free again, and nothing is known of it
  CHECK(room.crowded(all_are_equal) == 6);
}

TEST_CASE("where less room is left, strangers go first") {
  ConnectionRoom room(limits, 1);
  room.trust("10.0.0.1");
  for (int i = 0; i < 4; ++i) room.open(i, "10.0.0.1");
  for (int i = 4; i < 6; ++i) room.open(i, "10.0.0.2");
  for (int i = 0; i < 2; ++i) {
    const auto gone = room.crowded(all_are_equal, 16);
    REQUIRE(gone.value_or(-1) >= 4);
    room.close(*gone);
  }
  CHECK(!room.crowded(all_are_equal, 16));
  CHECK(room.crowded(all_are_equal, 17).has_value());
}
