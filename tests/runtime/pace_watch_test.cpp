// When a host tells that it does not keep its pace.
#include "runtime/pace_watch.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace rubato;

namespace {

using std::chrono::seconds;

/// Twenty ticks a second, looked at once a second; after which seconds it was told, and what.
struct Watched {
  PaceWatch watch{seconds(3)};
  TickCounts counts;
  Duration now = seconds(100);
  std::vector<std::pair<Duration, double>> told;

  void go_on(int how_long, std::uint64_t skipped) {
    for (int i = 0; i < how_long; ++i) {
      now += seconds(1);
      counts.skipped += skipped, counts.done += 20 - skipped;
      if (const auto percent = watch.look(now, counts)) told.emplace_back(now - seconds(100), *percent);
    }
  }
};

}  // namespace

TEST_CASE("a pace that is not kept is told after some seconds, and once a minute as long as it lasts") {
  Watched host;
  host.go_on(10, 1);  // five percent are not too many
  CHECK(host.told.empty());
  host.go_on(70, 5);
  REQUIRE(host.told.size() == 2);
  CHECK(host.told[0].first < seconds(16));
  CHECK(host.told[1].first - host.told[0].first == seconds(60));
  CHECK(host.told[1].second == doctest::Approx(25));
}

TEST_CASE("ticks that fell due while a process stood still are not told as a pace that it does not keep") {
  Watched host;
  host.go_on(8, 0);
  host.now += seconds(20);
  host.counts.skipped += 100;  // some are counted before it looks, some after
  host.go_on(1, 0);
  host.counts.skipped += 300;
  host.go_on(30, 0);
  CHECK(host.told.empty());
  host.go_on(10, 10);  // but what comes then is
  CHECK(host.told.size() == 1);
}

TEST_CASE("what earlier lives have skipped does not count") {
  Watched host;
  host.counts = {.skipped = 5000, .done = 100};
  host.go_on(20, 0);
  CHECK(host.told.empty());
}

TEST_CASE("a process so busy that it looks late every time is slow, and does not stand still") {
  Watched host;
  for (int i = 0; i < 4; ++i) {
    host.now += seconds(9);
    host.go_on(2, 15);
  }
  CHECK(host.told.empty());  // one standstill after the other
  for (int i = 0; i < 4 && host.told.empty(); ++i) {
    host.now += seconds(9);
    host.counts.skipped += 150, host.counts.done += 50;
    if (const auto percent = host.watch.look(host.now, host.counts)) host.told.emplace_back(host.now, *percent);
  }
  CHECK(host.told.size() == 1);
}
