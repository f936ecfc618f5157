// What is measured by default: clients, rows and instants, chosen by what they cost.
#include "experiment/build/sampling.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "experiment/file/resolve.hpp"
#include "tests/actors/support.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

// The metrics of the experiment that the tests share are named; these leave them open.
const std::vector<std::string> open = {"metrics.every_events=none"};

SamplePlan plan_of(const std::vector<std::string>& overrides, const TaskSize& size) {
  const ResolvedExperiment resolved = resolve(experiment(overrides), OwnParts<float>{});
  return plan_samples(resolved.experiment, *resolved.timing, size);
}

std::vector<ClientId> measured_of(const std::vector<std::string>& overrides) {
  const auto measured = measured_clients(experiment(overrides));
  return measured ? *measured : std::vector<ClientId>{};
}

constexpr TaskSize small{.dimension = 16};
constexpr TaskSize digits{.dimension = 7850, .rows_per_gradient = 4, .test_rows = 2000};

}  // namespace

TEST_CASE("where [metrics] is silent a small run is measured at the start, at each hundredth of it, and at its end, whole") {
  const SamplePlan plan = plan_of(open + std::vector<std::string>{"until=3000.0"}, small);
  CHECK(plan.measured == nullptr);
  CHECK(plan.clients == 8);
  CHECK(plan.at_start);
  CHECK(plan.every == from_seconds(30.0));
  CHECK(plan.samples == 101);
  CHECK_FALSE(plan.is_thinned);
  CHECK(plan.share <= 0.1);
}

TEST_CASE("samples are taken less often, so that they cost at most a tenth of the run") {
  std::set<double> numbers;
  for (const std::string until : {"1.0", "30.0", "1000.0", "20000.0", "1000000.0"}) {
    const SamplePlan plan = plan_of(open + std::vector<std::string>{"until=" + until}, digits);
    CAPTURE(until);
    CHECK((plan.share <= 0.1 || plan.samples == 2));  // the start and the end are always there
    CHECK(plan.is_thinned == (plan.samples < 101));
    CHECK((plan.every > Duration{}) == (plan.samples > 2));
    numbers.insert(plan.samples);
  }
  CHECK(numbers.size() >= 3);
  CHECK(*numbers.begin() == 2);
  CHECK(*numbers.rbegin() == 101);
}

TEST_CASE("of many clients 256 are drawn, with the seed, and from all of them") {
  const std::vector<std::string> many = {"clients.count=10000"};
  const std::vector<ClientId> measured = measured_of(many);
  REQUIRE(measured.size() == 256);
  CHECK(std::ranges::is_sorted(measured, {}, &ClientId::value));
  CHECK(std::ranges::adjacent_find(measured) == measured.end());
  CHECK(measured.back().value < 10000);
  const auto below_half = std::ranges::count_if(measured, [](ClientId client) { return client.value < 5000; });
  CHECK(below_half > 80);
  CHECK(below_half < 176);
  CHECK(measured_of(many) == measured);
  CHECK(measured_of(many + std::vector<std::string>{"seed=8"}) != measured);
}

TEST_CASE("a number of clients that [metrics] names is drawn, too, and 0 are all") {
  CHECK(measured_of({"metrics.clients=3"}).size() == 3);
  CHECK(measured_of({"metrics.clients=8"}).empty());
  CHECK(measured_of({"clients.count=10000", "metrics.clients=0"}).empty());
}

TEST_CASE("all numbers are drawn where all are wanted, and each is drawn as often as the others") {
  CHECK(drawn_from(5, 9, 1, 1) == std::vector{0u, 1u, 2u, 3u, 4u});
  std::vector<int> times(10);
  for (std::uint64_t seed = 0; seed < 1000; ++seed)
    for (const std::uint32_t one : drawn_from(10, 3, seed, 1)) ++times[one];
  for (const int each : times) CHECK(std::abs(each - 300) < 80);  // more than five deviations
}

TEST_CASE("test rows that [metrics] counts are the first; of more than 2000 others 2000 are drawn") {
  CHECK(used_test_rows(experiment(), 2000) == nullptr);
  const auto drawn = used_test_rows(experiment(), 10000);
  REQUIRE(drawn);
  CHECK(drawn->size() == 2000);
  CHECK(drawn->back() > 9000);
  const auto first = used_test_rows(experiment({"metrics.test_samples=3"}), 10000);
  REQUIRE(first);
  CHECK(*first == std::vector{0u, 1u, 2u});
  CHECK(used_test_rows(experiment({"metrics.test_samples=0"}), 10000) == nullptr);
}

TEST_CASE("what is measured is a sentence with plain numbers") {
  CHECK(contains(sentence_about({.clients = 25, .rows = 10, .samples = 2, .share = 0.9987}, 25),
                 "all 25 clients are measured, on 10 test rows, about 2 times; scoring is about 100 % of the run's work"));
  CHECK(contains(sentence_about({.clients = 1, .rows = 1, .samples = 2, .share = 0.0512}, 1),
                 "the client is measured, on 1 test row, about 2 times; scoring is about 5.1 % of"));
}

TEST_CASE("instants that [metrics] names are obeyed, whatever they cost") {
  const SamplePlan events = plan_of({"metrics.every_events=7"}, digits);
  CHECK(events.every_events == 7);
  CHECK(events.every == Duration{});
  CHECK(events.at_start);
  CHECK(events.share > 0.1);
  const SamplePlan seconds = plan_of(open + std::vector<std::string>{"metrics.every_seconds=0.5"}, digits);
  CHECK(seconds.every == from_seconds(0.5));
  CHECK(seconds.every_events == 0);
  const SamplePlan before = plan_of({"metrics.before_unifications=true", "unification.period=0.75", "until=4.0"}, digits);
  CHECK(before.before_unifications == 5);
  const SamplePlan off = plan_of({"metrics.every_events=0"}, digits);
  CHECK_FALSE(off.at_start);
  CHECK(off.samples == 1);  // the end
}
