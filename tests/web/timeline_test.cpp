#include "web/timeline.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <stdexcept>

#include "tests/web/support.hpp"
#include "web/report_data.hpp"

using namespace rubato;
using namespace rubato::web;
using namespace std::chrono_literals;

namespace {

// Client 0 computes and publishes to 1 and 2 at 1 s; the message to 2 is lost; 1 merges it at 1.5 s; at 2 s client 2
// drops a message of 1.
void write_record(const std::filesystem::path& file) {
  Recorder recorder(file, 3);
  const StepEntry receivers[] = {{.peer = ClientId{1}}, {.peer = ClientId{2}, .lost = 1}};
  const StepEntry message{.peer = ClientId{0}, .age = 500ms};
  const StepEntry refused{.peer = ClientId{1}, .age = 1s};
  recorder.add({.kind = StepKind::compute, .client = ClientId{0}, .at = Time{1s}});
  recorder.add({.kind = StepKind::publish, .client = ClientId{0}, .at = Time{1s}, .entries = receivers});
  recorder.add({.kind = StepKind::merge, .client = ClientId{1}, .at = Time{1500ms}, .entries = {&message, 1}});
  recorder.add({.kind = StepKind::discard, .client = ClientId{2}, .at = Time{2s}, .entries = {&refused, 1}});
}

}  // namespace

TEST_CASE("the timeline shows every step where it happened") {
  const TempFolder temp;
  write_record(temp.file("r"));
  const Timeline timeline = read_timeline(temp.file("r"), {.window = 200ms});
  CHECK(timeline.clients == 3);
  CHECK(timeline.steps == 4);
  CHECK(timeline.end == 2);
  REQUIRE(timeline.computations.size() == 1);
  REQUIRE(timeline.losses.size() == 1);
  CHECK(timeline.losses[0].other == 2);
  REQUIRE(timeline.messages.size() == 1);
  CHECK(timeline.messages[0].from == 1);
  CHECK(timeline.messages[0].to == 1.5);
  REQUIRE(timeline.windows.size() == 1);
  CHECK(timeline.windows[0].from == doctest::Approx(1.3));
  REQUIRE(timeline.drops.size() == 1);
  CHECK(timeline.drops[0].client == 2);
}

TEST_CASE("a window opens no earlier than its oldest message departed") {
  const StepEntry message{.peer = ClientId{0}, .age = 500ms};
  const Step merge{.kind = StepKind::merge, .at = Time{2s}, .entries = {&message, 1}};
  CHECK(opening_of(merge, 200ms) == Time{1800ms});
  CHECK(opening_of(merge, 800ms) == Time{1500ms});
}

TEST_CASE("windows are known where the file leaves the protocol to its algorithm") {
  Experiment experiment;
  experiment.until = 1, experiment.clients.count = 4;
  experiment.data = {.name = "quadratic", .dimension = 2}, experiment.model.name = "quadratic";
  experiment.topology.kind = config::TopologyKind::complete;
  experiment.mailbox.window = 0.5;
  const auto window_under = [&](const char* algorithm) {
    experiment.algorithm.name = algorithm;
    return resolve(experiment, OwnParts<float>{}).window();
  };
  CHECK(window_under("draco") == Duration{500'000'000});
  CHECK_FALSE(window_under("nids"));  // rounds
  CHECK_FALSE(window_under("fedavg"));
}

TEST_CASE("without a known window none is shown") {
  const TempFolder temp;
  write_record(temp.file("r"));
  CHECK(read_timeline(temp.file("r"), {}).windows.empty());
}

TEST_CASE("the picture ends at its limit of marks, the staleness goes on") {
  const TempFolder temp;
  write_record(temp.file("r"));
  const Timeline timeline = read_timeline(temp.file("r"), {.marks = 1, .seconds = 2, .slices = 2});
  CHECK(timeline.end == 1);
  CHECK(timeline.drops.empty());
  CHECK(timeline.ages.size() == 1);
  REQUIRE(timeline.course.size() == 2);
  CHECK(timeline.course[1].messages == 1);
  CHECK(timeline.course[1].largest == 0.5);
}

TEST_CASE("only the first clients are shown") {
  const TempFolder temp;
  write_record(temp.file("r"));
  const Timeline timeline = read_timeline(temp.file("r"), {.clients = 1});
  CHECK(timeline.computations.size() == 1);
  CHECK(timeline.messages.empty());
  CHECK(timeline.drops.empty());
}

TEST_CASE("a limit of steps is told") {
  const TempFolder temp;
  write_record(temp.file("r"));
  CHECK(read_timeline(temp.file("r"), {.steps = 4}).was_read_whole);
  CHECK_FALSE(read_timeline(temp.file("r"), {.steps = 3}).was_read_whole);
}

TEST_CASE("what is no record is refused") {
  const TempFolder temp;
  temp.write("r", "not a record of anything");
  CHECK_THROWS_AS(read_timeline(temp.file("r"), {}), std::invalid_argument);
  CHECK_THROWS_AS(read_timeline(temp.file("none"), {}), std::invalid_argument);
}
