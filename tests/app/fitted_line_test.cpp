#include "app/text/fitted_line.hpp"

#include <doctest/doctest.h>

#include "tests/actors/support.hpp"

using namespace rubato;
using namespace rubato::app;
using rubato::test::contains;

namespace {

const std::vector<LinePart> parts{{.text = "draco-digits", .leaves = Leaves::earlier},
                                  {.text = bar(0.47, 21, true), .leaves = Leaves::early, .colour = "\x1b[36m"},
                                  {.text = "142 of 305 s", .brief = "142/305 s"},
                                  {.text = "47 %", .brief = "47%"},
                                  {.text = "accuracy 90.8 %", .brief = "acc 90.8"},
                                  {.text = "▁▃▅▆▇▇▇█", .brief = "▁▅▇█", .leaves = Leaves::after_brief},
                                  {.text = "63 k events/s", .leaves = Leaves::first},
                                  {.text = "0:02 left", .leaves = Leaves::at_last}};

}  // namespace

TEST_CASE("a line is never wider than it may be, and says more where there is more room") {
  std::size_t before = 0;
  for (std::size_t columns = 0; columns <= 200; ++columns) {
    CAPTURE(columns);
    const std::string line = fitted(parts, columns, false);
    CHECK(columns_of(line) <= columns);
    const bool says_it_all = contains(line, "events/s");
    if (columns >= 22) CHECK(contains(line, "90.8"));
    if (columns >= 22) CHECK(contains(line, "142"));
    CHECK((columns < 110 || says_it_all));
    if (columns > 22) CHECK(columns_of(line) + 30 > before);
    before = columns_of(line);
  }
}

TEST_CASE("the rate leaves first, then name, bar, course and time left; time and accuracy stay") {
  const char* leaving[] = {"events/s", "draco", "━", "▅", "left"};
  std::size_t gone = 0;
  for (std::size_t columns = 120; columns >= 22; --columns) {
    CAPTURE(columns);
    const std::string line = fitted(parts, columns, false);
    while (gone < std::size(leaving) && !contains(line, leaving[gone])) ++gone;
    for (std::size_t i = gone; i < std::size(leaving); ++i) CHECK(contains(line, leaving[i]));
    for (std::size_t i = 0; i < gone; ++i) CHECK_FALSE(contains(line, leaving[i]));
  }
  CHECK(gone == std::size(leaving));
}

TEST_CASE("in 40 columns a line says time, share, accuracy with its course, and time left") {
  CHECK(contains(fitted(parts, 79, false), "accuracy 90.8 %"));
  CHECK(fitted(parts, 39, false) == "142/305 s 47% acc 90.8 ▁▅▇█ 0:02 left");
  CHECK(fitted(parts, 5, false) == "142/3");
}

TEST_CASE("colours take no columns, and are left out where they are not wanted") {
  CHECK(contains(fitted(parts, 150, true), "\x1b[36m━"));
  CHECK_FALSE(contains(fitted(parts, 150, false), "\x1b"));
}

TEST_CASE("wide characters take two columns, marks none, and none is cut apart") {
  CHECK(columns_of("aé月") == 4);
  CHECK(columns_of("e\xCC\x81") == 1);
  CHECK(cut("月月", 3) == "月");
  CHECK(cut("éé", 1) == "é");
}

TEST_CASE("the course of a number ends with its newest value and spans its range") {
  CHECK(sparkline(std::vector{0.0, 1.0}, 8, true) == "▁█");
  CHECK(sparkline(std::vector{0.0, 1.0, 0.5}, 8, false) == "_#=");
  CHECK(columns_of(sparkline(std::vector<double>(100, 0.3), 8, true)) == 8);
  CHECK(sparkline({}, 8, true).empty());
}

TEST_CASE("times and counts are said as people say them") {
  CHECK(clock_text(1.2) == "0:02");
  CHECK(clock_text(760) == "12:40");
  CHECK(clock_text(3 * 3600 + 7 * 60) == "3:07:00");
  CHECK(counted_text(950) == "950");
  CHECK(counted_text(63'100) == "63 k");
  CHECK(counted_text(1.24e6) == "1.2 M");
  CHECK(counted_text(999'600) == "1.0 M");
}
