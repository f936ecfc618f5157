// From the file to the timing: what does not fit the graph is refused, and what the timing throws ends a run.
#include "experiment/build/timing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "actors/virtual/virtual_run.hpp"
#include "experiment/file/resolve.hpp"
#include "tests/actors/support.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

std::string refusal(const std::vector<std::string>& overrides) {
  try {
    run(experiment(overrides));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

// Hands out one step and then breaks.
class BreaksDown final : public StepSource {
 public:
  explicit BreaksDown(StepSink& sink) : sink_{sink} {}
  bool walk(std::uint64_t) override {
    sink_.perform({.kind = StepKind::compute, .client = ClientId{0}, .entries = {}});
    throw std::length_error("no room");
  }
  void stop() override {}
  bool is_over() const override { return false; }
  Time now() const override { return Time{std::chrono::seconds(2)}; }
  std::uint64_t events() const override { return 0; }
  const std::vector<StepHash>& hashes() const override { return hashes_; }

 private:
  StepSink& sink_;
  std::vector<StepHash> hashes_;
};

}  // namespace

TEST_CASE("what the parts of an experiment refuse names the words of its file") {
  CHECK(contains(refusal({"topology.kind=random_geometric", "topology.radius=1e-6"}), "topology.kind = \"random_geometric\""));
  CHECK(contains(
      refusal({"algorithm.name=dpsgd", "unification.period=none", "topology.kind=directed_ring", "topology.mixing=metropolis"}),
      "topology.mixing = \"metropolis\""));
  CHECK(contains(refusal({"topology.kind=edges", "topology.edges=[[0,1],[0,1]]"}), "topology.edges"));
}

TEST_CASE("what the timing throws ends the run with the time and the reason") {
  const config::Experiment small = experiment();
  const auto task = make_task<float>(small, {}, {});
  RunOptions options;
  options.threads = 2;
  const ClientViews views{.graph = make_graph(small)};
  VirtualRun play(*task, options, views);
  StepDispatcher dispatcher(play.control(), nullptr);
  BreaksDown broken(dispatcher);
  play.perform(broken, dispatcher, Credit::automatic(8, 64, {}));
  REQUIRE(play.client_pool().failure());
  CHECK(to_string(*play.client_pool().failure()) == "the timing failed at 2.000000 s: no room");
}

TEST_CASE("a bound on payload bytes bounds what is published and not absorbed, beyond what the links hold") {
  const std::vector<std::string> big{"data.dimension=4096", "channel.delay=0.001", "mailbox.window=0.0", "metrics.every_events=0"};
  const std::uint64_t free = run(experiment(big)).peak_payload_bytes;
  const std::uint64_t bound = run(experiment(big + std::vector<std::string>{"limits.payload_bytes=100000"})).peak_payload_bytes;
  CHECK(free > 400000);
  CHECK(bound < 300000);  // eight clients' messages of 16 KB may be on the modelled links at once
}

TEST_CASE("a list of delays is taken in turn") {
  const RandomChannel channel(1, {Law{.kind = Law::Kind::list, .values = {0.1, 0.2}}, 0}, {});
  for (std::uint64_t turn = 0; turn < 6; ++turn)
    CHECK(channel.carry({.sender = {3}, .receiver = {7}, .turn = turn}).delay == from_seconds(turn % 2 ? 0.2 : 0.1));
}

TEST_CASE("a chance below the least is raised to it, and the least needs a chance") {
  const std::vector<std::string> by_chance{"algorithm.name=spodgt", "protocol.compute_chance={law=\"beta\",a=0.5,b=0.5}",
                                           "protocol.link_chance=0.2", "protocol.least_chance=0.3", "clients.count=40"};
  const auto timing = resolve(experiment(by_chance), OwnParts<float>{}).timing;
  const std::vector<double>& computes = timing->settings.chances.computes;
  REQUIRE(computes.size() == 40);
  CHECK(std::ranges::min(computes) == 0.3);  // a Beta(1/2, 1/2) is below it more than one time in three
  CHECK(std::ranges::max(computes) > 0.9);
  CHECK(std::ranges::count(timing->settings.chances.links, 0.3) == static_cast<std::ptrdiff_t>(timing->graph.links()));
  CHECK(contains(refusal({"protocol.least_chance=0.3"}), "needs protocol.compute_chance or protocol.link_chance"));
}

TEST_CASE("links that the graph does not have, and tables that do not name every link, are refused") {
  CHECK(contains(refusal({"channel.links=[{source=0,target=4,loss=0.5}]"}), "the graph has no link from 0 to 4"));
  CHECK(contains(refusal({"channel.kind=table", "channel.links=[{source=0,target=1,delay=0.5}]"}), "names 1 of the 16 links"));
}

TEST_CASE("rounds refuse periods that are no whole number of rounds, and links that always lose when they wait") {
  CHECK(contains(refusal({"protocol.kind=rounds", "unification.period=2.5"}), "must be whole"));
  CHECK(contains(refusal({"protocol.kind=rounds", "channel.links=[{source=0,target=1,loss=1.0}]"}), "for ever"));
}

namespace {

// Faults of keys and of all that is built from them.
const std::string full_of_faults = R"(until = 20.0
[clients]
count = 6
[clients.compute]
law = "table"
ticks = [[1.0], [1.0], [1.0], [1.0], [1.0], [1.0]]
[topology]
kind = "edges"
edges = [[0, 1], [1, 2], [3, 4]]
[channel]
kind = "random"
links = [{ source = 0, target = 5, loss = 0.5 }]
[mailbox]
cap = 3
cap_period = 1.5
[churn]
events = [{ at = 1.0, what = "leave", clients = [0] }, { at = 2.0, what = "leave", clients = [0] }]
[unification]
period = 7.25
hub = "best_channel"
[protocol]
kind = "rounds"
[algorithm]
name = "nids"
[data]
name = "digits"
[model]
name = "softmax"
batch = -3
)";

// Of the text as a file, without its folder.
std::string faults_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  const Folder folder;
  const std::string file = (folder.path() / "all.toml").string();
  std::ofstream(file) << text;
  std::ostringstream notes;
  std::string faults = complaint<BadExperiment>([&] { static_cast<void>(resolve(file, overrides, notes)); });
  for (std::size_t at = faults.find(file); at != faults.npos; at = faults.find(file)) faults.replace(at, file.size(), "all.toml");
  return faults;
}

}  // namespace

TEST_CASE("what is wrong with keys, graph, links, timers and churn is told at once, with its lines") {
  CHECK(
      faults_of(full_of_faults) ==
      "all.toml:4: clients.compute: protocol.kind = \"rounds\" needs a law of intervals: poisson, fixed, shifted_exp, gamma or "
      "lognormal\n"
      "all.toml:7: topology: the graph falls into 3 parts; no path leads from client 0 to clients 3, 4, 5; every client must have "
      "a path to every other\n"
      "all.toml:12: channel.links: the graph has no link from 0 to 5\n"
      "all.toml:15: mailbox.cap_period = 1.500000: in rounds it counts rounds and must be whole\n"
      "all.toml:16: churn: protocol.kind = \"rounds\" holds all clients together; use \"push\", \"pull\" or \"pair\"\n"
      "all.toml:17: churn.events[1] (leave at 2 s): client 0 is not there\n"
      "all.toml:19: unification.period = 7.250000: in rounds it counts rounds and must be whole\n"
      "all.toml:20: unification.hub = \"best_channel\": channel.kind = \"random\" knows no SINR; it needs \"wireless\"\n"
      "all.toml:29: model.batch = -3: must be at least 0 and at most 1000000000000");
}

TEST_CASE("what follows from a faulty key is not told") {
  const std::string faults = faults_of(full_of_faults, {"topology.kind=rong", "protocol.kind=runds"});
  CHECK(contains(faults, "did you mean ring?"));
  CHECK(contains(faults, "did you mean rounds?"));
  CHECK(contains(faults, "churn.events[1]"));  // has nothing to do with either
  for (const char* consequence : {"falls into", "has no link", "needs a law of intervals", "counts rounds", "holds all clients"})
    CHECK_FALSE(contains(faults, consequence));
}

TEST_CASE("a program is told what its experiment cannot be built of with what is wrong with its values") {
  config::Experiment wrong = experiment({"protocol.kind=rounds", "unification.period=2.5"});
  wrong.channel.links = {{.source = 0, .target = 4, .delay = {}, .loss = 0.5}};
  wrong.mailbox.window = -1;
  CHECK(complaint<BadExperiment>([&] { run(wrong); }) ==
        "experiment: mailbox.window = -1.0: must be at least 0 and at most 9000000000\n"
        "experiment: channel.links: the graph has no link from 0 to 4\n"
        "experiment: unification.period = 2.500000: in rounds it counts rounds and must be whole");
}

TEST_CASE("what cannot be in real time is told before data are read") {
  CHECK(contains(refusal({"clock=wall", "protocol.kind=rounds", "unification.period=2.0", "protocol.missing=symmetric_drop",
                          "mailbox.deadline=none", "mailbox.cap=none", "data.name=mnist", "model.name=softmax"}),
                 "clock = \"wall\": in real time a client does not know what a link has lost the other way"));
}

TEST_CASE("what can be told of data without reading them is told with the rest, and not of a program's own") {
  config::Experiment wrong = experiment(
      digits_instead() + std::vector<std::string>{"model.name=cnn", "model.layers=[\"dense 3\"]", "model.init=zero",
                                                  "channel.kind=table", "channel.links=[{source=0,target=1,delay=0.5}]"});
  const std::string faults = complaint<BadExperiment>([&] { run(wrong); });
  CHECK(contains(faults, "experiment: model.init = \"zero\" is for linear models"));
  CHECK(
      contains(faults, "experiment: channel.kind = \"table\": channel.links names 1 of the 16 links of the graph, must name all"));
  wrong.channel = {};
  OwnParts<float> own;
  own.learner = [](ClientId) -> std::unique_ptr<Learner<float>> { return nullptr; };
  CHECK_NOTHROW(resolve(wrong, own));
}

TEST_CASE("first answers that all take equally long are noted") {
  const auto notes_with = [](std::vector<std::string> sets) {
    std::ostringstream notes;
    sets.insert(sets.end(), {"protocol.kind=pull", "topology={kind=\"random_regular\",degree=8}"});
    std::string said;
    for (const std::string& note : resolve(RUBATO_SOURCE_DIR "/examples/papers/pame/pame_ex1.toml", sets, notes).notes)
      said += note;
    return said;
  };
  const std::string sentence = "channel.delay is one number: the first to answer are the same neighbours in every exchange";
  CHECK(notes_with({}).find(sentence) != std::string::npos);
  CHECK(notes_with({"algorithm.nu=1.0"}).find(sentence) == std::string::npos);
  CHECK(notes_with({"channel={kind=\"random\",delay={law=\"exponential\",mean=0.2}}"}).find(sentence) == std::string::npos);
}
