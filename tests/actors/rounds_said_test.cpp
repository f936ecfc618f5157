// What a run in rounds says of how far it has come: over links that are too slow, and over good ones.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/actors/support.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

const std::vector<std::string> in_rounds{"algorithm.name=dpsgd", "protocol.kind=rounds", "channel.loss=0.0",
                                         "mailbox.deadline=100000.0", "metrics.every_events=0"};

}  // namespace

TEST_CASE("rounds over links that are slower than the run: none is done, and the first waits for every message") {
  for (const std::string clock : {"clock=virtual", "clock=wall"}) {
    CAPTURE(clock);
    std::vector<std::string> slow = in_rounds + std::vector<std::string>{"channel.delay=1000.0", "until=10.0", clock};
    if (clock == "clock=wall") slow.push_back("time_scale=20.0");
    const RunResult result = run(experiment(slow));
    REQUIRE(result.rounds);
    CHECK(result.rounds->done == 0);
    CHECK(result.rounds->waiting.computations == 0);
    CHECK(result.rounds->waiting.messages == result.messages.sent);
    CHECK(result.messages.sent > 0);
    CHECK(has_note(result, "no round was done in 10 s: the first waits for 0 computations and "));
  }
}

TEST_CASE("rounds that are done are counted, and no note is made of them") {
  const RunResult result = run(experiment(in_rounds + std::vector<std::string>{"channel.delay=0.1", "until=20.0"}));
  REQUIRE(result.rounds);
  CHECK(result.rounds->done > 3);
  CHECK(result.rounds->done <= result.messages.computations / result.clients);
  CHECK_FALSE(has_note(result, "no round"));
}

TEST_CASE("rounds that a centre or a leader counts are done in real time, too") {
  for (const std::string algorithm : {"fedavg", "fedavg_plus", "centralised", "diloco", "swarm"}) {
    CAPTURE(algorithm);
    std::vector<std::string> centred{"clock=wall",
                                     "time_scale=20.0",
                                     "until=20.5",
                                     "topology.kind=complete",
                                     "channel.loss=0.0",
                                     "mailbox.deadline=5.0",
                                     "mailbox.cap=none",
                                     "mailbox.cap_period=none",
                                     "unification.period=none",
                                     "algorithm.name=" + algorithm};
    if (algorithm == "diloco")
      centred = centred + std::vector<std::string>{"algorithm.inner=sgd", "algorithm.lr=0.1", "algorithm.H=2"};
    const RunResult result = run(experiment(centred));
    REQUIRE(result.rounds);
    CHECK(result.rounds->done > 1);
    CHECK(result.rounds->done <= result.messages.computations);
    CHECK_FALSE(has_note(result, "no round"));
  }
}

TEST_CASE("where there are no rounds nothing is said of them") { CHECK_FALSE(run(experiment({"until=5.0"})).rounds); }
