#include "app/tuning.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "tests/actors/support.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

ComparisonPlan plan_of(const Folder& folder, std::size_t points) {
  write_text(folder / "draco.toml", quadratic_text);
  ComparisonRequest request{{folder / "draco.toml"}, {}, {}, 3};
  request.samples = {parse_sample("algorithm.eta=log(1e-4,1)")};
  request.points = points;
  return plan_comparison(request);
}

ComparisonOptions two_threads() {
  ComparisonOptions options;
  options.threads = 2;
  return options;
}

}  // namespace

TEST_CASE("of nine points three are kept after a third of the time, and of these the best at its end") {
  const Folder folder;
  const ComparisonPlan plan = plan_of(folder, 9);
  const Tuned tuned = tune(plan, {.factor = 3, .seeds = 2}, two_threads());
  REQUIRE(tuned.lines.size() == 12);
  for (std::size_t i = 0; i < tuned.lines.size(); ++i) {
    const TuningLine& line = tuned.lines[i];
    CHECK(line.rung == (i < 9 ? 1 : 2));
    CHECK(line.until == doctest::Approx(i < 9 ? 30.5 / 3 : 30.5));
    CHECK(line.runs == 2);
    for (const TuningLine& other : tuned.lines)
      if (other.rung == line.rung && line.is_kept && !other.is_kept) CHECK(line.score >= other.score);
  }
  REQUIRE(tuned.plan.settings.size() == 1);
  const auto chosen = std::ranges::find_if(tuned.lines, [](const TuningLine& line) { return line.rung == 2 && line.is_kept; });
  CHECK(tuned.plan.settings[0].label == chosen->setting);
  CHECK(tuned.plan.settings[0].experiment.until == plan.settings[0].experiment.until);
}

TEST_CASE("scores of tuning are those of plain runs with its seeds, which no comparison reports") {
  const Folder folder;
  const ComparisonPlan plan = plan_of(folder, 2);
  CHECK(first_tuning_seed(plan) >= plan.first_seed + static_cast<std::int64_t>(plan.seeds));
  const Tuned tuned = tune(plan, {.factor = 2, .seeds = 2}, two_threads());
  REQUIRE(tuned.lines.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    double sum = 0;
    for (std::int64_t seed = 0; seed < 2; ++seed) {
      config::Experiment experiment = plan.settings[i].experiment;
      experiment.seed = first_tuning_seed(plan) + seed;
      sum -= rubato::run(experiment).samples.back().loss_mean;
    }
    CHECK(tuned.lines[i].score == doctest::Approx(sum / 2).epsilon(1e-12));
  }
  CHECK(tuned.plan.first_seed == plan.first_seed);
  CHECK(tuned.plan.seeds == plan.seeds);
}

TEST_CASE("a point that diverges or cannot be run is never kept before one that can") {
  const Folder folder;
  write_text(folder / "draco.toml", quadratic_text);
  ComparisonRequest request{{folder / "draco.toml"}, {}, {parse_grid("algorithm.eta=1e9,0.05,-1")}, 1};
  const ComparisonPlan plan = plan_comparison(request);
  const Tuned tuned = tune(plan, {.factor = 3, .seeds = 1}, two_threads());
  REQUIRE(tuned.plan.settings.size() == 1);
  CHECK(contains(tuned.plan.settings[0].label, "0.05"));
  CHECK(contains(tuning_csv(tuned.lines), "-inf"));
}

TEST_CASE("a file of one point, or with one left, is not run again") {
  const Folder folder;
  ComparisonPlan plan = plan_of(folder, 4);
  for (const ComparedSetting& setting : plan_of(folder, 1).settings) {
    plan.settings.insert(plan.settings.begin() + 1, setting);
    plan.settings[1].file = "alone.toml";
  }
  const Tuned tuned = tune(plan, {.factor = 2, .seeds = 1}, two_threads());
  CHECK(tuned.lines.size() == 6);
  CHECK(std::ranges::none_of(tuned.lines, [](const TuningLine& line) { return line.file == "alone.toml"; }));
  REQUIRE(tuned.plan.settings.size() == 2);
  CHECK(std::ranges::count(tuned.plan.settings, std::filesystem::path("alone.toml"), &ComparedSetting::file) == 1);
}
