// Runs whose clients come and go: alike on any number of threads and hosts, replayed from their records, in every
// clock.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "experiment/file/experiment_file.hpp"
#include "results/columns.hpp"
#include "runtime/record.hpp"
#include "runtime/world/churn.hpp"
#include "tests/actors/hosts.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

// Everything that can happen happens to somebody; client 7 ends away.
const std::string script = R"(
[churn]
notice = 0.4
checkpoint_every = 2.0
events = [
  { at = 3.0, what = "join", clients = [5] },
  { at = 5.0, what = "crash", clients = [0, 1] },
  { at = 7.0, what = "restart", clients = [0], from = "checkpoint" },
  { at = 7.5, what = "restart", clients = [1] },
  { at = 8.0, what = "pause", clients = [2] },
  { at = 9.0, what = "partition", groups = [[0, 1, 2], [3, 4]] },
  { at = 11.0, what = "go_on", clients = [2] },
  { at = 12.0, what = "leave", clients = [3] },
  { at = 13.0, what = "heal" },
  { at = 15.0, what = "join", clients = [3], from = "start" },
  { at = 18.0, what = "leave", clients = [7] },
]
random = [{ clients = [4, 6], away = "crash", up = { law = "exponential", mean = 6.0 }, down = 1.0, from = "checkpoint", until = 19.0 }]
)";

config::Experiment flaky(const std::string& algorithm, const std::vector<std::string>& more = {}) {
  const std::string text = R"(
until = 25.5
precision = "float64"
[clients]
count = 8
[topology]
kind = "complete"
[channel]
kind = "random"
delay = { law = "exponential", mean = 0.1 }
loss = 0.1
duplicate = 0.1
[mailbox]
window = 0.05
[algorithm]
name = ")" + algorithm + R"("
[data]
name = "quadratic"
dimension = 8
[model]
name = "quadratic"
[metrics]
every_events = 50
)" + script;
  return experiment(more, text);
}

struct Case {
  std::string algorithm;
  std::vector<std::string> more = {};
};

const std::vector<Case> cases = {
    {"draco", {"algorithm.self_apply=true", "unification.period=4.0", "algorithm.retain_on_loss=true", "mailbox.deadline=1.0"}},
    {"draco", {"algorithm.self_apply=true", "unification.period=4.0", "unification.via=transport"}},
    {"dpsgd", {"unification.period=6.0"}},
    {"spodgt", {}},
    {"sgp", {}},
    {"depositum", {}},
    {"choco", {}},
    {"event_triggered", {"algorithm.threshold=0.1"}},
    {"kdpdfl",
     {"algorithm.T_ex=2", "data.name=digits", "model.name=softmax", "model.batch=8", "mailbox.deadline=1.0", "channel.duplicate=0",
      "until=19.5"}},
    {"pame", {"mailbox.deadline=1.0", "protocol.kind=pull", "channel.duplicate=0"}},
};

RunOptions recorded_at(const std::filesystem::path& file, unsigned threads = 1) {
  RunOptions options = on_threads(threads);
  options.record = file;
  return options;
}

}  // namespace

TEST_CASE("with churn, one thread, two threads, a replay and a dry run agree, and who is away at the end is left out") {
  for (const Case& one : cases) {
    CAPTURE(one.algorithm);
    const Folder folder;
    const config::Experiment flaky_one = flaky(one.algorithm, one.more);
    RunOptions checked = recorded_at(folder / "timeline.rbt");
    checked.checks = true;
    const RunResult result = run(flaky_one, checked);
    CHECK(result.absent == std::vector<ClientId>{{7}});
    REQUIRE(result.churn);
    CHECK(result.churn->joins == 2);
    CHECK(result.churn->leaves == 2);
    CHECK(result.churn->crashes > 3);
    CHECK(result.churn->restarts >= result.churn->crashes - 1);
    CHECK(result.churn->partitions == 1);
    CHECK(result.churn->lost > 3);
    CHECK(result.messages.kept > 100);
    CHECK(digests(run(flaky_one, on_threads(2))) == digests(result));
    CHECK(digests(replay(flaky_one, {folder / "timeline.rbt"}, result.absent, on_threads(2))) == digests(result));
    if (one.algorithm == "event_triggered") continue;  // its schedule depends on its models
    RunOptions dry = on_threads(1);
    dry.dry_run = true;
    CHECK(run(flaky_one, dry).digests.timeline == result.digests.timeline);
  }
}

TEST_CASE("mass that is passed on is counted anew, and balances at every sample after") {
  for (const std::string algorithm : {"spodgt", "sgp", "depositum"}) {
    CAPTURE(algorithm);
    RunOptions checked = on_threads(2);
    checked.checks = true;
    const RunResult result = run(flaky(algorithm, {"metrics.every_events=10"}), checked);
    CHECK(result.churn->epochs > 8);
    CHECK(result.messages.stale > 10);
    std::size_t balanced = 0;
    for (const Sample& sample : result.samples) balanced += !sample.defect.name.empty();
    CHECK(balanced > result.samples.size() / 2);
  }
}

namespace {

// What is spent stays spent.
void check_axes(const std::vector<Sample>& samples) {
  REQUIRE(samples.size() > 3);
  for (const SampleColumn& column : sample_columns()) {
    if (column.curve.role != Role::axis && column.name != "bytes_wire" && column.name != "messages_sent") continue;
    CAPTURE(std::string(column.name));
    for (std::size_t i = 1; i < samples.size(); ++i)
      REQUIRE(to_double(column.read(samples[i - 1])) <= to_double(column.read(samples[i])));
  }
}

}  // namespace

TEST_CASE("no axis runs backwards when clients leave, crash and go back to earlier states, and the last sample has all of it") {
  for (const Case& one : cases) {
    CAPTURE(one.algorithm);
    const RunResult result =
        run(flaky(one.algorithm, one.more + std::vector<std::string>{"metrics.every_events=20"}), on_threads(2));
    check_axes(result.samples);
    const Sample& last = result.samples.back();
    CHECK(last.traffic.bytes == result.traffic.bytes);
    CHECK(last.traffic.paper_bits == result.traffic.paper_bits);
    CHECK(last.traffic.gradients == result.traffic.gradients);
    CHECK(result.traffic.messages == result.messages.sent + result.model_messages);
  }
}

namespace {

// Every message sent has one outcome, or is on its way.
void check_outcomes(const RunResult& result) {
  const MessageCounts& all = result.messages;
  CHECK(all.sent + all.copies == all.arrived() + all.lost_in_all() + result.under_way);
  LinkCounts sum;
  for (const LinkCounts& link : result.by_link) {
    REQUIRE(link.sent + link.copies >= link.lost + link.apart + link.absent + link.kept + link.refused());
    sum.sent += link.sent, sum.copies += link.copies, sum.lost += link.lost, sum.apart += link.apart, sum.absent += link.absent;
    sum.kept += link.kept, sum.stale += link.stale, sum.duplicates += link.duplicates, sum.late += link.late;
  }
  CHECK(sum.sent == all.sent);
  CHECK(sum.copies == all.copies);
  CHECK(sum.lost == all.lost);
  CHECK(sum.apart == all.apart);
  CHECK(sum.absent == all.absent);
  CHECK(sum.kept == all.kept);
  CHECK(sum.stale == all.stale);
  CHECK(sum.duplicates == all.duplicates);
  CHECK(sum.late == all.late);
}

RunOptions counting_links(unsigned threads) {
  RunOptions options = on_threads(threads);
  options.counts_links = true;
  return options;
}

}  // namespace

TEST_CASE("with churn every message sent has an outcome with its reason, by client and by link, or is under way") {
  for (const Case& one : cases) {
    CAPTURE(one.algorithm);
    const RunResult result = run(flaky(one.algorithm, one.more), counting_links(2));
    check_outcomes(result);
    CHECK(result.messages.lost > 0);
    CHECK(result.messages.apart > 0);
    CHECK(result.messages.absent > 0);
    CHECK(result.hand_overs <= result.model_messages);
    if (one.algorithm == "draco") CHECK(result.hand_overs > 0);
  }
}

TEST_CASE("what all clients have spent at a sample does not depend on how many of them are scored") {
  for (const Case& one : {cases[0], cases[3], cases[6], cases[9]}) {
    CAPTURE(one.algorithm);
    const RunResult all = run(flaky(one.algorithm, one.more), on_threads(2));
    const RunResult few = run(flaky(one.algorithm, one.more + std::vector<std::string>{"metrics.clients=5"}), on_threads(1));
    REQUIRE(all.samples.size() == few.samples.size());
    for (std::size_t i = 0; i < all.samples.size(); ++i) {
      CHECK(few.samples[i].header.clients <= 5);
      CHECK(few.samples[i].traffic.bytes == all.samples[i].traffic.bytes);
      CHECK(few.samples[i].traffic.paper_bits == all.samples[i].traffic.paper_bits);
      CHECK(few.samples[i].traffic.gradients == all.samples[i].traffic.gradients);
    }
  }
}

TEST_CASE("with churn, hosts of a virtual run agree with one process") {
  for (const Case& one : cases) {
    CAPTURE(one.algorithm);
    const config::Experiment flaky_one = flaky(one.algorithm, one.more);
    const std::string expected = digests(run(flaky_one, on_threads(1)));
    const config::Experiment shared = over_hosts(flaky_one, 3);
    const auto outcomes = run_hosts({{shared, on_threads(1)}, {shared, on_threads(1)}, {shared, on_threads(1)}});
    for (const HostOutcome& outcome : outcomes) {
      CHECK(outcome.complaint == "");
      CHECK(digests(outcome.result) == expected);
    }
    check_axes(outcomes[0].result.samples);
    CHECK(outcomes[0].result.samples.back().traffic.bytes == outcomes[0].result.traffic.bytes);
  }
}

TEST_CASE("churn and a protocol that holds everybody together do not go together, and the sentence says so") {
  const auto refusal = [](const config::Experiment& wanted) -> std::string {
    try {
      run(wanted, on_threads(1));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  CHECK(refusal(flaky("dpsgd", {"protocol.kind=rounds", "channel.duplicate=0"})).find("use \"push\", \"pull\" or \"pair\"") !=
        std::string::npos);
  CHECK(refusal(flaky("pame", {"protocol.kind=pull", "channel.duplicate=0"}))
            .find("needs mailbox.deadline, because clients that have gone do not answer") != std::string::npos);
}

TEST_CASE("the example of flaky clients learns while clients come and go") {
  std::ostringstream notes;
  const config::Experiment example = config::read_experiment(RUBATO_SOURCE_DIR "/examples/churn/flaky.toml", {}, notes);
  const RunResult result = run(example, on_threads(2));
  CHECK(result.absent == std::vector<ClientId>{{2}});
  CHECK(result.samples.back().accuracy_mean > 0.85);
  CHECK(result.churn->pauses > 5);
}

namespace {

const std::vector<std::string> in_real_time = {"clock=wall", "time_scale=15", "metrics.clients=3"};

config::Experiment flaky_wall(const Case& one) { return flaky(one.algorithm, one.more + in_real_time); }

}  // namespace

TEST_CASE("the same script runs in real time, and its record leads to its digests") {
  for (const Case& one : {cases[0], cases[1], cases[3], cases[4], cases[6]}) {
    CAPTURE(one.algorithm);
    const Folder folder;
    config::Experiment wall = flaky_wall(one);
    RunResult result;
    const bool had_time = at_some_pace(wall, [&] {
      RunOptions options = counting_links(2);
      options.record = folder / "timeline.rbt";
      result = run(wall, options);
      return result.messages.kept > 100;
    });
    CHECK(had_time);
    CHECK(result.absent == std::vector<ClientId>{{7}});
    REQUIRE(result.churn);
    CHECK(result.churn->joins == 2);
    CHECK(result.churn->leaves == 2);
    CHECK(result.churn->crashes > 3);
    CHECK(result.churn->restarts == result.churn->crashes);
    CHECK(result.churn->partitions == 1);
    check_axes(result.samples);
    check_outcomes(result);
    if (one.algorithm == "draco") CHECK(result.hand_overs > 0);
    CHECK((result.unifications > 0) == wall.unification.period.has_value());
    CHECK(result.samples.back().traffic.messages == result.messages.sent + result.model_messages);
    CHECK(result.samples.back().header.counts.sent == result.messages.sent);
    CHECK(to_seconds(result.samples.back().header.at) <= wall.until);
    CHECK(digests(replay(wall, {folder / "timeline.rbt"}, result.absent, on_threads(2))) == digests(result));
  }
}

TEST_CASE("the same script runs over several hosts in real time, each host carries out what happens to its own clients") {
  for (const Case& one : {cases[2], cases[3], cases[6]}) {
    CAPTURE(one.algorithm);
    const Folder folder;
    config::Experiment wall = over_hosts(flaky_wall(one), 2);
    std::vector<HostOutcome> outcomes;
    const bool had_time = at_some_pace(wall, [&] {
      outcomes = run_hosts({{wall, recorded_at(folder / "a.rbt")}, {wall, recorded_at(folder / "b.rbt")}});
      CHECK(outcomes[0].complaint == "");
      CHECK(outcomes[1].complaint == "");
      return outcomes[0].result.messages.kept > 100;
    });
    CHECK(had_time);
    const RunResult& result = outcomes[0].result;
    CHECK(result.absent == std::vector<ClientId>{{7}});
    CHECK(result.churn->joins == 2);
    const std::vector<std::filesystem::path> records{folder / "a.rbt", folder / "b.rbt"};
    CHECK(digests(replay(wall, records, result.absent, on_threads(1))) == digests(result));
  }
}

TEST_CASE("in real time clients take the lives that the script gives them, and begin them with the states that it names") {
  const Folder folder;
  config::Experiment wall = flaky_wall(cases[3]);
  std::map<std::pair<std::uint32_t, StepKind>, std::vector<std::uint64_t>> steps;
  std::map<std::uint32_t, std::uint32_t> lives;
  // Time for models to be handed over, and to hear of one epoch before the next.
  const bool had_time = at_some_pace(wall, [&] {
    steps.clear(), lives.clear();
    run(wall, recorded_at(folder / "timeline.rbt", 2));
    RecordReader reader(folder / "timeline.rbt");
    while (const Step* step = reader.next()) {
      steps[{step->client.value, step->kind}].push_back(step->index);
      lives[step->client.value] = std::max(lives[step->client.value], step->incarnation);
    }
    return !steps[{1, StepKind::adopt}].empty() && !steps[{5, StepKind::adopt}].empty() && steps[{2, StepKind::reset}].size() > 8;
  });
  CHECK(had_time);
  CHECK(steps[{0, StepKind::load}] == std::vector<std::uint64_t>{first_churn_state + 2});
  CHECK(steps[{1, StepKind::load}] == std::vector<std::uint64_t>{0});
  CHECK(steps[{1, StepKind::adopt}].size() == 1);
  CHECK(steps[{5, StepKind::load}].empty());
  CHECK(steps[{5, StepKind::adopt}].size() == 1);
  CHECK(steps[{3, StepKind::load}] == std::vector<std::uint64_t>{0});
  CHECK(steps[{3, StepKind::adopt}].empty());
  CHECK(steps[{2, StepKind::load}].empty());
  CHECK(lives[0] == 1);
  CHECK(lives[5] == 0);
}
