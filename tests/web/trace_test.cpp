#include "web/trace.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <map>
#include <set>
#include <stdexcept>

#include "actors/run.hpp"
#include "runtime/record.hpp"
#include "runtime/world/churn.hpp"
#include "tests/web/support.hpp"
#include "web/record_file.hpp"
#include "web/report.hpp"
#include "web/score_collector.hpp"

using namespace rubato;
using namespace rubato::web;
using namespace std::chrono_literals;

namespace {

using Counts = std::map<std::string, std::size_t>;

// By phase and name, as "X compute".
Counts events_in(const Json& trace) {
  Counts counts;
  for (const Json& event : trace["traceEvents"]) ++counts[event["ph"].get<std::string>() + " " + event["name"].get<std::string>()];
  return counts;
}

// The same counts, from the record itself.
Counts steps_in(const std::filesystem::path& record) {
  Counts counts;
  RecordReader reader(record);
  while (const Step* step = reader.next()) {
    const bool is_model = step->message == MessageKind::model;
    ++counts[step->kind == StepKind::publish && is_model ? "unification" : std::string(name_of(step->kind))];
    for (const StepEntry& entry : step->entries) {
      counts["lost"] += entry.lost;
      if (step->kind == StepKind::merge || step->kind == StepKind::adopt) ++counts["arrow"];
    }
  }
  return counts;
}

Json trace_of(const TempFolder& temp, const TraceSettings& settings) {
  write_trace(temp.file("r"), temp.file("trace.json"), settings);
  return json_in(temp.file("trace.json"));
}

const Json& only(const Json& trace, const std::string& phase, const std::string& name) {
  const Json* found = nullptr;
  for (const Json& event : trace["traceEvents"])
    if (event["ph"] == phase && event["name"] == name) {
      REQUIRE(found == nullptr);
      found = &event;
    }
  REQUIRE(found != nullptr);
  return *found;
}

}  // namespace

TEST_CASE("a trace has every step of a small run") {
  const TempFolder temp;
  RunOptions options;
  options.record = temp.file("r");
  const RunResult result = run(small_experiment(), options);
  const Json trace = trace_of(temp, {.experiment = "small", .window = 50ms, .deadline = 300ms});
  Counts events = events_in(trace), steps = steps_in(temp.file("r"));

  CHECK(events["X compute"] == result.messages.computations);
  CHECK(events["X compute"] == steps["compute"]);
  CHECK(events["X publish"] == result.messages.publications);
  CHECK(events["X merge"] == steps["merge"]);
  CHECK(events["X window"] == steps["merge"]);
  CHECK(events["X adopt"] == steps["adopt"]);
  CHECK(events["i lost"] == result.messages.lost);
  CHECK(events["X unification"] == result.unifications);
  CHECK(events["i unification"] == 3);
  CHECK(events["i drop: late"] == result.messages.late);
  CHECK(result.messages.late > 0);
  CHECK(events["s message"] == steps["arrow"]);
  CHECK(events["f message"] == steps["arrow"]);
  CHECK(trace["otherData"]["is_whole"] == true);
  CHECK(trace["otherData"]["steps"] == result.steps);
}

TEST_CASE("every client has one named track, and every event lies on one of them") {
  const TempFolder temp;
  RunOptions options;
  options.record = temp.file("r");
  run(small_experiment(), options);
  const Json trace = trace_of(temp, {.experiment = "small"});
  std::map<std::uint64_t, std::string> tracks;
  std::set<std::uint64_t> used;
  for (const Json& event : trace["traceEvents"]) {
    if (event["name"] == "thread_name") tracks[event["tid"]] = event["args"]["name"];
    if (event["ph"] != "M" && event["ph"] != "C") used.insert(event["tid"].get<std::uint64_t>());
  }
  REQUIRE(tracks.size() == 10);
  CHECK(tracks[1] == "client 0");
  CHECK(tracks[5] == "client 4");
  CHECK(tracks[6] == "mailbox 0");
  CHECK(tracks[10] == "mailbox 4");
  for (const std::uint64_t track : used) CHECK(tracks.contains(track));
}

TEST_CASE("an arrow goes from the publication to the merge, and a window opens with its first arrival") {
  const TempFolder temp;
  {
    Recorder recorder(temp.file("r"), 2);
    const StepEntry receiver{.peer = ClientId{1}}, message{.peer = ClientId{0}, .age = 400ms};
    recorder.add({.kind = StepKind::publish, .client = ClientId{0}, .at = Time{1s}, .entries = {&receiver, 1}});
    recorder.add({.kind = StepKind::merge, .client = ClientId{1}, .at = Time{1400ms}, .entries = {&message, 1}});
  }
  const Json trace = trace_of(temp, {.experiment = "small", .window = 50ms});
  const Json& start = only(trace, "s", "message");
  const Json& end = only(trace, "f", "message");
  CHECK(start["tid"] == 1);
  CHECK(start["ts"] == only(trace, "X", "publish")["ts"]);
  CHECK(end["tid"] == 2);
  CHECK(end["ts"] == only(trace, "X", "merge")["ts"]);
  CHECK(start["id"] == end["id"]);
  const Json& window = only(trace, "X", "window");
  CHECK(window["ts"] == 1'350'000.0);
  CHECK(window["dur"] == 50'000.0);
}

TEST_CASE("an arrow begins inside the publication, also where the message left a little after it, as in real time") {
  const TempFolder temp;
  {
    Recorder recorder(temp.file("r"), 2);
    const StepEntry receiver{.peer = ClientId{1}, .sequence = 7};
    const StepEntry messages[] = {{.peer = ClientId{0}, .sequence = 7, .age = 399ms},
                                  {.peer = ClientId{0}, .sequence = 6, .age = 800ms}};
    recorder.add({.kind = StepKind::publish, .client = ClientId{0}, .at = Time{1s}, .entries = {&receiver, 1}});
    recorder.add({.kind = StepKind::merge, .client = ClientId{1}, .at = Time{1400ms}, .entries = messages});
  }
  const Json trace = trace_of(temp, {.experiment = "small"});
  CHECK(only(trace, "s", "message")["ts"] == only(trace, "X", "publish")["ts"]);  // message 6 is in another record: no arrow
  CHECK(only(trace, "f", "message")["ts"] == only(trace, "X", "merge")["ts"]);
}

TEST_CASE("every end of an arrow lies inside a slice of its track, in both clocks") {
  for (const char* clock : {"", "clock = \"wall\"\ntime_scale = 20\n"}) {
    const TempFolder temp;
    const std::filesystem::path folder = run_folder(temp, small_experiment(clock));
    write_trace(folder / "timeline.rbt", temp.file("trace.json"), {.experiment = "small"});
    std::set<std::pair<int, double>> slices;
    const Json trace = json_in(temp.file("trace.json"));
    for (const Json& event : trace["traceEvents"])
      if (event["ph"] == "X") slices.emplace(event["tid"].get<int>(), event["ts"].get<double>());
    std::size_t ends = 0;
    for (const Json& event : trace["traceEvents"]) {
      if (event["ph"] != "s" && event["ph"] != "f") continue;
      ++ends;
      REQUIRE(slices.contains({event["tid"].get<int>(), event["ts"].get<double>()}));
    }
    CHECK(ends > 20);
  }
}

TEST_CASE("a model that is handed to a client that begins is no unification") {
  const TempFolder temp;
  {
    Recorder recorder(temp.file("r"), 2);
    const StepEntry receiver{.peer = ClientId{1}, .sequence = first_fetched_model + 1};
    recorder.add({.kind = StepKind::publish,
                  .message = MessageKind::model,
                  .client = ClientId{0},
                  .index = first_fetched_model + 1,
                  .at = Time{1s},
                  .entries = {&receiver, 1}});
  }
  const Counts counts = events_in(trace_of(temp, {.experiment = "small"}));
  CHECK(counts.contains("X hand-over"));
  CHECK_FALSE(counts.contains("X unification"));
  CHECK_FALSE(counts.contains("i unification"));
  ScoreCollector collector({.clients = 2, .end = Time{2s}, .parts = {{Time{}, Time{2s}}}}, {});
  RecordReader reader = open_record(temp.file("r"));
  while (const Step* step = reader.next()) collector.perform(*step);
  const RunScore score = collector.take(Time{2s}, false);
  REQUIRE(score.events.size() == 1);
  CHECK(std::string(score.events[0].what) == "hand-over");
  CHECK(score.events[0].other == ClientId{1});
}

TEST_CASE("a trace keeps every nanosecond") {
  const TempFolder temp;
  Recorder(temp.file("r"), 1).add({.kind = StepKind::compute, .at = Time{7'000'000'042ns}});
  CHECK(only(trace_of(temp, {.experiment = "small"}), "X", "compute")["ts"] == 7'000'000.042);
}

TEST_CASE("a trace ends at its limit and says so") {
  const TempFolder temp;
  RunOptions options;
  options.record = temp.file("r");
  run(small_experiment(), options);
  const Json trace = trace_of(temp, {.experiment = "small", .most_steps = 10});
  CHECK(trace["otherData"]["steps"] == 10);
  CHECK(trace["otherData"]["is_whole"] == false);
  CHECK(trace["otherData"]["note"].get<std::string>().starts_with("the first 10 steps"));
}

TEST_CASE("a torn record gives the trace of what is whole") {
  const TempFolder temp;
  RunOptions options;
  options.record = temp.file("r");
  run(small_experiment(), options);
  std::filesystem::resize_file(temp.file("r"), std::filesystem::file_size(temp.file("r")) - 1);
  const Json trace = trace_of(temp, {.experiment = "small"});
  CHECK(trace["otherData"]["is_whole"] == false);
  CHECK(trace["otherData"]["note"].get<std::string>().starts_with("the record ends early"));
}

TEST_CASE("names are escaped in a trace") {
  const TempFolder temp;
  Recorder(temp.file("r"), 1).flush();
  const std::string name = "a \"b\" \\ </script> \xff";
  const Json trace = trace_of(temp, {.experiment = name});
  CHECK(only(trace, "M", "process_name")["args"]["name"].get<std::string>().starts_with("a \"b\" \\ </script> "));
}

TEST_CASE("a trace that cannot be written or read is refused") {
  const TempFolder temp;
  temp.write("r", "");
  CHECK_THROWS_AS(trace_of(temp, {}), std::invalid_argument);
  Recorder(temp.file("r"), 1).flush();
  CHECK_THROWS_AS(write_trace(temp.file("r"), temp.file("none/trace.json"), {}), RunFailed);
}

TEST_CASE("a trace keeps the rules of its format: in order, no slices that overlap in part, messages begin and end once") {
  for (const char* kind : {"", "clock = \"wall\"\ntime_scale = 20\n",
                           "churn = { events = [{ at = 2.0, what = \"crash\", clients = [1] }, { at = 4.0, what = \"restart\", "
                           "clients = [1] }] }\n"}) {
    const TempFolder temp;
    const std::filesystem::path folder = run_folder(temp, small_experiment(kind));
    write_report(folder);
    const Json trace = json_in(folder / "trace.json");
    double last = 0, under_way = 0;
    std::map<int, std::vector<std::pair<double, double>>> slices;  // by track: begins, ends
    std::map<std::string, double> begun;
    std::set<std::string> counters, ended;
    std::size_t instants = 0;
    for (const Json& event : trace["traceEvents"]) {
      const std::string phase = event["ph"];
      if (phase == "M") continue;
      const double at = event["ts"];
      REQUIRE(at >= last);
      last = at;
      if (phase == "X") {
        auto& open = slices[event["tid"].get<int>()];
        const double end = at + event["dur"].get<double>();
        while (!open.empty() && open.back().second <= at) open.pop_back();
        if (!open.empty()) CHECK(end <= open.back().second + 1e-3);
        open.emplace_back(at, end);
      }
      if (phase == "b") CHECK(begun.emplace(event["id"], at).second);
      if (phase == "e") {
        REQUIRE(begun.contains(event["id"]));
        CHECK(begun[event["id"]] <= at);
        CHECK(ended.insert(event["id"]).second);
      }
      if (phase == "C") {
        counters.insert(event["name"]);
        CHECK(event["args"]["value"].is_number());
        if (event["name"] == "under way") under_way = event["args"]["value"];
        CHECK(under_way >= 0);
      }
      instants += phase == "i" && event["s"] == "g";
    }
    CHECK(begun.size() == ended.size());
    CHECK(begun.size() > 20);
    CHECK(under_way == 0);
    CHECK(counters.contains("consensus"));
    CHECK(counters.contains("bytes"));
    CHECK(instants >= 3);
    if (std::string(kind).starts_with("churn")) CHECK(instants >= 5);
  }
}
