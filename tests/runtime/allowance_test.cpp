#include "runtime/allowance.hpp"

#include <doctest/doctest.h>

using namespace rubato;

TEST_CASE("an allowance gives its burst at once, so many a second in the long run, and no more after a rest") {
  Allowance allowance(10, 5);
  const auto taken_at = [&](double second) {
    int taken = 0;
    while (taken < 100 && allowance.take(from_seconds(second))) ++taken;
    return taken;
  };
  CHECK(taken_at(1000) == 5);
  CHECK(taken_at(1000) == 0);
  CHECK(taken_at(1000.35) == 3);
  CHECK(taken_at(2000) == 5);
  CHECK(taken_at(1999) == 0);  // clocks of two threads
  int taken = 0;
  for (int i = 1; i <= 1000; ++i) taken += taken_at(2000 + i * 0.01);
  CHECK(taken >= 99);  // of which each is a tenth of a second
  CHECK(taken <= 100);
}
