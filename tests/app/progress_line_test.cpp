#include "app/progress_line.hpp"

#include <doctest/doctest.h>

#include "tests/actors/support.hpp"

using namespace rubato;
using namespace rubato::app;
using rubato::test::contains;

TEST_CASE("the time left is that of the pace since this process began, after a resume as after waiting for others") {
  ProgressLine resumed(300, true);
  resumed.show({50, 0, 500, {}});  // walking again
  resumed.show({200, 0, 2000, {}});
  resumed.show({210, 5, 2100, {}});
  CHECK(contains(resumed.text_of({225, 12.5, 2250, {}}), "225.0 of 300.0 s  20 events/s  38 s left"));
  ProgressLine late(300, true);
  late.show({100, 60, 0, {}});  // it has waited for a minute
  CHECK(contains(late.text_of({110, 70, 500, {}}), "50 events/s  190 s left"));
}

TEST_CASE("at the end of the experiment there is no time left to tell: models are scored") {
  ProgressLine line(300, true);
  line.show({10, 1, 100, {}});
  const std::string text = line.text_of({300, 30, 3000, {}});
  CHECK(contains(text, "scoring"));
  CHECK_FALSE(contains(text, "left"));
}
