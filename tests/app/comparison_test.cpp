#include "results/comparison.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/compare_runs.hpp"
#include "app/text/fitted_line.hpp"
#include "results/comparison_table.hpp"
#include "results/paired.hpp"
#include "runtime/record.hpp"
#include "tests/actors/support.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

// The same eight clients with another algorithm.
std::string with_algorithm(const std::string& lines) {
  std::string text = quadratic_text;
  const std::size_t from = text.find("[algorithm]"), to = text.find("[data]");
  return text.replace(from, to - from, "[algorithm]\n" + lines + "\n");
}

struct Files {
  Files() {
    write_text(folder / "draco.toml", quadratic_text);
    write_text(folder / "dpsgd.toml", with_algorithm("name = \"dpsgd\""));
  }
  ComparisonRequest request(std::vector<std::string> set = {}) const {
    return {{folder / "draco.toml", folder / "dpsgd.toml"}, std::move(set), {}, 2};
  }
  Folder folder;
};

std::vector<std::string> labels(const ComparisonPlan& plan) {
  std::vector<std::string> all;
  for (const ComparedSetting& setting : plan.settings) all.push_back(setting.label);
  return all;
}

bool has_note(const std::vector<std::string>& notes, const std::string& part) {
  return std::ranges::any_of(notes, [&](const std::string& note) { return contains(note, part); });
}

ComparisonOptions at_a_time(unsigned threads) {
  ComparisonOptions options;
  options.threads = threads;
  return options;
}

std::string refusal(const ComparisonRequest& request) {
  return complaint<std::invalid_argument>([&] { plan_comparison(request); });
}

// Every computation as client and instant.
std::vector<std::pair<std::uint32_t, Time>> computations(const config::Experiment& of, const Folder& folder) {
  RunOptions options;
  options.record = folder / "timeline.rbt";
  run(of, options);
  RecordReader record(options.record);
  std::vector<std::pair<std::uint32_t, Time>> all;
  while (const Step* step = record.next())
    if (step->kind == StepKind::compute) all.emplace_back(step->client.value, step->at);
  return all;
}

}  // namespace

TEST_CASE("files are compared with seeds that follow the first file's, and keys that only some of them know") {
  const Files files;
  ComparisonRequest request = files.request();
  request.grid = {{"algorithm.eta", {"0.1", "0.2"}}, {"algorithm.outbox", {"latest", "accumulate"}}};
  const ComparisonPlan plan = plan_comparison(request);
  CHECK(plan.first_seed == 3);
  CHECK(plan.seeds == 2);
  CHECK(labels(plan) == std::vector<std::string>{"draco algorithm.eta=0.1 algorithm.outbox=latest",
                                                 "draco algorithm.eta=0.1 algorithm.outbox=accumulate",
                                                 "draco algorithm.eta=0.2 algorithm.outbox=latest",
                                                 "draco algorithm.eta=0.2 algorithm.outbox=accumulate", "dpsgd algorithm.eta=0.1",
                                                 "dpsgd algorithm.eta=0.2"});
  CHECK(has_note(plan.notes, "dpsgd.toml, dpsgd: does not know algorithm.outbox and runs without it"));
}

TEST_CASE("a grid may choose the algorithm") {
  const Files files;
  ComparisonRequest request{{files.folder / "dpsgd.toml"}, {}, {{"algorithm.name", {"dpsgd", "draco"}}}, 1};
  request.grid.push_back({"algorithm.outbox", {"latest", "accumulate"}});
  CHECK(labels(plan_comparison(request)).size() == 3);
}

TEST_CASE("experiments that differ in clients, data, model or budget are not compared, other differences are said") {
  const Files files;
  const config::Experiment one = experiment();
  const auto found = [&](const std::vector<std::string>& overrides) { return differences(one, experiment(overrides)); };
  using Words = std::vector<std::string>;
  CHECK(found({}).faults.empty());
  CHECK(found({}).notes.empty());
  CHECK(found({"clients.count=9"}).faults == Words{"clients.count"});
  CHECK(found({"data.dimension=4"}).faults == Words{"[data]"});
  CHECK(found(digits_instead()).faults == Words{"[data]", "[model]"});
  CHECK(found({"budget.bits=7"}).faults == Words{"[budget]"});
  CHECK(found({"clients.compute.rate=3.0"}).notes == Words{"[clients.compute]"});
  CHECK(found({"channel.loss=0.2"}).notes == Words{"[channel]"});
  CHECK(found({"precision=float64", "until=9.5"}).notes == Words{"precision", "until"});
  CHECK(found({"algorithm.eta=0.2"}).notes.empty());
  const config::Experiment with_budget = experiment({"budget.bits=7"});
  CHECK(differences(with_budget, experiment({"budget.bits=7", "until=9.5"})).notes.empty());

  write_text(files.folder / "more.toml", quadratic_text);
  std::string text = text_of(files.folder / "more.toml");
  write_text(files.folder / "more.toml", text.replace(text.find("count = 8"), 9, "count = 9"));
  CHECK(contains(refusal({{files.folder / "draco.toml", files.folder / "more.toml"}, {}, {}, 1}),
                 "differ in clients.count: they cannot be compared"));
}

TEST_CASE("what nobody knows, and what is wrong in any file or point, is refused, all faults at once") {
  const Files files;
  ComparisonRequest request = files.request();
  request.grid = {{"algorithm.zeta", {"1"}}};
  CHECK(contains(refusal(request), "algorithm.zeta = 1: is not a key of algorithm"));
  request.grid = {{"channel.loss", {"2", "-1"}}};
  CHECK(contains(refusal(request), "channel.loss = 2"));
  CHECK(contains(refusal(request), "channel.loss = -1"));
  request.grid = {{"seed", {"1", "2"}}};
  CHECK(contains(refusal(request), "--seeds"));
  request.grid = {{"mailbox.window", {"0.1"}}};
  request.seeds = 0;
  CHECK(contains(refusal(request), "seeds must be at least 1"));
  CHECK(contains(refusal({}), "there is no experiment"));
}

TEST_CASE("a point of the grid that cannot be run is refused with its sentence, and the others run") {
  const Files files;
  ComparisonRequest request = files.request({"until=3.5"});
  request.grid = {{"topology.kind", {"ring", "torus", "rnig"}}};  // eight clients: the rows of a torus are not said
  const ComparisonPlan plan = plan_comparison(request);
  REQUIRE(plan.settings.size() == 6);
  CHECK(contains(plan.settings[2].refusal, "did you mean ring?"));
  const Comparison comparison = compare(plan, at_a_time(2));
  for (const std::size_t ring : {0u, 3u}) {
    CHECK(comparison.outcomes[ring].runs.size() == 2);
    CHECK(comparison.outcomes[ring].setting.refusal.empty());
  }
  for (const std::size_t torus : {1u, 4u}) {
    CHECK(comparison.outcomes[torus].runs.empty());
    CHECK_FALSE(comparison.outcomes[torus].setting.refusal.empty());
  }
  const std::string text = table_text(comparison, {}, curve_column("seconds")), table = table_csv(comparison, {});
  for (const std::size_t columns : {60u, 80u, 120u}) {
    const std::string narrow = table_text(comparison, {}, curve_column("seconds"), columns);
    std::istringstream lines(narrow.substr(0, narrow.find("\n\n")));
    for (std::string line; std::getline(lines, line);)
      CHECK_MESSAGE((app::columns_of(line) <= columns || line.starts_with("the same in all")), line);
    CHECK(contains(narrow, "draco topology.kind=ring"));
    CHECK(contains(narrow, "loss"));
  }
  CHECK(contains(text, "draco topology.kind=rnig was refused: "));
  CHECK(contains(table, "did you mean ring?"));
}

TEST_CASE("different algorithms compute at the same instants") {
  const Files files;
  const auto draco = computations(experiment(), files.folder);
  const auto dpsgd = computations(experiment({}, with_algorithm("name = \"dpsgd\"")), files.folder);
  const auto spodgt = computations(experiment({}, with_algorithm("name = \"spodgt\"")), files.folder);
  REQUIRE(draco.size() > 300);
  CHECK(dpsgd == draco);
  CHECK(spodgt == draco);
}

TEST_CASE("every run of a comparison is the run of its own, whatever runs beside it") {
  const Files files;
  const ComparisonPlan plan = plan_comparison(files.request());
  const Comparison one = compare(plan, at_a_time(1)), four = compare(plan, at_a_time(4));
  CHECK(curves_csv(one) == curves_csv(four));
  CHECK(table_csv(one, {}) == table_csv(four, {}));
  REQUIRE(one.outcomes.size() == 2);
  for (const ComparedOutcome& outcome : one.outcomes) {
    REQUIRE(outcome.runs.size() == 2);
    for (std::int64_t i = 0; i < 2; ++i) {
      config::Experiment alone = outcome.setting.experiment;
      alone.seed = 3 + i;
      const ComparedRun& compared = outcome.runs[static_cast<std::size_t>(i)];
      const RunResult result = run(alone);
      CHECK(compared.seed == alone.seed);
      CHECK(compared.digests.model == result.digests.model);
      CHECK(compared.curve.size() == result.samples.size());
      CHECK(compared.curve.back()["loss"] == result.samples.back().loss_mean);
      CHECK(compared.curve.back()["bits"] == static_cast<double>(result.traffic.paper_bits));
      CHECK(compared.came_to.at("messages").at("sent") == result.messages.sent);
      CHECK(compared.came_to.at("messages").at("lost") == result.messages.lost);
    }
  }
}

TEST_CASE("a budget ends a run early, and its curve is the beginning of the whole one") {
  const Files files;
  const std::string often = "metrics.every_seconds=0.5", by_time = "metrics.every_events=0";
  const Comparison whole = compare(plan_comparison(files.request({often, by_time})), at_a_time(2));
  const double bits = whole.outcomes[0].runs[0].curve.back()["bits"] / 3;
  const std::string budget = "budget.bits=" + std::to_string(bits);
  const Comparison cut = compare(plan_comparison(files.request({budget, "until=1e6", often, by_time})), at_a_time(2));
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 2; ++j) {
      const ComparedRun& run = cut.outcomes[i].runs[j];
      const Curve expected = within(whole.outcomes[i].runs[j].curve, {bits, {}});
      CHECK(run.has_spent);
      CHECK(run.digests.model.empty());
      REQUIRE(run.curve.size() == expected.size());
      CHECK(run.curve.back()["bits"] <= bits);
      CHECK(run.curve.back()["loss"] == expected.back()["loss"]);
    }
}

TEST_CASE("a comparison that is stopped has the runs that were at their end") {
  const Files files;
  std::atomic<bool> stop{false};
  ComparisonOptions options = at_a_time(1);
  options.stop = &stop;
  options.on_progress = [&](const ComparisonProgress& progress) { stop = progress.finished == 1; };
  const Comparison comparison = compare(plan_comparison(files.request()), options);
  CHECK(comparison.was_stopped);
  CHECK(comparison.outcomes[0].runs.size() == 1);
  CHECK(comparison.outcomes[1].runs.empty());
  CHECK(table_csv(comparison, {}).find(",0,0,nan,nan,") != std::string::npos);
}

TEST_CASE("a setting that cannot be run is named, and nothing else goes on") {
  const Files files;
  ComparisonRequest request = files.request({"isa=neon"});
  const std::string said = complaint<std::invalid_argument>([&] { compare(plan_comparison(request), at_a_time(2)); });
  CHECK(contains(said, "isa = \"neon\""));
}

namespace {

ComparedRun run_with(std::int64_t seed, const std::vector<std::array<double, 2>>& seconds_and_accuracy) {
  ComparedRun made;
  made.seed = seed;
  for (const auto& [seconds, accuracy] : seconds_and_accuracy) {
    Sample sample;
    sample.header.at = Time{from_seconds(seconds)};
    sample.traffic.paper_bits = 100 * seconds;
    sample.accuracy_mean = accuracy;
    made.curve.push_back(point_of(sample));
  }
  return made;
}

}  // namespace

TEST_CASE("a row has mean and deviation over seeds, and a target those of the seeds that reached it") {
  Comparison comparison;
  comparison.seeds = 3;
  comparison.outcomes.push_back({{"a, \"b\"", "a.toml", {{"k", "[1,2]"}}, experiment()}, {}, {"seed 9: gone"}});
  comparison.outcomes[0].runs = {run_with(1, {{1, 0.5}, {2, 0.9}}), run_with(2, {{1, 0.1}, {2, 0.6}, {4, 0.7}}),
                                 run_with(3, {{1, 0.2}, {2, 0.2}})};
  const std::vector<double> targets{0.5, 0.95};
  const auto rows = rows_of(comparison, targets);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].ends["accuracy"].mean == doctest::Approx(0.6));
  CHECK(rows[0].ends["accuracy"].deviation == doctest::Approx(std::sqrt((0.09 + 0.01 + 0.16) / 2)));
  CHECK(rows[0].ends["seconds"].mean == doctest::Approx(8.0 / 3));
  REQUIRE(rows[0].targets.size() == 2);
  CHECK(rows[0].targets[0].reached == 2);
  CHECK(rows[0].targets[0].costs["bits"].mean == 150);
  CHECK(rows[0].targets[0].costs["bits"].deviation == doctest::Approx(50 * std::sqrt(2.0)));
  CHECK(rows[0].targets[1].reached == 0);

  const auto lines = lines_of(table_csv(comparison, targets));
  REQUIRE(lines.size() == 2);
  CHECK(lines[1].starts_with("\"a, \"\"b\"\"\",a.toml,draco,\"k=[1,2]\",3,1,"));
  CHECK(contains(lines[0], ",reached_0.5,seconds_to_0.5,seconds_to_0.5_std,"));
  CHECK(lines_of(curves_csv(comparison)).size() == 1 + 7);
  const auto json = nlohmann::json::parse(table_json(comparison, targets, curve_column("bits")));
  CHECK(json.at("settings")[0].at("targets")[0].at("seconds").at("mean") == 1.5);
  CHECK(json.at("settings")[0].at("targets")[1].at("seconds").at("mean").is_null());
  CHECK(json.at("axis") == "bits");
  CHECK(contains(table_text(comparison, targets, curve_column("bits")), "2 of 3"));
}

TEST_CASE("settings are compared under the same seeds: the differences to the first, and an interval of 95 % around their mean") {
  Comparison comparison;
  comparison.seeds = 3;
  for (const char* label : {"first", "other", "alone"})
    comparison.outcomes.push_back({{label, std::string(label) + ".toml", {}, experiment()}, {}, {}});
  comparison.outcomes[0].runs = {run_with(1, {{1, 0.5}}), run_with(2, {{1, 0.4}}), run_with(3, {{1, 0.9}})};
  comparison.outcomes[1].runs = {run_with(2, {{1, 0.6}}), run_with(3, {{1, 1.0}}), run_with(4, {{1, 0.1}})};
  comparison.outcomes[2].runs = {run_with(1, {{1, 0.7}})};
  const PairedDifference by = paired_difference(comparison.outcomes[1], comparison.outcomes[0], curve_column("accuracy"));
  CHECK(by.spread.count == 2);
  CHECK(by.spread.mean == doctest::Approx(0.15));
  CHECK(by.half == doctest::Approx(12.706 * 0.05));  // the two are 0.2 and 0.1: half their distance
  CHECK(student_t(19) == doctest::Approx(2.093));
  CHECK(student_t(31) == doctest::Approx(2.0395).epsilon(1e-4));  // on from the last of the table
  const std::string text = table_text(comparison, {}, curve_column("seconds"));
  CAPTURE(text);
  CHECK(contains(text, "accuracy less that of first"));
  CHECK(contains(text, "+0.15  [-0.4853, +0.7853]      2"));
  CHECK_FALSE(contains(text, "alone  +"));  // one pair says nothing of its error
}

TEST_CASE("targets are accuracies in a list") {
  CHECK(parse_targets("0.5,0.75") == std::vector<double>{0.5, 0.75});
  CHECK(parse_targets("").empty());
  for (const char* text : {"0", "1.5", "half", "0.5,,0.7", "nan"})
    CHECK(contains(complaint<std::invalid_argument>([&] { parse_targets(text); }), "--target"));
}

TEST_CASE("runs are compared at the same instants, unless the command line says how to measure") {
  const Files files;
  const ComparisonPlan plan = plan_comparison(files.request());
  for (const ComparedSetting& setting : plan.settings) {
    CHECK(setting.experiment.metrics.every_events == 0);
    CHECK(setting.experiment.metrics.every_seconds == plan.settings.front().experiment.metrics.every_seconds);
  }
  CHECK(has_note(plan.notes, "at the same instants"));
  const Comparison comparison = compare(plan, at_a_time(2));
  const Curve& first = comparison.outcomes[0].runs[0].curve;
  for (const ComparedOutcome& outcome : comparison.outcomes)
    for (const ComparedRun& run : outcome.runs) {
      REQUIRE(run.curve.size() == first.size());
      for (std::size_t i = 0; i < first.size(); ++i) REQUIRE(run.curve[i]["seconds"] == first[i]["seconds"]);
    }
  CHECK(plan_comparison(files.request({"metrics.every_events=70"})).settings[0].experiment.metrics.every_events == 70);
}

TEST_CASE("a run that diverged is a failure of its setting where it was to stop then, and the comparison is not stopped") {
  const Files files;
  std::vector<std::string> notes;
  ComparisonOptions options = at_a_time(2);
  options.on_note = [&](const std::string& note) { notes.push_back(note); };
  const Comparison made =
      compare(plan_comparison(files.request({"algorithm.eta=1000.0", "until=300.0", "metrics.stop_on_nan=true"})), options);
  CHECK_FALSE(made.was_stopped);
  REQUIRE(made.outcomes.at(0).failures.size() == 2);
  CHECK(contains(made.outcomes[0].failures[0], "metrics.stop_on_nan ended it"));
  CHECK(has_note(notes, "draco: stopped early at "));  // what is noted at a run's end is said, too
}

TEST_CASE("a run that metrics.stop ends is at its end, and the table says by what") {
  const Files files;
  const Comparison made = compare(plan_comparison(files.request({"metrics.stop.metric=loss_mean", "metrics.stop.by=mean",
                                                                 "metrics.stop.window=2", "metrics.stop.below=1e9"})),
                                  at_a_time(2));
  CHECK_FALSE(made.was_stopped);
  REQUIRE(made.outcomes.at(0).runs.size() == 2);
  CHECK(made.outcomes[0].runs[0].curve.size() == 2);
  CHECK_FALSE(made.outcomes[0].runs[0].digests.model.empty());
  const auto json = nlohmann::json::parse(table_json(made, {}, curve_column("seconds")));
  CHECK(json.at("settings").at(0).at("runs").at(0).at("ended_by") == "metrics.stop");
}

TEST_CASE("a run whose models are not finite any more is named in every table of the comparison, with the second") {
  const Files files;
  const ComparisonPlan plan = plan_comparison(files.request({"algorithm.eta=1000.0", "until=300.0"}));
  const Comparison made = compare(plan, at_a_time(2));
  const ComparedOutcome& draco = made.outcomes.at(0);
  REQUIRE(draco.runs.size() == 2);
  REQUIRE(draco.runs[0].diverged_at);
  CHECK(*draco.runs[0].diverged_at > 0);
  const auto json = nlohmann::json::parse(table_json(made, {}, curve_column("seconds")));
  CHECK(json.at("settings").at(0).at("runs").at(0).at("diverged_at") == *draco.runs[0].diverged_at);
  const std::string text = table_text(made, {}, curve_column("seconds"));
  CAPTURE(text);
  CHECK(contains(text, "draco, seed 3, diverged at 5 s"));
  const std::string csv = table_csv(made, {});
  CHECK(contains(csv, ",diverged\n"));
  CHECK(contains(csv, ",2\n"));
}
