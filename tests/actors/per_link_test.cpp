// A transmit timer a link (lambda_ij of algorithm 5): no increment is lost between the links of a client.
#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <map>
#include <utility>

#include "runtime/record.hpp"
#include "tests/actors/support.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

// A loss that falls by 1 a unit along the client's own coordinate, wherever the model is: each of its increments is -eta there.
class Slope final : public Learner<double> {
 public:
  explicit Slope(ClientId client) : client_{client} {}
  Index dimension() const override { return 3; }
  std::uint32_t samples() const override { return 1; }
  double gradient(ConstVectorRef<double> x, Picks, VectorRef<double> g, Scratch<double>&) const override {
    g.setZero();
    g[client_.value] = 1;
    return x[client_.value];
  }

 private:
  ClientId client_;
};

struct PerLink {
  explicit PerLink(const std::vector<std::string>& overrides)
      : three{experiment(std::vector<std::string>{"clients.transmit.per_link=true", "algorithm.eta=0.5"} + overrides, plain_text)} {
    options.threads = 2;
    options.keeps_models = true;
    options.record = folder / "timeline.rbt";
    options.own_double.learner = [](ClientId client) { return std::make_unique<Slope>(client); };
    result = run(three, options);
    RecordReader record(options.record);
    while (const Step* step = record.next()) {
      const std::uint32_t i = step->client.value;
      if (step->kind == StepKind::compute) ++computed[i];
      if (step->kind != StepKind::publish || step->entries.empty()) continue;
      REQUIRE(step->entries.size() == 1);
      const std::pair link{i, step->entries[0].peer.value};
      told[link] = computed[i];
      ++sends[link];
    }
  }
  double model(std::uint32_t client, std::uint32_t coordinate) const {
    double number;
    std::memcpy(&number, result.models[client].data() + coordinate * sizeof number, sizeof number);
    return number;
  }

  const Folder folder;
  config::Experiment three;
  RunOptions options;
  RunResult result;
  std::array<std::uint64_t, 3> computed{};
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> told;   // computations before the last message of a link
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> sends;  // messages of a link
};

}  // namespace

TEST_CASE("with a timer per link each link carries every increment exactly once (lemma B.1)") {
  for (const std::string seed : {"1", "2", "3", "4"}) {
    CAPTURE(seed);
    const PerLink run({"seed=" + seed});
    for (std::uint32_t i = 0; i < 3; ++i)
      for (std::uint32_t j = 0; j < 3; ++j) {
        if (i == j) continue;
        CAPTURE(i);
        CAPTURE(j);
        // Ideal links and weights of 1/2: what j has merged of i is the sum of i's increments up to the link's last message.
        CHECK(run.model(j, i) == -0.5 * 0.5 * static_cast<double>(run.told.at({i, j})));
        CHECK(run.told.at({i, j}) > 5);
        CHECK(run.sends.at({i, j}) > 3);
      }
    for (std::uint32_t i = 0; i < 3; ++i) CHECK(run.model(i, i) == 0);  // its own increments are not applied
  }
}

TEST_CASE("a link tells of each computation once, and is silent without a new one") {
  const PerLink run({"clients.transmit.rate=20.0"});
  for (const auto& [link, sends] : run.sends) {
    CHECK(sends <= run.computed[link.first]);
    CHECK(sends >= run.told.at(link) / 2);  // at 20 ticks a computation hardly two computations share a message
  }
}

TEST_CASE("an increment that was not acknowledged goes back to the outbox of its own link") {
  const PerLink run({"channel.kind=random", "channel.delay=0.01", "channel.loss=0.4", "mailbox.deadline=0.1",
                     "algorithm.retain_on_loss=true", "until=400.0"});
  // Acknowledgements are lost, too, and then an increment is sent twice: never fewer than there are, but for the last ones.
  for (std::uint32_t i = 0; i < 3; ++i)
    for (std::uint32_t j = 0; j < 3; ++j)
      if (i != j) {
        const double merged = -run.model(j, i) / 0.25;
        CHECK(merged >= static_cast<double>(run.computed[i]) - 30);
        CHECK(merged <= 3 * static_cast<double>(run.computed[i]));
      }
}

TEST_CASE("outboxes of links are in checkpoints, and the same on any number of threads") {
  PerLink whole({"checkpoint_every=5.0"});
  RunOptions alone = whole.options;
  alone.threads = 1;
  alone.record.clear();
  CHECK(digests(run(whole.three, alone)) == digests(whole.result));
  CHECK(digests(replay(whole.three, whole.options.record, alone)) == digests(whole.result));
}
