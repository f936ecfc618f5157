// What the last merge of a run has waited for.
#include "web/critical_path.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <tuple>

#include "tests/web/support.hpp"
#include "web/score_collector.hpp"
#include "web/score_walk.hpp"

using namespace rubato;
using namespace rubato::web;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

using Kind = PathPiece::Kind;

constexpr ClientId a{0}, b{1}, c{2};
Time at(int milliseconds) { return Time{std::chrono::milliseconds(milliseconds)}; }

// a sends at 100 and waits; b hears it at 150, merges it at 200, computes and sends at 500; a hears that at 600 and merges at once.
CriticalPath there_and_back(bool asks) {
  CriticalPath path(3, asks);
  path.merged(b, at(200), 2);
  path.add(
      b,
      {.from = at(120), .sent = at(100), .arrived = at(150), .to = at(200), .last = a, .receiver = b, .order = 2, .sent_order = 1});
  path.merged(a, at(600), 4);
  path.add(
      a,
      {.from = at(100), .sent = at(500), .arrived = at(600), .to = at(600), .last = b, .receiver = a, .order = 4, .sent_order = 3});
  return path;
}

RunScore score_of(const TempFolder& temp, const config::Experiment& experiment) {
  const fs::path folder = run_folder(temp, experiment);
  const Json summary = json_in(folder / "summary.json");
  ScoredRun facts;
  facts.seconds = summary["virtual_seconds"];
  facts.dimension = summary["dimension"];
  facts.timeline_digest = summary["timeline_digest"];
  return read_score(folder, facts);
}

config::Experiment waiting(const char* algorithm) {
  config::Experiment experiment = small_experiment("seed = 5\n");
  experiment.algorithm = {.name = algorithm};
  experiment.topology.kind = config::TopologyKind::complete;
  experiment.unification = {};
  experiment.mailbox = {};
  experiment.until = 30;
  return experiment;
}

}  // namespace

TEST_CASE("a path goes from the last merge to the sender of what came last, and to what that had waited for") {
  CHECK(there_and_back(false).pieces() == std::vector<PathPiece>{{Kind::work, at(0), at(100), a},
                                                                 {Kind::way, at(100), at(150), b, a},
                                                                 {Kind::mailbox, at(150), at(200), b, a},
                                                                 {Kind::work, at(200), at(500), b},
                                                                 {Kind::way, at(500), at(600), a, b}});
}

TEST_CASE("a path of answers stays with the client that has asked") {
  CHECK(there_and_back(true).pieces() ==
        std::vector<PathPiece>{{Kind::work, at(0), at(100), a}, {Kind::way, at(100), at(600), a, b}});
}

TEST_CASE("a merge that came after the departure is not what the sender had waited for") {
  CriticalPath path = there_and_back(false);
  path.add(
      b,
      {.from = at(500), .sent = at(400), .arrived = at(560), .to = at(560), .last = c, .receiver = b, .order = 5, .sent_order = 0});
  path.merged(a, at(600), 6);
  CHECK(path.pieces() == there_and_back(false).pieces());
}

TEST_CASE("in rounds a path is the slowest computation, then the slowest link, and clients wait for these") {
  ScoreCollector collector(
      {.clients = 3, .end = at(1000), .has_arrivals = true, .waits = true, .in_step = true, .parts = {{at(0), at(1000)}}}, {});
  const auto compute = [&](ClientId client, int when) {
    collector.perform({.kind = StepKind::compute, .client = client, .at = at(when)});
  };
  compute(a, 100);
  compute(c, 200);
  compute(b, 300);
  const std::pair<ClientId, ClientId> links[] = {{a, b}, {b, c}, {c, a}};
  for (const auto& [from, to] : links) {
    const StepEntry receiver{.peer = to, .sequence = 1};
    collector.perform({.kind = StepKind::publish, .client = from, .at = at(300), .entries = {&receiver, 1}});
  }
  const int arrivals[] = {350, 400, 320};  // of the links
  for (const std::size_t link : {2, 0, 1}) {
    Arrival message;
    message.id = {.sender = links[link].first, .sequence = 1};
    message.arrived = at(arrivals[link]);
    collector.on_arrival(message, links[link].second, Offer::kept, 0);
  }
  for (const auto& [from, to] : links) {
    const StepEntry sent{.peer = from, .sequence = 1};
    collector.perform({.kind = StepKind::merge, .client = to, .at = at(400), .entries = {&sent, 1}});
  }
  const RunScore score = collector.take(at(1000), false);
  CHECK(score.path == std::vector<PathPiece>{{Kind::work, at(0), at(300), b}, {Kind::way, at(300), at(400), c, b}});
  const auto waited = [&](ClientId one, ClientId other) {
    const auto found = score.by_waiting.find({one.value, other.value});
    return found == score.by_waiting.end() ? 0.0 : found->second.seconds;
  };
  CHECK(waited(a, b) == doctest::Approx(0.3));  // for its computation, then for its message to c
  CHECK(waited(c, b) == doctest::Approx(0.2));
  CHECK(waited(b, c) == doctest::Approx(0.1));  // until its own message is there
  CHECK(score.by_waiting.size() == 3);
}

TEST_CASE("where a round is computations alone, all wait for the last of them") {
  ScoreCollector collector({.clients = 2, .end = at(1000), .waits = true, .in_step = true, .parts = {{at(0), at(1000)}}}, {});
  collector.perform({.kind = StepKind::compute, .client = a, .at = at(100)});
  collector.perform({.kind = StepKind::compute, .client = b, .at = at(300)});
  collector.on_round(at(300), 0);
  collector.perform({.kind = StepKind::compute, .client = b, .at = at(350)});
  collector.perform({.kind = StepKind::compute, .client = a, .at = at(600)});
  collector.on_round(at(600), 1);
  const RunScore score = collector.take(at(1000), false);
  REQUIRE(score.by_waiting.size() == 2);
  CHECK(score.by_waiting.at({0, 1}).seconds == doctest::Approx(0.2));
  CHECK(score.by_waiting.at({1, 0}).seconds == doctest::Approx(0.25));
}

TEST_CASE("without merges there is no path, and without waits a client works from the beginning") {
  CriticalPath path(2, false);
  CHECK(path.pieces().empty());
  path.merged(b, at(700), 1);
  CHECK(path.pieces() == std::vector<PathPiece>{{Kind::work, at(0), at(700), b}});
}

TEST_CASE("messages that take no time do not lead a path in circles") {
  CriticalPath path(2, false);
  for (std::uint64_t turn = 1; turn <= 100; ++turn) {
    const ClientId one = turn % 2 ? b : a, other = turn % 2 ? a : b;
    path.add(one, {at(10), at(20), at(20), at(20), other, one, 2 * turn, 2 * turn - 1});
  }
  path.merged(a, at(20), 200);
  CHECK(path.pieces() == std::vector<PathPiece>{{Kind::work, at(0), at(20), a}});
}

TEST_CASE("the path of a run has no gap, ends with its last merge, and its ways are ways of messages that were merged") {
  for (const char* algorithm : {"nids", "fedavg", "asgd", "decentralised_fedavg", "draco"}) {
    CAPTURE(algorithm);
    const TempFolder temp;
    const RunScore score = score_of(temp, waiting(algorithm));
    const bool is_in_step = algorithm == std::string("nids");
    const bool asks = algorithm == std::string("decentralised_fedavg");
    CHECK(score.path.empty() == (algorithm == std::string("draco")));
    if (score.path.empty()) continue;
    REQUIRE(score.path.size() > 5);
    REQUIRE(score.parts.size() == 1);
    const RunScore::Part& part = score.parts.front();
    std::set<std::tuple<std::uint32_t, std::uint32_t, Time, Time>> ways;  // of merged messages: from, to, sent, arrived
    Time last{};
    for (const RunScore::Message& message : part.messages) {
      if (message.fate != Ending::merged) continue;
      const RunScore::Computation& sent = part.publications[message.publication];
      ways.emplace(sent.client.value, message.receiver.value, sent.at, message.arrived);
      last = std::max(last, message.ended);
    }
    CHECK(score.path.front().from == Time{});
    CHECK(score.path.back().to == last);
    for (std::size_t i = 0; i < score.path.size(); ++i) {
      const PathPiece& piece = score.path[i];
      CAPTURE(i);
      CHECK(piece.from < piece.to);
      if (i > 0) CHECK(score.path[i - 1].to == piece.from);
      const auto is_it = [&](const auto& way) {
        const auto& [from, to, sent, arrived] = way;
        return from == piece.other.value && to == piece.client.value && arrived == piece.to &&
               (asks ? sent > piece.from : sent == piece.from);
      };
      if (piece.kind == Kind::way) CHECK(std::ranges::any_of(ways, is_it));
      if (piece.kind != Kind::work) continue;
      const auto ends_within = [&](const RunScore::Wait& wait) {
        const auto was_awaited = [&](const auto& way) {
          const auto& [from, to, sent, arrived] = way;
          return from == wait.last.value && to == piece.client.value && arrived > wait.from && arrived <= wait.to;
        };
        return wait.client == piece.client && wait.to > piece.from && wait.to < piece.to &&
               (is_in_step || std::ranges::any_of(ways, was_awaited));
      };
      CHECK_FALSE(std::ranges::any_of(part.waits, ends_within));
    }
  }
}
