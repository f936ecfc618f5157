// Rounds over a radio that all share, and what is sent again there: DRACO's world with synchronous methods.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "results/summary.hpp"
#include "runtime/record.hpp"
#include "tests/actors/support.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

// The radio of section 3.5 of the thesis: 25 clients, W / N each, messages of its EMNIST network; what is learnt is small.
const std::string ring_text = R"(
name = "ring"
seed = 1
until = 6000.0
[clients]
count = 25
[clients.compute]
law = "poisson"
rate = 0.1
[topology]
kind = "ring"
[channel]
kind = "wireless"
message_bytes = 596776
[protocol]
kind = "rounds"
[algorithm]
name = "dpsgd"
[data]
name = "quadratic"
dimension = 4
[model]
name = "quadratic"
[metrics]
every_events = 0
)";

config::Experiment ring(const std::vector<std::string>& overrides) { return experiment(overrides, ring_text); }

// What only a radio knows is left out.
config::Experiment without_radio(const std::vector<std::string>& overrides) {
  const std::string of_radio = "message_bytes = 596776\n";
  std::string text = ring_text;
  text.erase(text.find(of_radio), of_radio.size());
  return experiment(overrides, text);
}

// Of the messages that are merged at one instant, which is when the last of them comes, the least age; the greatest of those.
Duration longest_last_attempt(const std::filesystem::path& file) {
  RecordReader record(file);
  std::map<Time, Duration> least;
  while (const Step* step = record.next()) {
    if (step->kind != StepKind::merge) continue;
    for (const StepEntry& entry : step->entries) {
      const auto [found, is_first] = least.emplace(step->at, entry.age);
      found->second = std::min(found->second, entry.age);
    }
  }
  REQUIRE(least.size() >= 60);
  Duration longest{};
  for (const auto& [at, age] : least) longest = std::max(longest, age);
  return longest;
}

}  // namespace

TEST_CASE("over a radio that 25 clients share D-PSGD, CHOCO and SGP finish 60 rounds in 6,000 s, whatever collides") {
  for (const std::string algorithm : {"dpsgd", "choco", "sgp"})
    for (const std::string deadline : {"10.0", "none"})
      for (const std::string seed : {"1", "2", "3"}) {
        CAPTURE(algorithm);
        CAPTURE(deadline);
        CAPTURE(seed);
        const Folder folder;
        RunOptions options = on_threads(1);
        options.record = folder / "timeline.rbt";
        const RunResult result =
            run(ring({"algorithm.name=" + algorithm, "mailbox.deadline=" + deadline, "seed=" + seed}), options);
        REQUIRE(result.rounds);
        CHECK(result.rounds->done >= 60);
        CHECK(result.messages.lost == 0);
        CHECK(result.messages.late == 0);
        CHECK(result.messages.kept >= 50 * result.rounds->done);
        CHECK(result.messages.sent - result.messages.kept == result.under_way);
        // Ages count from the attempt that got through, which took no longer than its time-out: that of the last one to come.
        CHECK(to_seconds(longest_last_attempt(options.record)) <= 10.0 + 1e-9);
        CHECK(has_note(result, "neither protocol.attempt_timeout nor mailbox.deadline says when") == (deadline == "none"));
      }
}

TEST_CASE("a run in rounds says how many attempts its messages took, to its clients' last") {
  const RunResult result = run(ring({"until=1000.0", "mailbox.deadline=5.0"}), on_threads(1));
  REQUIRE(result.messages.repeated > 0);
  std::uint64_t repeated = 0;
  for (const MessageCounts& client : result.by_client) repeated += client.repeated;
  CHECK(repeated == result.messages.repeated);
  const std::string summary = summary_json(ring({}), result);
  CHECK(contains(summary, "\"attempts\": " + std::to_string(result.messages.sent + result.messages.repeated)));
  // On the air for each attempt, and no longer than its time-out.
  CHECK(to_seconds(result.messages.airtime) < 5.0 * static_cast<double>(result.messages.sent + result.messages.repeated));
}

TEST_CASE("attempts, pauses and what collides are the same on any number of threads, and when they are replayed") {
  const Folder folder;
  const config::Experiment small = ring({"until=400.0", "mailbox.deadline=5.0", "algorithm.name=choco"});
  RunOptions options = on_threads(2);
  options.record = folder / "timeline.rbt";
  const RunResult two = run(small, options);
  CHECK(two.messages.repeated > 0);
  CHECK(digests(two) == digests(run(small, on_threads(1))));
  CHECK(digests(two) == digests(replay(small, folder / "timeline.rbt", on_threads(1))));
}

TEST_CASE("an exact method bears lossy links by repeating, a deadline being the time-out of an attempt") {
  const std::vector<std::string> lossy{"channel.kind=random",  "channel.loss=0.3",
                                       "mailbox.deadline=0.4", "channel.delay={law=\"exponential\",mean=0.2}",
                                       "until=200.0",          "clients.compute.rate=1.0"};
  for (const std::string algorithm : {"choco", "beer", "nids"}) {
    CAPTURE(algorithm);
    RunOptions options = on_threads(1);
    options.checks = true;  // what must sum to zero after every round
    const RunResult result = run(without_radio(lossy + std::vector<std::string>{"algorithm.name=" + algorithm}), options);
    CHECK(result.rounds->done > 10);
    CHECK(result.messages.repeated > result.messages.sent / 5);
    CHECK(result.messages.lost + result.messages.late == 0);
  }
}

TEST_CASE("what sends nothing again refuses the keys of attempts, and an attempt that never ends is refused") {
  const auto refusal = [](const std::vector<std::string>& overrides) {
    return complaint<std::invalid_argument>([&] { run(ring(overrides), on_threads(1)); });
  };
  CHECK(contains(refusal({"protocol.missing=drop", "protocol.back_off=1.0"}),
                 "protocol.back_off = 1: no message is sent again; that needs protocol.missing = \"wait\""));
  CHECK(contains(refusal({"protocol.missing=drop", "protocol.attempt_timeout=1.0"}), "protocol.attempt_timeout = 1"));
  const std::vector<std::string> push{"protocol.kind=auto", "protocol.back_off=1.0"};
  CHECK(contains(refusal(push), "protocol.back_off = 1: no message is sent again; that needs protocol.kind = \"rounds\""));
  const auto slow = [&] { run(without_radio({"channel.kind=ideal", "channel.delay=2.0", "mailbox.deadline=1.0"}), on_threads(1)); };
  CHECK(contains(complaint<std::invalid_argument>(slow), "channel.delay = 2: every attempt takes longer than mailbox.deadline"));
}

TEST_CASE("where no round ends for a while, the run says what the next one waits for") {
  // Computations that take a thousand years; the run is stopped once it has said so.
  config::Experiment slow = experiment({"algorithm.name=dpsgd", "protocol.kind=rounds", "mailbox.deadline=none", "mailbox.cap=none",
                                        "unification.period=none", "clients.compute={law=\"fixed\",period=3e9}", "clock=wall",
                                        "until=1e9", "metrics.every_events=0"});
  std::atomic<bool> stop{false};
  std::string said;
  RunOptions options = on_threads(1);
  options.says_waiting_after = 0.3;
  options.stop = &stop;
  options.on_note = [&](const std::string& note) {
    if (!contains(note, "no round has ended for ")) return;
    said = note;
    stop = true;
  };
  run(slow, options);
  CHECK(contains(said, "0 are over, the next one waits for 8 computations and 0 messages"));
}
