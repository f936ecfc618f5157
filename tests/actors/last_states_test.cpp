// The end of a run in real time over several hosts: what is handed over is what the records say.
#include <doctest/doctest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <variant>
#include <vector>

#include "runtime/record.hpp"
#include "tests/actors/hosts.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

config::Experiment two_hosts(const std::vector<std::string>& more = {}) {
  return over_hosts(
      experiment(std::vector<std::string>{"clock=wall", "time_scale=30", "mailbox.deadline=30.0", "hosts.wait=0.5"} + more), 2);
}

HostStart start_of(const config::Experiment& wall, const Folder& folder, const std::string& name) {
  HostStart start{wall, on_threads(1)};
  start.options.record = folder / name;
  start.host.folder = folder / ("states of " + name);
  start.host.life = 1;
  return start;
}

// What a host is told.
class Told {
 public:
  void hear(const RunEvent& event) {
    const std::lock_guard lock(mutex_);
    events_.push_back(event);
  }
  std::vector<RunEvent> all(const std::string& word) const {
    const std::lock_guard lock(mutex_);
    std::vector<RunEvent> found;
    for (const RunEvent& event : events_)
      if (event.event == word) found.push_back(event);
    return found;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<RunEvent> events_;
};

}  // namespace

TEST_CASE("a host whose record the disk does not take hands no states over, and the others' records replay without it") {
  const Folder folder;
  const config::Experiment wall = two_hosts();
  std::vector<HostStart> starts{start_of(wall, folder, "a"), start_of(wall, folder, "b")};
  starts[1].options.record = "/dev/full";
  const auto outcomes = run_hosts(starts);
  CHECK(contains(outcomes[1].complaint, "cannot write /dev/full"));
  REQUIRE(outcomes[0].complaint == "");
  const RunResult& gathered = outcomes[0].result;
  CHECK(gathered.absent == std::vector<ClientId>{{4}, {5}, {6}, {7}});
  CHECK(digests(replay(wall, {folder / "a"}, gathered.absent, on_threads(2))) == digests(gathered));
}

TEST_CASE("a host that is started again after it has handed its last states over adds nothing to its record") {
  const Folder folder;
  const config::Experiment wall = two_hosts();
  const std::vector<HostStart> starts{start_of(wall, folder, "a"), start_of(wall, folder, "b")};
  const auto outcomes = run_hosts(starts);
  REQUIRE(outcomes[0].complaint == "");
  REQUIRE(outcomes[1].complaint == "");
  const std::string record = text_of(folder / "b");
  HostOptions killed = starts[1].host;  // right after the receipt, before its folder was complete
  killed.life = 2;
  killed.has_earlier_life = true;
  Hub hub(2);
  const auto wire = hub.end(HostId{1});
  const RunResult again = run_host(wall, starts[1].options, killed, *wire);
  CHECK(again.gathered_by == "a");
  CHECK(again.absent.size() == 8);
  std::uint64_t computations = 0;
  for (const std::size_t own : {4u, 5u, 6u, 7u}) computations += outcomes[1].result.by_client[own].computations;
  CHECK(again.messages.computations == computations);
  CHECK(again.messages.sent > 0);
  CHECK(text_of(folder / "b") == record);
  CHECK(digests(replay(wall, {folder / "a", folder / "b"}, {}, on_threads(2))) == digests(outcomes[0].result));
}

TEST_CASE(
    "a host that is stopped keeps a checkpoint of that moment, its results are of then, and its next life goes on from there") {
  const Folder folder;
  const config::Experiment wall = two_hosts({"until=100000.0", "checkpoint_every=50000.0"});
  std::vector<HostStart> starts{start_of(wall, folder, "a"), start_of(wall, folder, "b")};
  std::atomic<bool> stops_b{false}, stops_a{false};
  starts[0].options.stop = &stops_a;
  starts[1].options.stop = &stops_b;
  starts[1].options.on_progress = [&](const Progress& progress) { stops_b = stops_b || progress.events > 20; };
  Told told_by_a, told_by_b;
  starts[0].host.on_event = [&](const RunEvent& event) {
    told_by_a.hear(event);
    if (event.event == "left") stops_a = true;
  };
  starts[1].host.on_event = [&](const RunEvent& event) { told_by_b.hear(event); };
  const auto outcomes = run_hosts(starts);
  REQUIRE(outcomes[0].complaint == "");
  REQUIRE(outcomes[1].complaint == "");
  CHECK(told_by_a.all("left").size() == 1);
  CHECK(told_by_b.all("gathered").empty());
  CHECK(told_by_b.all("kept").size() + told_by_b.all("handed_over").size() == 1);  // a may have stopped as soon
  HostStart next = starts[1];
  std::atomic<bool> stops_at_once{true};
  next.options.stop = &stops_at_once;
  next.host.life = 2;
  next.host.has_earlier_life = true;
  Hub hub(2);
  const auto wire = hub.end(HostId{1});
  run_host(wall, next.options, next.host, *wire);
  REQUIRE(told_by_b.all("going_on").size() == 1);
  const RunEvent going_on = told_by_b.all("going_on")[0];
  CHECK(std::get<std::uint64_t>(going_on.fields[0].second) == 1);
  CHECK(outcomes[1].result.virtual_seconds <= std::get<double>(going_on.fields[1].second));  // not of the end of what was under way
}

TEST_CASE("a run that all hosts have left goes on at the instant at which it goes on, and not before: no age is below zero") {
  const Folder folder;
  // The centre is on the host that begins second: the first one hears what it sends.
  const config::Experiment wall = two_hosts({"until=100000.0", "checkpoint_every=50000.0", "algorithm.name=fedavg",
                                             "topology.kind=complete", "protocol.center=7", "mailbox.cap=none",
                                             "mailbox.cap_period=none", "unification.period=none", "mailbox.deadline=10.0"});
  std::vector<HostStart> starts{start_of(wall, folder, "a"), start_of(wall, folder, "b")};
  std::atomic<bool> stops{false};
  for (int life = 1; life <= 2; ++life) {
    stops = false;
    for (HostStart& start : starts) {
      start.options.stop = &stops;
      start.options.on_progress = [&](const Progress& progress) { stops = stops || progress.events > 60; };
      start.host.life = static_cast<std::uint64_t>(life);
      start.host.has_earlier_life = life == 2;
    }
    for (const HostOutcome& outcome : run_hosts(starts)) REQUIRE(outcome.complaint == "");
  }
  for (const char* host : {"a", "b"}) {
    std::map<std::uint32_t, Time> begun;
    std::uint64_t merged = 0;
    RecordReader reader(folder / host);
    while (const Step* step = reader.next()) {
      if (step->kind == StepKind::load) begun[step->client.value] = step->at;
      const auto at = begun.find(step->client.value);
      if (at == begun.end()) continue;
      merged += step->kind == StepKind::merge && !step->entries.empty();
      CHECK_FALSE((step->kind == StepKind::compute && step->at <= at->second));
      for (const StepEntry& entry : step->entries) CHECK(entry.age >= Duration{});
    }
    CHECK(begun.size() == 4);
    CHECK(merged > 0);
  }
}

TEST_CASE("a host that keeps no checkpoints warns when it is stopped") {
  const Folder folder;
  HostStart start = start_of(two_hosts({"until=100000.0"}), folder, "a");
  std::atomic<bool> stops{false};
  start.options.stop = &stops;
  Told told;
  start.host.on_event = [&](const RunEvent& event) {
    told.hear(event);
    if (event.event == "begun") stops = true;
  };
  Hub hub(2);
  const auto wire = hub.end(HostId{0});
  run_host(start.experiment, start.options, start.host, *wire);
  REQUIRE(told.all("stopping").size() == 1);
  CHECK(told.all("stopping")[0].level == EventLevel::warn);
}

TEST_CASE("without the record of a host replay says what is lacking, and without the host it leads to the models that are whole") {
  const Folder folder;
  // Links lead one way, and those of b's clients 4 to 7 to client 3 alone, which sends nothing: 0, 1 and 2 do not hear of b.
  const config::Experiment wall = two_hosts({"topology.kind=edges", "topology.directed=true", "unification.period=1000",
                                             "topology.edges=[[0,1],[1,2],[2,3],[3,0],[3,4],[4,5],[5,6],[6,7],[7,3]]",
                                             "clients.transmit.rate=[1.5,1.5,1.5,1e-9,1.5,1.5,1.5,1.5]"});
  std::vector<HostStart> starts{start_of(wall, folder, "a"), start_of(wall, folder, "b")};
  starts[0].options.keeps_models = true;
  const auto outcomes = run_hosts(starts);
  REQUIRE(outcomes[0].complaint == "");
  const std::string complaint_alone = complaint<RunFailed>([&] { replay(wall, std::vector{folder / "a"}, {}, on_threads(2)); });
  CHECK(contains(complaint_alone, "the records lack"));
  CHECK(contains(complaint_alone, "messages of client 7 of host b (the first named at"));
  RunOptions options = on_threads(2);
  options.keeps_models = true;
  const RunResult again = replay(wall, {folder / "a"}, {}, options, {{4}, {5}, {6}, {7}});
  REQUIRE(again.notes.size() == 1);
  CHECK(contains(again.notes[0], "those of 3 of 8 clients to their end"));
  CHECK(again.absent == std::vector<ClientId>{{3}, {4}, {5}, {6}, {7}});
  for (const std::size_t whole : {0u, 1u, 2u}) CHECK(again.models[whole] == outcomes[0].result.models[whole]);
}
