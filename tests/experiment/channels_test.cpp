// Every channel in whole runs: the examples, one digest however they are run, and what is refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "experiment/build/timing.hpp"
#include "experiment/file/experiment_file.hpp"
#include "experiment/roster.hpp"
#include "runtime/record.hpp"
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
until = 160.5
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

// Section 2.5 of the thesis: a larger threshold saves energy, because fewer links are up.
TEST_CASE("over a threshold a sender is on the air for each link that is up, and for no other") {
  double last = 1e300;
  for (const std::string threshold : {"0.2", "0.6", "1.0", "1.4"}) {
    CAPTURE(threshold);
    for (const std::string algorithm : {"async_dsgd", "draco"}) {  // with weights of the links that are up, and without
      std::vector<std::string> overrides{"until=40.5", "channel.threshold=" + threshold, "algorithm.name=" + algorithm,
                                         "channel.delay=0.25"};
      if (algorithm == "draco") overrides.push_back("protocol={kind=\"push\"}");
      const RunResult result = run(example(examples / "rayleigh_threshold.toml", overrides), on_threads(1));
      CHECK(to_seconds(result.messages.airtime) ==
            doctest::Approx(0.25 * static_cast<double>(result.messages.sent - result.messages.lost)));
      if (algorithm == "draco") continue;
      CHECK(to_seconds(result.messages.airtime) < last);
      last = to_seconds(result.messages.airtime);
    }
  }
}

TEST_CASE("a hub of most links or of the best channel sends its model over the radio, and not all get it in time") {
  for (const std::string hub : {"max_degree", "best_channel"}) {
    CAPTURE(hub);
    const config::Experiment experiment =
        example(examples / "wireless.toml", {"until=65.5", "unification.via=transport", "unification.hub=" + hub,
                                             "topology.kind=star", "topology.center=7", "algorithm.self_apply=true"});
    const Folder folder;
    RunOptions options = on_threads(1);
    options.record = folder / "timeline.rbt";
    const RunResult result = run(experiment, options);
    CHECK(result.unifications == 6);
    CHECK(result.model_messages == 6 * 24);
    CHECK(result.models_lost > 0);
    CHECK(result.models_lost < result.model_messages);
    RecordReader record(options.record);
    std::uint64_t adopted = 0;
    while (const Step* step = record.next()) {
      if (step->kind == StepKind::publish && step->message == MessageKind::model && hub == "max_degree")
        CHECK(step->client == ClientId{7});
      if (step->kind != StepKind::adopt) continue;
      ++adopted;
      CHECK(step->entries[0].age <= std::chrono::seconds(1));  // the deadline
      CHECK(step->entries[0].age > std::chrono::milliseconds(10));
    }
    CHECK(adopted == result.model_messages - result.models_lost);
    CHECK(digests(replay(experiment, options.record, on_threads(2))) == digests(result));
  }
}

TEST_CASE("with one star at a time a round of sums over the air lasts longer, and each edge is served all the same") {
  const auto rounds = [&](const std::string& stars) {
    return run(
        example(examples / "aircomp.toml", {"until=60.5", "topology.kind=ring", "channel.slot=0.2", "channel.slot_stars=" + stars}),
        on_threads(1));
  };
  const RunResult many = rounds("many"), one = rounds("one");
  CHECK(one.rounds->done < many.rounds->done);
  CHECK(one.messages.lost == 0);
}

TEST_CASE("the cap by chance is refused where it is not known how many messages a period will bring") {
  const std::filesystem::path file = examples / "receptions.toml";
  const auto refused = [&](const std::vector<std::string>& overrides) {
    return complaint<std::invalid_argument>(
        [&] { run(example(file, std::vector<std::string>{"until=5.5"} + overrides), on_threads(1)); });
  };
  CHECK(contains(refused({"mailbox.cap=none"}), "mailbox.cap_rule = \"random\" needs mailbox.cap"));
  CHECK(contains(refused({"clock=wall"}), "\"random\" needs clock = \"virtual\""));
  CHECK(contains(refused({"algorithm.retain_on_loss=true", "mailbox.deadline=1.0"}), "algorithm.retain_on_loss = true"));
  CHECK(contains(refused({"algorithm={name=\"choco\"}", "unification.period=none", "mailbox.cap_period=5.0",
                          "clients.transmit={law=\"coupled\"}"}),
                 "mailbox.cap_rule = \"random\": with algorithm.name = \"choco\""));
  CHECK(contains(refused({"algorithm={name=\"dpsgd\"}", "protocol.kind=rounds", "clients.transmit={law=\"coupled\"}"}),
                 "has no periods of single messages"));
  CHECK(contains(refused({"model.batch=0"}), "model.batches = \"epochs\" needs model.batch"));
}

TEST_CASE("of a period's messages the cap by chance keeps as many as first come, of other instants") {
  const std::filesystem::path file = examples / "receptions.toml";
  const RunResult random = run(example(file, {"until=150.5"}), on_threads(1));
  const RunResult first = run(example(file, {"until=150.5", "mailbox.cap_rule=first_come"}), on_threads(1));
  CHECK(random.messages.sent == first.messages.sent);
  CHECK(random.messages.capped > random.messages.kept);
  // Full periods keep as many; the one that the end cuts is thinned over what it has.
  CHECK(random.messages.kept == first.messages.kept);
  CHECK(digests(random) != digests(first));
  RunOptions options = on_threads(1);
  options.checks = true;
  CHECK(digests(run(example(file, {"until=150.5"}), options)) == digests(random));
}
