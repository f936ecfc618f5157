// Random fault scripts: everything that must hold at every event, agreement in the calm, and the search for a short
// script where something does not. RUBATO_FAULTS sets how many.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "tests/sim/fault_world.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

std::uint64_t scripts() {
  const char* wanted = std::getenv("RUBATO_FAULTS");
  return wanted ? std::strtoull(wanted, nullptr, 10) : 1000;
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
    Hardship passed_over;
    if (failure_of(seed, lines, passed_over, planted).empty()) continue;
    const std::vector<ChurnLine> shortest = shrink(seed, lines, planted);
    return {seed, lines.size(), shortest, failure_of(seed, shortest, passed_over, planted)};
  }
  return {};
}

bool is_presence(const ChurnLine& line) {
  return line.what != ChurnLine::What::pause && line.what != ChurnLine::What::go_on && line.what != ChurnLine::What::partition &&
         line.what != ChurnLine::What::heal;
}

}  // namespace

TEST_CASE("whatever a fault script does, invariants hold at every event and all agree in the calm") {
  Hardship hardship;
  for (std::uint64_t seed = 1; seed <= scripts(); ++seed) {
    const std::vector<ChurnLine> lines = random_script(seed);
    const std::string failure = failure_of(seed, lines, hardship);
    if (failure.empty()) continue;
    FAIL_CHECK("seed " << seed << " (" << std::string(subject_of(seed).name) << "): " << failure
                       << "\nthe shortest script that fails:\n"
                       << in_words(shrink(seed, lines)));
  }
  const MessageCounts& messages = hardship.messages;
  MESSAGE(scripts() << " scripts, " << hardship.events << " events (" << hardship.balanced << " with a balance), " << messages.sent
                    << " messages: " << messages.lost << " lost, " << messages.late << " late, " << messages.capped << " capped, "
                    << messages.duplicates << " twice, " << messages.superseded << " superseded, " << messages.stale << " stale, "
                    << hardship.churn.lost << " to nobody; " << hardship.churn.crashes << " crashes, " << hardship.churn.leaves
                    << " leaves, " << hardship.churn.restarts + hardship.churn.joins << " returns, " << hardship.churn.partitions
                    << " partitions, " << hardship.churn.epochs << " epochs");
  for (const std::uint64_t count :
       {messages.late, messages.capped, messages.duplicates, messages.superseded, messages.stale, messages.resyncs,
        hardship.churn.lost, hardship.churn.crashes, hardship.churn.leaves, hardship.churn.restarts, hardship.churn.joins,
        hardship.churn.partitions, hardship.churn.epochs})
    CHECK(count >= scripts() / 4);
  CHECK(messages.lost > messages.sent / 10);
  CHECK(hardship.balanced > hardship.events / 4);
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
