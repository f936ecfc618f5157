// Random fault scripts: everything that must hold at every event, agreement in the calm, and the search for a short script
// where something does not. RUBATO_FAULTS sets how many.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "tests/sim/fault_world.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

std::uint64_t scripts() {
  const char* wanted = std::getenv("RUBATO_FAULTS");
  return wanted ? std::strtoull(wanted, nullptr, 10) : 120;
}

struct Found {
  std::uint64_t seed = 0;
  std::size_t lines = 0;  // before it was shrunk
  std::vector<ChurnLine> shortest;
  std::string failure;
};

Found first_failure(Planted planted) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const std::vector<ChurnLine> lines = random_script(seed);
    if (failure_of(seed, lines, planted).empty()) continue;
    const std::vector<ChurnLine> shortest = shrink(seed, lines, planted);
    return {seed, lines.size(), shortest, failure_of(seed, shortest, planted)};
  }
  return {};
}

bool is_presence(const ChurnLine& line) {
  return line.what != ChurnLine::What::pause && line.what != ChurnLine::What::go_on &&
         line.what != ChurnLine::What::partition && line.what != ChurnLine::What::heal;
}

}  // namespace

TEST_CASE("whatever a fault script does, invariants hold at every event and all agree in the calm") {
  for (std::uint64_t seed = 1; seed <= scripts(); ++seed) {
    const std::vector<ChurnLine> lines = random_script(seed);
    const std::string failure = failure_of(seed, lines);
    if (failure.empty()) continue;
    FAIL_CHECK("seed " << seed << " (" << subject_of(seed).name << "): " << failure << "\nthe shortest script that fails:\n"
                       << in_words(shrink(seed, lines)));
  }
}

TEST_CASE("random scripts have everything that can happen in them") {
  std::size_t seen[8] = {};
  for (std::uint64_t seed = 1; seed <= 100; ++seed)
    for (const ChurnLine& line : random_script(seed)) ++seen[static_cast<std::size_t>(line.what)];
  for (const std::size_t count : seen) CHECK(count > 20);
}

TEST_CASE("the same script leads to the same end twice, and to another on another seed") {
  CHECK(in_words(random_script(3)) == in_words(random_script(3)));
  CHECK(in_words(random_script(3)) != in_words(random_script(4)));
}

TEST_CASE("mass that nobody counts anew after somebody has gone is found, with a script of one coming or going") {
  const Found found = first_failure(Planted::no_reset);
  REQUIRE(found.seed > 0);
  CAPTURE(in_words(found.shortest));
  CHECK(found.lines > 2);
  CHECK(found.shortest.size() == 1);
  CHECK(is_presence(found.shortest.front()));
}

TEST_CASE("a window that survives the beginning of an epoch is found, with a script of one coming or going") {
  const Found found = first_failure(Planted::old_window);
  REQUIRE(found.seed > 0);
  CAPTURE(in_words(found.shortest));
  CAPTURE(found.failure);
  CHECK(found.lines > 2);
  CHECK(found.shortest.size() <= 2);
  CHECK(found.failure.find("another epoch") != std::string::npos);
}
