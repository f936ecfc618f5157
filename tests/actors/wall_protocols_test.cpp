// Servers, leaders, tokens and pulls in real time: they learn, in one process and on several hosts, and their records
// land on their digests.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

#include "algos/catalogue.hpp"
#include "experiment/file/experiment_file.hpp"
#include "tests/actors/hosts.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

// Eight clients whose links lose and delay.
std::vector<std::string> in_real_time(const std::string& algorithm) {
  const bool has_leaders = algorithm != "digest";
  return {"clock=wall",
          "time_scale=30",
          "until=60.5",
          "unification.period=none",
          "mailbox.cap_period=none",
          "mailbox.cap=none",
          "mailbox.deadline=3.0",
          "channel={kind=\"random\",delay={law=\"exponential\",mean=0.1},loss=0.05}",
          "algorithm.name=" + algorithm,
          "topology.kind=" + std::string(has_leaders ? "complete" : "ring"),
          "clients.compute.rate=4.0",
          "clients.transmit.rate=8.0"};
}

const std::vector<std::string> digits = {"data.name=digits", "model.name=softmax", "model.batch=8", "metrics.test_samples=100"};
const std::vector<std::string> until_enough = {"until=3600.5"};  // two minutes, for what ends when enough has happened
const std::vector<std::string> patient = {"mailbox.deadline=none"};

auto has_kept(std::uint64_t messages) {
  return [messages](const Sample& sample) { return sample.header.counts.kept > messages; };
}

// Until it has learned from messages, some of them lost; the record then lands on the run's digests.
void check_learns_and_replays(const config::Experiment& wall) {
  const Folder folder;
  RunOptions options = on_threads(2);
  options.record = folder / "timeline.rbt";
  const RunResult result = run_until(wall, options, [](const Sample& sample) {
    const MessageCounts& counts = sample.header.counts;
    return counts.kept > 40 && counts.lost > 0 && counts.computations > 50 && sample.accuracy_mean > 0.3;
  });
  CHECK(result.was_stopped);
  CHECK(digests(replay(wall, folder / "timeline.rbt", on_threads(1))) == digests(result));
}

}  // namespace

TEST_CASE("servers, leaders and tokens learn in real time, and replay to their digests") {
  for (const std::string algorithm : {"fedavg", "fedmid", "feddr", "swarm", "digest"}) {
    CAPTURE(algorithm);
    check_learns_and_replays(experiment(in_real_time(algorithm) + digits + until_enough));
  }
}

TEST_CASE("servers without rounds learn in real time, and replay to their digests") {
  const std::map<std::string, std::vector<std::string>> servers = {
      {"asgd", {"algorithm.gamma=0.1"}},
      {"fedbuff", {"algorithm.K=4", "algorithm.eta=0.1"}},
      {"rennala", {"algorithm.B=8", "algorithm.gamma=0.5"}},
      {"ringleader", {"algorithm.gamma=0.2"}},
      {"diloco", {"algorithm.inner=sgd", "algorithm.lr=0.1", "algorithm.H=4"}},
  };
  for (const auto& [algorithm, more] : servers) {
    CAPTURE(algorithm);
    const std::vector<std::string> patience{"algorithm.patience=2.0"};
    check_learns_and_replays(experiment(in_real_time(algorithm) + digits + until_enough + more + patience));
  }
}

TEST_CASE(
    "every algorithm that has an example runs in real time, and its record lands on its digests; those of trees are refused") {
  for (const std::filesystem::path& file : example_algorithms()) {
    CAPTURE(file.stem());
    const Folder folder;
    std::ostringstream notes;
    const std::vector<std::string> overrides = {"clock=wall", "time_scale=40", "metrics.test_samples=50",
                                                "metrics.every_events=20"};
    const config::Experiment wall = config::read_experiment(file, overrides + until_enough, notes);
    if (catalogue_entry(wall.algorithm.name).runs.has(ProtocolKind::tree)) {
      CHECK(contains(complaint<std::invalid_argument>([&] { run(wall, on_threads(1)); }), "needs clock = \"virtual\""));
      continue;
    }
    RunOptions options = on_threads(2);
    options.record = folder / "timeline.rbt";
    const bool talks = wall.algorithm.name != "local_only";
    const RunResult result = run_until(wall, options, [&](const Sample& sample) {
      const SampleHeader& now = sample.header;
      return now.at > Time{std::chrono::seconds(10)} && now.counts.computations > 20 && (now.counts.kept > 0 || !talks);
    });
    CHECK(result.was_stopped);
    CHECK(digests(replay(wall, folder / "timeline.rbt", on_threads(1))) == digests(result));
  }
}

TEST_CASE(
    "three hosts serve, lead, pass tokens and meet in pairs in real time, and their records land on the digests of the first") {
  for (const std::string algorithm : {"fedadmm", "swarm", "digest", "asgd", "adpsgd"}) {
    CAPTURE(algorithm);
    const Folder folder;
    const std::vector<std::string> patience =
        algorithm == "asgd" ? std::vector<std::string>{"algorithm.patience=2.0"} : std::vector<std::string>{};
    config::Experiment wall = over_hosts(experiment(in_real_time(algorithm) + patience), 3);
    Impairment links;
    links.loss = 0.05, links.duplicate = 0.1, links.reorder = 0.1;
    links.kinds = {ParcelKind::message, ParcelKind::control};
    std::vector<HostOutcome> outcomes;
    const bool had_time = at_some_pace(wall, [&] {
      std::vector<HostStart> starts;
      for (const std::string host : {"a", "b", "c"}) {
        HostStart start{wall, on_threads(1), {}};
        start.options.record = folder / host;
        starts.push_back(std::move(start));
      }
      outcomes = run_hosts(starts, links);
      for (const HostOutcome& outcome : outcomes) REQUIRE(outcome.complaint == "");
      return outcomes[0].result.messages.kept > 40;
    });
    CHECK(had_time);
    const RunResult again = replay(wall, {folder / "a", folder / "b", folder / "c"}, {}, on_threads(2));
    CHECK(digests(again) == digests(outcomes[0].result));
    const std::optional<PairTotals>& exchanges = outcomes[0].result.exchanges;
    CHECK(exchanges.has_value() == (algorithm == "adpsgd"));
    if (!exchanges) continue;
    CHECK(exchanges->counts.met > 10);  // of the clients of all hosts
    CHECK(exchanges->attempts() + exchanges->counts.met == outcomes[0].result.messages.sent);
  }
}

TEST_CASE("the rounds of a run over hosts are those of its centre, wherever it is, and a host without it says nothing of them") {
  for (const std::string centre : {"0", "7"}) {
    CAPTURE(centre);
    const config::Experiment wall =
        over_hosts(experiment(in_real_time("fedavg") + std::vector<std::string>{"protocol.center=" + centre}), 2);
    const auto outcomes = run_hosts(wall, on_threads(1));
    for (const HostOutcome& outcome : outcomes) REQUIRE(outcome.complaint == "");
    REQUIRE(outcomes[0].result.rounds);
    CHECK(outcomes[0].result.rounds->done > 0);
    CHECK(outcomes[1].result.gathered_by == "a");
    CHECK(outcomes[1].result.rounds.has_value() == (centre == "7"));
  }
}

TEST_CASE("a pull in real time ends when its answers are there") {
  const Folder folder;
  const config::Experiment wall = experiment(in_real_time("pame") + until_enough + std::vector<std::string>{"protocol.kind=pull"});
  RunOptions options = on_threads(2);
  options.record = folder / "timeline.rbt";
  const RunResult result = run_until(wall, options, has_kept(300));
  CHECK(result.was_stopped);
  CHECK(digests(replay(wall, folder / "timeline.rbt", on_threads(1))) == digests(result));
}

TEST_CASE("without a deadline what modelled links lose is sent again") {
  for (const std::string algorithm : {"fedavg", "swarm", "digest"}) {
    CAPTURE(algorithm);
    const config::Experiment wall = experiment(in_real_time(algorithm) + until_enough + patient);
    const RunResult result = run_until(wall, on_threads(1), has_kept(100));
    CHECK(result.was_stopped);
    CHECK(result.messages.lost == 0);
  }
}

TEST_CASE("who waits for others needs a deadline on several hosts") {
  for (const std::string algorithm : {"fedavg", "swarm", "digest"}) {
    CAPTURE(algorithm);
    const config::Experiment wall = over_hosts(experiment(in_real_time(algorithm) + patient), 2);
    CHECK(contains(run_hosts(wall, on_threads(1)).front().complaint, "mailbox.deadline"));
  }
}

TEST_CASE("a computation that takes longer than its law says is waited for, and never left out") {
  // The law's intervals are some millionths of a real second: no computation is that short.
  const config::Experiment hasty = experiment(in_real_time("fedavg") + digits + until_enough +
                                              std::vector<std::string>{"clients.compute.rate=5000.0", "model.batch=512"});
  const auto is_enough = [](const Sample& sample) { return sample.header.counts.computations > 20; };
  const RunResult result = run_until(hasty, on_threads(1), is_enough);
  std::uint64_t skipped = 0;
  for (const Pace& pace : result.paces) skipped += pace.skipped;
  CHECK(skipped == 0);
  CHECK(result.was_stopped);
}
