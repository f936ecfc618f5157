#include "runtime/world/places.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "tests/support/statistics.hpp"

using namespace rubato;
using namespace rubato::test;
using namespace std::chrono_literals;

namespace {

Time at(double seconds) { return Time{from_seconds(seconds)}; }

struct File {
  std::filesystem::path path = std::filesystem::temp_directory_path() / "rubato_places_test.txt";
  explicit File(const std::string& text) { std::ofstream(path) << text; }
  ~File() { std::filesystem::remove(path); }
};

std::string places_refusal(const std::string& text, std::size_t clients) {
  const File file(text);
  try {
    read_places(file.path.string(), clients);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("places are uniform in the disk: the squared distance from its middle is") {
  std::vector<double> squares, angles;
  for (const Point p : draw_places({false, 500}, 20'000, 7)) {
    squares.push_back((p.x * p.x + p.y * p.y) / 250'000);
    angles.push_back((std::atan2(p.y, p.x) + M_PI) / (2 * M_PI));
  }
  CHECK(kolmogorov_smirnov(squares) < ks_limit);
  CHECK(kolmogorov_smirnov(angles) < ks_limit);
  CHECK(std::abs(correlation(squares, angles)) < 4 / std::sqrt(20'000.0));
}

TEST_CASE("places are uniform in the square that just holds the disk") {
  std::vector<double> x, y;
  for (const Point p : draw_places({true, 10}, 20'000, 7)) {
    x.push_back(p.x / 20 + 0.5);
    y.push_back(p.y / 20 + 0.5);
  }
  CHECK(kolmogorov_smirnov(x) < ks_limit);
  CHECK(kolmogorov_smirnov(y) < ks_limit);
}

TEST_CASE("a client's place does not depend on how many there are; another seed or attempt gives another") {
  const auto few = draw_places({}, 3, 7), many = draw_places({}, 30, 7);
  for (std::size_t i = 0; i < 3; ++i) CHECK((few[i].x == many[i].x && few[i].y == many[i].y));
  CHECK(draw_places({}, 1, 8)[0].x != few[0].x);
  CHECK(draw_places({}, 1, 7, 1)[0].x != few[0].x);
}

TEST_CASE("wanderers stay in the area, keep within their speeds and rest where they arrive") {
  const Area area{false, 100};
  const Wandering wandering{2, 5, 3};
  const Places places(draw_places(area, 20, 3), area, wandering, 3);
  double longest_rest = 0;
  for (std::uint32_t i = 0; i < 20; ++i) {
    Point last = places.of({i}, at(0));
    double rest = 0;
    for (double t = 0.25; t < 400; t += 0.25) {
      const Point now = places.of({i}, at(t));
      CHECK(std::hypot(now.x, now.y) <= 100);
      const double gone = distance(last, now);
      CHECK(gone <= 5 * 0.25 * (1 + 1e-9));
      rest = gone == 0 ? rest + 0.25 : 0;
      longest_rest = std::max(longest_rest, rest);
      last = now;
    }
  }
  CHECK(longest_rest >= 2.5);
  CHECK(longest_rest <= 3.25);
}

TEST_CASE("where a wanderer is does not depend on when it was asked for before") {
  const Places often(draw_places({}, 2, 3), {}, {1, 30, 1}, 3), once(draw_places({}, 2, 3), {}, {1, 30, 1}, 3);
  for (double t = 0; t < 3000; t += 7) (void)often.of({1}, at(t));
  const Point a = often.of({1}, at(3000)), b = once.of({1}, at(3000));
  CHECK((a.x == b.x && a.y == b.y));
}

TEST_CASE("who does not wander stays where it began") {
  const Places places({{1, 2}, {3, 4}}, {}, {}, 1);
  CHECK(places.is_still());
  CHECK(places.of({1}, at(1e6)).x == 3);
}

TEST_CASE("a file of places is read to the letter, and what is wrong with it is said with its line") {
  const File good("# x y\n1 2\n\n-3.5, 4e1  # a comma\n");
  const auto places = read_places(good.path.string(), 2);
  CHECK(places[1].x == -3.5);
  CHECK(places[1].y == 40);
  CHECK(places_refusal("1 2\n3\n", 2).find("line 2 must hold two numbers") != std::string::npos);
  CHECK(places_refusal("1 2\n3 4 5\n", 2).find("line 2") != std::string::npos);
  CHECK(places_refusal("1 nan\n", 1).find("line 1") != std::string::npos);
  CHECK(places_refusal("1 2\n", 2).find("has 1 places, must have one per client: 2") != std::string::npos);
}
