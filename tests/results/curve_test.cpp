#include "results/curve.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "results/grid.hpp"
#include "tests/actors/support.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

CurvePoint point(double seconds, double bits, double accuracy) {
  Sample sample;
  sample.header.at = Time{from_seconds(seconds)};
  sample.traffic.paper_bits = bits;
  sample.traffic.gradients = static_cast<std::uint64_t>(10 * seconds);
  sample.accuracy_mean = accuracy;
  return point_of(sample);
}

// Accuracy rises, falls back and rises again; nothing is sent between 2 s and 3 s.
const Curve four{point(1, 100, 0.2), point(2, 200, 0.6), point(3, 200, 0.4), point(5, 400, 0.8)};

}  // namespace

TEST_CASE("the spread of numbers is their mean and the deviation of a sample, n - 1") {
  const std::vector<double> values{1, 2, 3, 6};
  const Spread spread = spread_of(values);
  CHECK(spread.count == 4);
  CHECK(spread.mean == 3);
  CHECK(spread.deviation == doctest::Approx(std::sqrt(14.0 / 3)));
  CHECK(std::isnan(spread_of(std::vector<double>{7}).deviation));
  CHECK(std::isnan(spread_of({}).mean));
}

TEST_CASE("a target is reached at the first sample that has it, though accuracy falls back later") {
  CHECK(first_reach(four, 0.5)->operator[]("seconds") == 2);
  CHECK(first_reach(four, 0.6)->operator[]("seconds") == 2);
  CHECK(first_reach(four, 0.7)->operator[]("bits") == 400);
  CHECK_FALSE(first_reach(four, 0.9));
  CHECK_FALSE(first_reach({point(1, 1, not_known)}, 0.1));
}

TEST_CASE("a curve ends before the first sample that is beyond its budget") {
  config::Budget budget;
  CHECK(within(four, budget).size() == 4);
  budget.bits = 200;
  CHECK(within(four, budget).size() == 3);
  budget.bits = 199.5;
  CHECK(within(four, budget).size() == 1);
  budget = {{}, 25.0};
  CHECK(within(four, budget).back()["seconds"] == 2);
  budget.gradients = 1;
  CHECK(within(four, budget).empty());
}

TEST_CASE("between samples a curve is straight, and of several samples at one place the last counts") {
  const auto at = [](const char* axis, double place) {
    return value_at(four, curve_column(axis), place, curve_column("accuracy"));
  };
  CHECK(at("seconds", 1.5) == doctest::Approx(0.4));
  CHECK(at("seconds", 4) == doctest::Approx(0.6));
  CHECK(at("bits", 200) == 0.4);
  CHECK(at("bits", 300) == doctest::Approx(0.6));
  CHECK(at("seconds", 0) == 0.2);
  CHECK(at("seconds", 9) == 0.8);
}

TEST_CASE("several curves have a mean and a deviation at a place that all of them know") {
  const std::vector<Curve> curves{{point(0, 0, 0.0), point(4, 1, 0.4)}, {point(1, 0, 0.3), point(3, 1, 0.5)}};
  // At 1: 0.1 and 0.3; at 2: 0.2 and 0.4; at 3: 0.3 and 0.5.
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<double> values;
    for (const Curve& curve : curves)
      values.push_back(value_at(curve, curve_column("seconds"), 1 + static_cast<double>(i), curve_column("accuracy")));
    const Spread spread = spread_of(values);
    CHECK(spread.mean == doctest::Approx(0.2 + 0.1 * static_cast<double>(i)));
    CHECK(spread.deviation == doctest::Approx(0.1 * std::sqrt(2.0)));
  }
}

TEST_CASE("a grid has every value with every other, and commas inside a value separate nothing") {
  const GridKey first = parse_grid("algorithm.eta = 0.1, 0.2"), second = parse_grid("model.hidden=[64,32],[]");
  CHECK(first.key == "algorithm.eta");
  CHECK(first.values == std::vector<std::string>{"0.1", "0.2"});
  CHECK(second.values == std::vector<std::string>{"[64,32]", "[]"});
  const auto points = grid_points(std::vector<GridKey>{first, second});
  REQUIRE(points.size() == 4);
  CHECK(points[1] == GridPoint{{"algorithm.eta", "0.1"}, {"model.hidden", "[]"}});
  CHECK(points[2] == GridPoint{{"algorithm.eta", "0.2"}, {"model.hidden", "[64,32]"}});
  CHECK(grid_points({}) == std::vector<GridPoint>{{}});
}

TEST_CASE("a grid without values, or with a key twice, is refused") {
  for (const char* text : {"algorithm.eta", "algorithm.eta=", "=1,2", "algorithm.eta=1,,2"})
    CHECK(contains(complaint<std::invalid_argument>([&] { parse_grid(text); }), "must be key=value,value,..."));
  const GridKey twice{"a", {"1"}};
  CHECK(contains(complaint<std::invalid_argument>([&] { grid_points(std::vector<GridKey>{twice, twice}); }), "twice"));
}
