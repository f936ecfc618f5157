// Pulls in real time.
#include <doctest/doctest.h>

#include "tests/actors/hosts.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

// A second, of eight clients whose links lose and delay.
std::vector<std::string> in_real_time(const std::string& algorithm) {
  return {"clock=wall", "time_scale=30", "unification.period=none", "mailbox.cap_period=none", "mailbox.cap=none", "mailbox.deadline=1.5",
          "channel={kind=\"random\",delay={law=\"exponential\",mean=0.1},loss=0.05}", "algorithm.name=" + algorithm,
          "topology.kind=complete", "clients.compute.rate=4.0", "clients.transmit.rate=8.0"};
}

}  // namespace

TEST_CASE("a pull in real time ends when its answers are there") {
  const Folder folder;
  const config::Experiment wall = experiment(in_real_time("pame") + std::vector<std::string>{"protocol.kind=pull"});
  RunOptions options = on_threads(2);
  options.record = folder / "timeline.rbt";
  const RunResult result = run(wall, options);
  CHECK(result.messages.kept > 300);
  CHECK(digests(replay(wall, folder / "timeline.rbt", on_threads(1))) == digests(result));
}
