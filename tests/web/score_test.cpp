#include "web/score_json.hpp"

#include <doctest/doctest.h>
#include <zlib.h>

#include <chrono>
#include <stdexcept>

#include "runtime/record.hpp"
#include "tests/web/support.hpp"
#include "web/packing.hpp"
#include "web/record_file.hpp"
#include "web/report.hpp"
#include "web/score_collector.hpp"
#include "web/score_walk.hpp"

using namespace rubato;
using namespace rubato::web;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

ScoredRun facts_in(const fs::path& folder) {
  const Json summary = json_in(folder / "summary.json");
  ScoredRun facts;
  facts.is_virtual = summary["clock"] == "virtual";
  facts.seconds = summary["virtual_seconds"];
  facts.dimension = summary["dimension"];
  facts.marks = summary["computations"].get<std::uint64_t>() + summary["publications"].get<std::uint64_t>() +
                summary["messages"]["sent"].get<std::uint64_t>();
  facts.stopped_early = summary["stopped_early"];
  facts.timeline_digest = summary["timeline_digest"];
  return facts;
}

std::uint64_t count_of(const RunScore& score, Ending fate) {
  std::uint64_t count = 0;
  for (const auto& slice : score.course) count += slice[static_cast<std::size_t>(fate)];
  return count;
}

std::uint64_t number(const Json& messages, const char* key) { return messages[key].get<std::uint64_t>(); }

// Every fate against the counters of the run itself.
void check_fates(const RunScore& score, const Json& messages) {
  const std::uint64_t replaced = number(messages, "superseded") - number(messages, "surplus");
  CHECK(count_of(score, Ending::late) == number(messages, "late"));
  CHECK(count_of(score, Ending::capped) == number(messages, "capped"));
  CHECK(count_of(score, Ending::lost) == number(messages, "lost"));
  CHECK(count_of(score, Ending::absent) == number(messages, "lost_to_absence"));
  CHECK(count_of(score, Ending::partition) == number(messages, "lost_to_partition"));
  CHECK(count_of(score, Ending::superseded) == number(messages, "superseded"));
  CHECK(count_of(score, Ending::under_way) == number(messages, "under_way"));
  CHECK(count_of(score, Ending::merged) + count_of(score, Ending::waiting) + replaced == number(messages, "delivered"));
  std::uint64_t all = 0;
  for (const auto& slice : score.course)
    for (const std::uint64_t count : slice) all += count;
  CHECK(all == number(messages, "sent"));
}

// The columns as the page reads them.
class Unpacked {
 public:
  explicit Unpacked(const std::string& text) {
    const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::vector<unsigned char> packed;
    unsigned bits = 0, held = 0;
    for (const char letter : text) {
      if (letter == '=') break;
      held = held << 6 | static_cast<unsigned>(letters.find(letter));
      bits += 6;
      if (bits >= 8) packed.push_back(static_cast<unsigned char>(held >> (bits -= 8) & 255));
    }
    bytes_.resize(1 << 20);
    uLongf size = bytes_.size();
    REQUIRE(uncompress(bytes_.data(), &size, packed.data(), packed.size()) == Z_OK);
    bytes_.resize(size);
  }
  std::uint64_t next() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const unsigned char byte = bytes_.at(at_++);
      value |= static_cast<std::uint64_t>(byte & 127) << shift;
      if (byte < 128) return value;
    }
  }
  std::vector<std::uint64_t> column(std::uint64_t size) {
    std::vector<std::uint64_t> values;
    for (std::uint64_t i = 0; i < size; ++i) values.push_back(next());
    return values;
  }
  bool is_at_end() const { return at_ == bytes_.size(); }

 private:
  std::vector<unsigned char> bytes_;
  std::size_t at_ = 0;
};

// Client 0 computes and publishes to 1 and 2 at 1 s; the message to 2 is lost; 1 merges it at 1.5 s; what 1 sends to 2 at 1 s is
// dropped at 2 s.
void write_record(const fs::path& file) {
  Recorder recorder(file, 3);
  const StepEntry receivers[] = {{.peer = ClientId{1}}, {.peer = ClientId{2}, .lost = 1}};
  const StepEntry to_two{.peer = ClientId{2}};
  const StepEntry message{.peer = ClientId{0}, .age = 500ms};
  const StepEntry refused{.peer = ClientId{1}, .age = 1s};
  recorder.add({.kind = StepKind::compute, .client = ClientId{0}, .at = Time{1s}});
  recorder.add({.kind = StepKind::publish, .client = ClientId{0}, .at = Time{1s}, .entries = receivers});
  recorder.add({.kind = StepKind::publish, .client = ClientId{1}, .at = Time{1s}, .entries = {&to_two, 1}});
  recorder.add({.kind = StepKind::merge, .client = ClientId{1}, .at = Time{1500ms}, .entries = {&message, 1}});
  recorder.add({.kind = StepKind::discard, .client = ClientId{2}, .at = Time{2s}, .entries = {&refused, 1}});
}

config::Experiment flaky(std::int64_t clients = 6) {
  config::Experiment experiment = small_experiment(R"(
name = "flaky"
seed = 3
churn = { events = [
  { at = 1.0, what = "crash", clients = [1] },
  { at = 3.5, what = "restart", clients = [1] },
  { at = 2.0, what = "partition", groups = [[0, 1, 2], [3, 4]] },
  { at = 4.0, what = "heal" },
  { at = 5.0, what = "leave", clients = [4] } ] }
)");
  experiment.clients.count = clients;
  return experiment;
}

}  // namespace

TEST_CASE("the fates of messages are the counts of the run, reason by reason, and add up to what was sent") {
  config::Experiment capped = small_experiment("seed = 4\n");
  capped.mailbox.cap = 3;
  capped.mailbox.cap_period = 2.0;
  config::Experiment rounds = small_experiment();
  rounds.algorithm = {.name = "nids"};
  rounds.unification = {};
  rounds.mailbox = {};
  for (const config::Experiment& experiment : {small_experiment(), capped, rounds, flaky()}) {
    CAPTURE(experiment.name);
    CAPTURE(experiment.algorithm.name);
    const TempFolder temp;
    const fs::path folder = run_folder(temp, experiment);
    const RunScore score = read_score(folder, facts_in(folder));
    CHECK(score.has_arrivals);
    check_fates(score, json_in(folder / "summary.json")["messages"]);
  }
}

TEST_CASE("what a score says of merges the record says too") {
  const TempFolder temp;
  const fs::path folder = run_folder(temp, small_experiment());
  const RunScore score = read_score(folder, facts_in(folder));
  REQUIRE(score.parts.size() == 1);
  const RunScore::Part& part = score.parts.front();
  using Merge = std::tuple<Time, std::uint32_t, std::uint32_t, Time>;  // merged, receiver, sender, sent
  std::vector<Merge> shown, recorded;
  for (const RunScore::Message& message : part.messages)
    if (message.fate == Ending::merged)
      shown.emplace_back(message.ended, message.receiver.value, part.publications[message.publication].client.value,
                         part.publications[message.publication].at);
  RecordReader reader = open_record(folder / "timeline.rbt");
  while (const Step* step = reader.next())
    if (step->kind == StepKind::merge)
      for (const StepEntry& entry : step->entries)
        recorded.emplace_back(step->at, step->client.value, entry.peer.value, step->at - entry.age);
  std::ranges::sort(shown);
  std::ranges::sort(recorded);
  CHECK(shown == recorded);
  CHECK(shown.size() > 50);
}

TEST_CASE("the first arrival of a window is as long before the merge as the window is") {
  const TempFolder temp;
  const fs::path folder = run_folder(temp, small_experiment());
  const RunScore score = read_score(folder, facts_in(folder));
  std::map<std::pair<Time, std::uint32_t>, Time> opened;
  for (const RunScore::Message& message : score.parts.front().messages) {
    if (message.fate != Ending::merged) continue;
    const auto [place, is_new] = opened.try_emplace({message.ended, message.receiver.value}, message.arrived);
    if (!is_new) place->second = std::min(place->second, message.arrived);
  }
  REQUIRE(opened.size() > 20);
  for (const auto& [merge, first] : opened) CHECK(merge.first - first == 50ms);
}

TEST_CASE("a run in real time has a score from its record, without arrivals") {
  const TempFolder temp;
  write_record(temp.file("timeline.rbt"));
  ScoredRun facts;
  facts.is_virtual = false;
  facts.seconds = 4;
  const RunScore score = read_score(temp.path(), facts);
  CHECK_FALSE(score.has_arrivals);
  REQUIRE(score.parts.size() == 1);
  const auto& messages = score.parts.front().messages;
  REQUIRE(messages.size() == 3);
  CHECK(messages[0].fate == Ending::merged);
  CHECK(messages[0].arrived == never);
  CHECK(messages[0].ended == Time{1500ms});
  CHECK(messages[1].fate == Ending::lost);
  CHECK(messages[2].fate == Ending::superseded);
  CHECK(score.ages_course[37].merged == 1);
  CHECK(score.ages_course[37].age == 0.5);
}

TEST_CASE("what was discarded later than the deadline allows is late, where arrivals are not known") {
  const TempFolder temp;
  write_record(temp.file("timeline.rbt"));
  RecordReader reader = open_record(temp.file("timeline.rbt"));
  ScoreCollector collector({.clients = 3, .end = Time{4s}, .deadline = 900ms, .parts = {{Time{}, Time{4s}}}}, {});
  while (const Step* step = reader.next()) collector.perform(*step);
  CHECK(collector.take(Time{4s}, false).parts.front().messages[2].fate == Ending::late);
}

TEST_CASE(
    "a run with more marks than fit has its start, the surroundings of its largest jump and its end, and the rest as density") {
  const TempFolder temp;
  const fs::path folder = run_folder(temp, small_experiment());
  ScoredRun facts = facts_in(folder);
  facts.largest_jump = 6;
  ScoreLimits limits;
  limits.marks = facts.marks / 4;
  const RunScore score = read_score(folder, facts, limits), whole = read_score(folder, facts);
  REQUIRE(score.parts.size() == 3);
  CHECK(score.parts[0].from == Time{});
  CHECK(to_seconds(score.parts[1].from) < 6);
  CHECK(to_seconds(score.parts[1].to) > 6);
  CHECK(to_seconds(score.parts[2].to) == facts.seconds);
  std::size_t marks = 0;
  for (const RunScore::Part& part : score.parts)
    marks += part.computations.size() + part.publications.size() + part.messages.size();
  CHECK(marks > limits.marks / 2);
  CHECK(marks < limits.marks * 3 / 2);
  std::uint64_t computations = 0, merges = 0;
  for (const std::uint64_t count : score.density_computations) computations += count;
  for (const std::uint64_t count : score.density_merges) merges += count;
  CHECK(computations == whole.parts.front().computations.size());
  CHECK(merges == count_of(whole, Ending::merged));
  CHECK(whole.density_merges.empty());
  CHECK(score.course == whole.course);
}

TEST_CASE("only rounds, servers and pulls have clients wait, and no longer than the run lasts") {
  const TempFolder temp;
  const fs::path folder = run_folder(temp, small_experiment());
  CHECK(read_score(folder, facts_in(folder)).by_waiting.empty());
  config::Experiment rounds = small_experiment();
  rounds.algorithm = {.name = "nids"};
  rounds.unification = {};
  rounds.mailbox = {};
  const TempFolder other;
  const fs::path waits = run_folder(other, rounds);
  const RunScore score = read_score(waits, facts_in(waits));
  REQUIRE_FALSE(score.by_waiting.empty());
  std::map<std::uint32_t, double> waited;
  for (const auto& [pair, one] : score.by_waiting) {
    waited[pair.first] += one.seconds;
    CHECK(pair.first != pair.second);
  }
  for (const auto& [client, seconds] : waited) CHECK(seconds < 9.5);
}

TEST_CASE("marks are packed so that times are read back to the unit, and what is not known stays so") {
  const TempFolder temp;
  const fs::path folder = run_folder(temp, small_experiment());
  const ScoredRun facts = facts_in(folder);
  const RunScore score = read_score(folder, facts);
  const ResultJson made = score_json(score, 5, facts.marks);
  CHECK(made["unit"] == 1e-6);
  const RunScore::Part& part = score.parts.front();
  Unpacked columns(made["parts"][0]["packed"].get<std::string>());
  const auto ticks_of = [](Time at) { return static_cast<std::uint64_t>((at.time_since_epoch().count() + 500) / 1000); };
  for (const auto* marks : {&part.computations, &part.publications}) {
    REQUIRE(columns.next() == marks->size());
    std::uint64_t at = 0;
    const auto times = columns.column(marks->size()), clients = columns.column(marks->size());
    for (std::size_t i = 0; i < marks->size(); ++i) {
      at += times[i];
      CHECK(at == ticks_of((*marks)[i].at));
      CHECK(clients[i] == (*marks)[i].client.value);
    }
  }
  const std::uint64_t size = columns.next();
  REQUIRE(size == part.messages.size());
  const auto steps = columns.column(size), fate = columns.column(size), receivers = columns.column(size),
             transit = columns.column(size), hold = columns.column(size), lag = columns.column(size);
  std::uint64_t publication = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const RunScore::Message& message = part.messages[i];
    publication += steps[i];
    CHECK(publication == message.publication);
    CHECK(fate[i] == static_cast<std::uint64_t>(message.fate));
    const std::uint64_t sent = ticks_of(part.publications[publication].at);
    if (message.arrived == never) {
      CHECK(transit[i] == 0);
    } else {
      CHECK(sent + transit[i] - 1 == ticks_of(message.arrived));
      if (message.ended != never) CHECK(sent + transit[i] - 1 + hold[i] - 1 == ticks_of(message.ended));
    }
    CHECK(lag[i] == message.lag);
    const std::int64_t step =
        receivers[i] % 2 ? -static_cast<std::int64_t>(receivers[i] / 2) - 1 : static_cast<std::int64_t>(receivers[i] / 2);
    CHECK(part.publications[publication].client.value + step == message.receiver.value);
  }
  CHECK(columns.next() == 0);  // waits
  CHECK(columns.is_at_end());
}

TEST_CASE("base64 is that of RFC 4648") {
  const auto text = [](std::string_view bytes) {
    return base64({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
  };
  CHECK(text("") == "");
  CHECK(text("f") == "Zg==");
  CHECK(text("fo") == "Zm8=");
  CHECK(text("foo") == "Zm9v");
  CHECK(text("foobar") == "Zm9vYmFy");
}

TEST_CASE("the age of what is merged is the run's own, in the mean and link by link") {
  const TempFolder temp;
  const fs::path folder = run_folder(temp, small_experiment());
  const RunScore score = read_score(folder, facts_in(folder));
  RunScore::Ages all;
  for (const auto& [link, ages] : score.by_link) {
    all.merged += ages.merged;
    all.age += ages.age;
    all.transit += ages.transit;
  }
  const double mean = json_in(folder / "summary.json")["staleness_seconds"]["mean"];
  CHECK(all.age / static_cast<double>(all.merged) == doctest::Approx(mean).epsilon(1e-6));
  CHECK(all.transit < all.age);
  CHECK(score.by_link.size() == 10);
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
