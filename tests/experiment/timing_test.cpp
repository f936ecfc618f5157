// From the file to the timing: what does not fit the graph is refused, and what the timing throws ends a run.
#include "experiment/build/timing.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

#include "actors/virtual/virtual_run.hpp"
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

TEST_CASE("what the timing throws ends the run with the time and the reason") {
  const config::Experiment small = experiment();
  const auto task = make_task<float>(small, {}, {});
  RunOptions options;
  options.threads = 2;
  const ClientViews views{.graph = make_graph(small)};
  VirtualRun play(*task, options, views);
  StepDispatcher dispatcher(play.control(), nullptr);
  BreaksDown broken(dispatcher);
  play.perform(broken, dispatcher, Credit::automatic(8, 64, 0, 0));
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

TEST_CASE("links that the graph does not have, and tables that do not name every link, are refused") {
  CHECK(contains(refusal({"channel.links=[{source=0,target=4,loss=0.5}]"}), "the graph has no link from 0 to 4"));
  CHECK(contains(refusal({"channel.kind=table", "channel.links=[{source=0,target=1,delay=0.5}]"}), "names 1 of the 16 links"));
}

TEST_CASE("rounds refuse periods that are no whole number of rounds, and links that always lose when they wait") {
  CHECK(contains(refusal({"protocol.kind=rounds", "unification.period=2.5"}), "must be whole"));
  CHECK(contains(refusal({"protocol.kind=rounds", "channel.links=[{source=0,target=1,loss=1.0}]"}), "for ever"));
}
