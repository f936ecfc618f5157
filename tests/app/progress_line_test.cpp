#include "app/progress_line.hpp"

#include <doctest/doctest.h>

#include "tests/actors/support.hpp"

using namespace rubato;
using namespace rubato::app;
using rubato::test::contains;

namespace {

ProgressLine line_until(double seconds) {
  config::Experiment experiment;
  experiment.name = "a-run";
  experiment.until = seconds;
  return ProgressLine(experiment, true, Colour::never);
}

std::string said(ProgressLine& line, const Progress& progress, const Terminal& terminal = {}) {
  return fitted(line.parts_of(progress, terminal), 1000, false);
}

}  // namespace

TEST_CASE("the time left is that of the pace since this process began, after a resume as after waiting for others") {
  ProgressLine resumed = line_until(300);
  resumed.show({50, 0, 500, {}});  // walking again
  resumed.show({200, 0, 2000, {}});
  resumed.show({210, 5, 2100, {}});
  CHECK(said(resumed, {225, 12.5, 2250, {}}) == "225 of 300 s  75 %  20 events/s  0:38 left");
  ProgressLine late = line_until(300);
  late.show({100, 60, 0, {}});  // it has waited for a minute
  CHECK(contains(said(late, {110, 70, 500, {}}), "50 events/s  3:10 left"));
}

TEST_CASE("at the end of the experiment there is no time left to tell: models are scored") {
  ProgressLine line = line_until(300);
  line.show({10, 1, 100, {}});
  const std::string text = said(line, {300, 30, 3000, {}});
  CHECK(contains(text, "scoring"));
  CHECK_FALSE(contains(text, "left"));
}

TEST_CASE("before the beginning that hosts have agreed on, no second has passed") {
  ProgressLine line = line_until(300);
  CHECK(said(line, {-6, 1, 0, {}}).starts_with("0 of 300 s  0 %"));
}

TEST_CASE("a terminal is shown the name, a bar and the course of the accuracy; a pipe is not") {
  ProgressLine line = line_until(300);
  const Terminal terminal{.is_there = true};
  for (int i = 1; i <= 200; ++i) line.show({static_cast<double>(i), i / 10.0, 100, 0.3 + i / 400.0});
  const std::string drawn = said(line, {201, 20.1, 200, 0.9}, terminal);
  CHECK(contains(drawn, "a-run"));
  CHECK(contains(drawn, bar(201.0 / 300, 21, false)));
  CHECK(contains(drawn, "accuracy 90.0 %  _"));
  CHECK(contains(drawn, "#  "));
  const std::string plain = said(line, {201, 20.1, 200, 0.9});
  CHECK_FALSE(contains(plain, "a-run"));
  CHECK_FALSE(contains(plain, "#"));
}
