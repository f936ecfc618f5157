// Every channel in whole runs: the examples, one digest however they are run, and what is refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "experiment/build/timing.hpp"
#include "experiment/file/experiment_file.hpp"
#include "experiment/roster.hpp"
#include "tests/actors/hosts.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

const std::filesystem::path examples = RUBATO_SOURCE_DIR "/examples/channels";

std::vector<std::filesystem::path> example_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(examples))
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

config::Experiment example(const std::filesystem::path& file, const std::vector<std::string>& overrides = {}) {
  std::ostringstream notes;
  return config::read_experiment(file, overrides, notes);
}

std::string refusal(const std::string& name, const std::vector<std::string>& overrides) {
  return complaint<std::invalid_argument>([&] { run(example(examples / (name + ".toml"), overrides)); });
}

const std::vector<std::string> short_run = {"until=10.5"};

}  // namespace

TEST_CASE("every kind of channel has an example, which learns") {
  std::vector<std::string> kinds;
  for (const auto& file : example_files()) {
    CAPTURE(file);
    const config::Experiment experiment = example(file);
    kinds.emplace_back(word_of(experiment.channel.kind));
    const RunResult result = run(experiment, on_threads(2));
    CHECK(result.samples.back().accuracy_mean > result.samples.front().accuracy_mean + 0.2);
    CHECK(result.messages.kept > 100);
  }
  for (const std::string kind : {"wireless", "rayleigh_threshold", "aircomp", "bandwidth", "trace", "bursty"})
    CHECK(std::ranges::find(kinds, kind) != kinds.end());
}

TEST_CASE("a channel gives one digest on one thread, on two, over three hosts and in a replay") {
  for (const auto& file : example_files()) {
    CAPTURE(file);
    const config::Experiment experiment = example(file, short_run);
    RunOptions options = on_threads(1);
    const std::filesystem::path record = std::filesystem::temp_directory_path() / ("rubato_channels_" + file.stem().string());
    options.record = record;
    const std::string expected = digests(run(experiment, options));
    CHECK(digests(run(experiment, on_threads(2))) == expected);
    CHECK(digests(replay(experiment, {record}, {}, on_threads(2))) == expected);
    std::filesystem::remove(record);
    for (const HostOutcome& outcome : run_hosts(over_hosts(experiment, 3))) {
      CHECK(outcome.complaint == "");
      CHECK(digests(outcome.result) == expected);
    }
    RunOptions dry;
    dry.dry_run = true;
    CHECK(expected.ends_with(run(experiment, dry).digests.timeline));
    CHECK(digests(run(example(file, {"until=10.5", "seed=2"}), on_threads(2))) != expected);
  }
}

TEST_CASE("a message counts as large as it is, for every algorithm, also where no message is missing") {
  for (const CatalogueEntry* entry : catalogue()) {
    if (entry->name == "kdpdfl" || entry->name == "local_only") continue;
    CAPTURE(entry->name);
    for (const std::string precision : {"float32", "float64"})
      for (const bool loses_nothing : {false, true}) {
        if (loses_nothing && !entry->runs.has(ProtocolKind::rounds)) continue;
        if (loses_nothing && (entry->name == "depositum" || entry->name == "dsgt")) continue;  // in rounds half a message at a time
        CAPTURE(loses_nothing);
        const std::vector<std::string> rounds{"precision=" + precision, "protocol.kind=rounds"};
        const std::vector<std::string> usual{"precision=" + precision};
        const config::Experiment experiment = test::experiment(loses_nothing ? rounds : usual, R"(
until = 40.5
[clients]
count = 6
[topology]
kind = "complete"
[algorithm]
name = ")" + std::string(entry->name) + R"("
[data]
name = "quadratic"
dimension = 40
[model]
name = "quadratic"
)");
        const RunResult result = run(experiment, on_threads(1));
        const std::size_t scalar_bytes = precision == "float32" ? 4 : 8;
        const bool has_counters = !loses_nothing && entry->runs.has(ProtocolKind::push);
        const MessageForm form{.numbers = 40, .scalar_bytes = scalar_bytes, .mass_bytes = has_counters ? 8 : scalar_bytes};
        const double told = entry->message_bytes ? entry->message_bytes(experiment.algorithm.options, form)
                                                 : 40.0 * static_cast<double>(scalar_bytes);
        REQUIRE(result.traffic.messages > 0);
        CHECK(static_cast<double>(result.traffic.bytes) == told * static_cast<double>(result.traffic.messages));
      }
  }
}

TEST_CASE("larger messages take longer over radio and over shared capacities") {
  for (const std::string name : {"wireless", "bandwidth"}) {
    CAPTURE(name);
    double last = 0;
    for (const std::string bytes : {"1000", "none", "5000"}) {
      const config::Experiment experiment =
          example(examples / (name + ".toml"), {"until=10.5", "channel.message_bytes=" + bytes, "mailbox.deadline=none"});
      const double airtime = to_seconds(run(experiment, on_threads(1)).messages.airtime);
      CHECK(airtime > last);  // none: the model's 650 numbers, 2,600 bytes
      last = airtime;
    }
  }
}

TEST_CASE("without noise sums over the air are the models themselves: those of the same links without air") {
  const std::vector<std::string> at_once = {"until=20.5", "protocol.compute_phase=1.0", "algorithm.xi=0.5",
                                            "channel.threshold=0.5"};
  const auto model = [&](const std::string& name, const std::vector<std::string>& more) {
    return run(example(examples / (name + ".toml"), at_once + more), on_threads(2)).digests.model;
  };
  const std::string without_air = model("rayleigh_threshold", {"channel.delay=1e-9"});
  CHECK(model("aircomp", {"channel.slot=1e-9", "channel.noise=0.0"}) == without_air);
  CHECK(model("aircomp", {"channel.slot=1e-9", "channel.noise=0.01"}) != without_air);
}

TEST_CASE("links that fade, links of a trace and bursts are laid over real time, too") {
  for (const std::string name : {"rayleigh_threshold", "trace", "bursty"}) {
    CAPTURE(name);
    const config::Experiment wall = example(examples / (name + ".toml"), {"clock=wall", "time_scale=10.0", "until=1200.0",
                                                                          "protocol.kind=push", "metrics.every_seconds=1.0"});
    const auto is_enough = [](const Sample& sample) { return sample.header.counts.kept > 50; };
    CHECK(run_until(wall, on_threads(2), is_enough).was_stopped);
  }
}

TEST_CASE("what a channel cannot do is refused with a sentence") {
  CHECK(contains(refusal("wireless", {"clock=wall"}), "it is not known which others transmit"));
  CHECK(contains(refusal("bandwidth", {"clock=wall"}), "it is not known what else is under way"));
  CHECK(contains(refusal("wandering", {"channel.speed_low=0.0"}), "a way at speed 0 never ends"));
  CHECK(contains(refusal("wandering", {"channel.speed_high=0.1"}), "must be at least speed_low"));
  CHECK(contains(refusal("bandwidth", {"unification.period=3.0", "unification.hub=best_channel"}), "knows no SINR"));
  CHECK(contains(refusal("bandwidth", {"topology.kind=knn", "topology.points=channel"}), "has no places"));
  CHECK(contains(refusal("wandering", {"topology.kind=random_geometric", "topology.radius=1.0", "topology.points=channel"}),
                 "gave no connected graph"));
  CHECK(contains(refusal("trace", {"topology.kind=complete"}), "has no row for the link from 0 to 2"));
  CHECK(contains(refusal("rayleigh_threshold", {"channel.up_when=time"}), "needs mailbox.deadline"));
  CHECK(contains(refusal("rayleigh_threshold", {"algorithm.name=draco", "protocol.compute_phase=none"}), "waits for ever"));
  CHECK(contains(refusal("aircomp", {"protocol.kind=push"}), "use protocol.kind = \"rounds\""));
  CHECK(contains(refusal("aircomp", {"algorithm.name=choco", "protocol.compute_phase=none"}), "does not; dpsgd"));
}
