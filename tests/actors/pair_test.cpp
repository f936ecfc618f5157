// Exchanges of pairs in whole runs: what they conserve, over links that lose messages and through crashes, and that both ways to
// commit a meeting agree where nothing is lost.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <numbers>

#include "experiment/build/devices.hpp"
#include "tests/actors/support.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

constexpr double step_of_each = 10;

// Its first gradient takes the model of client i from 0 to 10 (i + 1); the loss is flat from there on.
class FirstStep final : public Learner<double> {
 public:
  explicit FirstStep(ClientId client) : client_{client} {}
  Index dimension() const override { return 3; }
  std::uint32_t samples() const override { return 1; }
  double gradient(ConstVectorRef<double>, Picks, VectorRef<double> g, Scratch<double>&) const override {
    g.setConstant(has_stepped_ ? 0 : -step_of_each * (client_.value + 1));
    has_stepped_ = true;
    return 0;
  }

 private:
  ClientId client_;
  mutable bool has_stepped_ = false;
};

// Six clients, over links that delay.
config::Experiment six(const std::string& algorithm, const std::string& step, const std::vector<std::string>& overrides,
                       const std::string& more = "") {
  const std::vector<std::string> usual = {
      "clients.count=6", "until=300.0", "channel={kind=\"random\",delay={law=\"exponential\",mean=0.1}}",
      "algorithm.name=" + algorithm, (algorithm == "acid" ? "algorithm.gamma=" : "algorithm.eta=") + step};
  return experiment(usual + overrides, plain_text + more);
}

double first_of(const std::vector<std::byte>& model) {
  double number;
  std::memcpy(&number, model.data(), sizeof number);
  return number;
}

// The first coordinates of all models at the end.
std::vector<double> ends_of(const std::string& algorithm, const std::vector<std::string>& overrides, const std::string& more = "") {
  RunOptions options = on_threads(2);
  options.keeps_models = true;
  options.own_double.learner = [](ClientId client) { return std::make_unique<FirstStep>(client); };
  const RunResult result = run(six(algorithm, "1.0", overrides, more), options);
  std::vector<double> ends;
  for (const std::vector<std::byte>& model : result.models) ends.push_back(first_of(model));
  return ends;
}

constexpr double mean_of_all = step_of_each * 3.5;  // of 1 to 6

void check_mean(const std::vector<double>& ends) {
  REQUIRE(ends.size() == 6);
  for (const double end : ends) CHECK(end == doctest::Approx(mean_of_all).epsilon(1e-6));
}

const std::vector<std::string> bad_links = {"channel.loss=0.3", "mailbox.deadline=0.6"};

}  // namespace

TEST_CASE("over links that lose three messages in ten all models come to the mean of what was learnt, and nothing of it is lost") {
  for (const std::string algorithm : {"adpsgd", "swarm_sgd", "acid"})
    for (const std::string commit : {"known", "counted"})
      for (const std::string seed : {"1", "2", "3"}) {
        CAPTURE(algorithm);
        CAPTURE(commit);
        CAPTURE(seed);
        check_mean(ends_of(
            algorithm, bad_links + std::vector<std::string>{"protocol.commit=" + commit, "seed=" + seed, "protocol.retries=1"}));
      }
}

TEST_CASE("owed mass: the models and what is owed between clients are their starts and their own steps, whatever was lost") {
  for (const std::string commit : {"known", "counted"}) {
    CAPTURE(commit);
    double most = 0;
    for (const std::string seed : {"1", "2", "3", "4", "5", "6"}) {
      CAPTURE(seed);
      RunOptions options = on_threads(2);
      options.keeps_models = options.checks = true;
      options.own_double.learner = [](ClientId client) { return std::make_unique<FirstStep>(client); };
      const RunResult result = run(six("adpsgd", "1.0",
                                       {"channel.loss=0.5", "mailbox.deadline=0.6", "protocol.commit=" + commit, "seed=" + seed,
                                        "until=" + std::string(commit == "known" ? "9.5" : "19.5")}),
                                   options);
      double missing = 0;  // of the sum of all first coordinates
      for (std::uint32_t i = 0; i < 6; ++i) missing += result.by_client[i].computations > 0 ? step_of_each * (i + 1) : 0;
      for (const std::vector<std::byte>& model : result.models) missing -= first_of(model);
      const std::optional<double> owed = result.samples.back().owed_mass;
      REQUIRE(owed);
      CHECK(std::abs(*owed - std::sqrt(3) * std::abs(missing)) < 1e-9);
      most = std::max(most, *owed);
    }
    CHECK(most > 1e-3);
  }
  RunOptions checked = on_threads(1);
  checked.checks = true;
  CHECK_FALSE(run(experiment({"until=5.0"}), checked).samples.back().owed_mass);
  CHECK_FALSE(run(six("adpsgd", "0.05", {"until=5.0"}), on_threads(1)).samples.back().owed_mass);
}

TEST_CASE("through crashes nothing is lost but own steps since the checkpoint, where meetings are counted") {
  const std::string churn = R"(
[churn]
checkpoint_every = 5.0
random = [{ clients = [1, 3, 4], away = "crash", up = { law = "uniform", low = 15.0, high = 40.0 }, down = 2.0, from = "checkpoint", until = 200.0 }]
)";
  for (const std::string seed : {"1", "2", "3"}) {
    CAPTURE(seed);
    check_mean(
        ends_of("adpsgd", bad_links + std::vector<std::string>{"protocol.commit=counted", "seed=" + seed, "until=600.0"}, churn));
  }
}

TEST_CASE("counted and known meetings are the same run where nothing is lost and there is no deadline") {
  for (const std::string algorithm : {"adpsgd", "swarm_sgd", "acid"}) {
    CAPTURE(algorithm);
    const auto end = [&](const std::string& commit) {
      RunOptions options = on_threads(2);
      options.keeps_models = true;
      return run(six(algorithm, "0.05", {"protocol.commit=" + commit, "precision=float32", "until=40.0"}), options);
    };
    const RunResult known = end("known"), counted = end("counted");
    CHECK(known.digests.timeline == counted.digests.timeline);
    CHECK(known.models == counted.models);  // all that was decided, in float64, is exact for float32
  }
}

TEST_CASE("a run counts its exchanges: attempts are what became of them, and messages are requests and replies") {
  for (const std::string commit : {"known", "counted"}) {
    CAPTURE(commit);
    const RunResult result =
        run(six("adpsgd", "0.05", bad_links + std::vector<std::string>{"protocol.commit=" + commit, "protocol.retries=1"}),
            on_threads(1));
    REQUIRE(result.exchanges);
    const PairCounts& counts = result.exchanges->counts;
    CHECK(counts.begun > 1000);
    CHECK(counts.retried > 100);
    CHECK(result.messages.sent == result.exchanges->attempts() + counts.met);
    CHECK(result.exchanges->unheard() > 300);  // three requests in ten are lost
    CHECK(result.exchanges->unheard() < result.exchanges->attempts() / 2);
    CHECK((counts.empty > 0) == (commit == "known"));
    CHECK(to_seconds(counts.asking) < 6 * 300);
  }
  CHECK_FALSE(run(experiment({"until=5.0"}), on_threads(1)).exchanges);
}

TEST_CASE("a run in real time counts its exchanges as one in virtual time does, and what is owed") {
  const config::Experiment wall = six("adpsgd", "0.05",
                                      bad_links + std::vector<std::string>{"clock=wall", "time_scale=40", "until=3600.5",
                                                                           "metrics.every_events=20", "protocol.retries=1"});
  const RunResult result = run_until(wall, on_threads(2), [](const Sample& sample) { return sample.header.counts.kept > 300; });
  REQUIRE(result.exchanges);
  const PairCounts& counts = result.exchanges->counts;
  CHECK(counts.begun > 100);
  CHECK(counts.met > 50);
  CHECK(counts.retried > 0);
  CHECK(counts.over > 0);  // three requests in ten are lost
  CHECK(counts.empty == 0);
  CHECK(counts.asking > Duration{});
  CHECK(result.messages.sent == result.exchanges->attempts() + counts.met);
  CHECK(result.exchanges->unheard() > 0);
  CHECK(result.samples.back().owed_mass);
}

TEST_CASE(
    "[topology] mixing says how often a neighbour is asked: a row is the asker's, and what it keeps for itself is of no meaning") {
  RunOptions options = on_threads(1);
  options.counts_links = true;
  const RunResult result = run(
      six("adpsgd", "0.05",
          {"clients.count=3", "topology.mixing=explicit", "topology.mixing_matrix=[[0.2,0.8,0.0],[0.3,0.4,0.3],[0.0,0.8,0.2]]"}),
      options);
  REQUIRE(result.graph);
  const auto sent = [&](std::uint32_t from, std::uint32_t to) {
    return result.by_link[*result.graph->find_link({from}, {to})].sent;
  };
  CHECK(sent(0, 2) == 0);  // neither asks the other
  CHECK(sent(2, 0) == 0);
  CHECK(sent(0, 1) > 300);
  CHECK(sent(1, 2) > 300);
}

TEST_CASE(
    "A2CiD2's constants are those of the graph and of how often its edges meet, and by the word the run is that with the numbers") {
  const auto constants = [](std::vector<std::string> overrides) {
    overrides.push_back("algorithm.constants=graph");
    return options_in_force(six("acid", "0.05", overrides));
  };
  const auto check = [&](const AlgorithmOptions& options, double chi1, double chi2) {
    CHECK(options.number("eta", 0) == doctest::Approx(1 / (2 * std::sqrt(chi1 * chi2))).epsilon(1e-9));
    CHECK(options.number("alpha_tilde", 0) == doctest::Approx(std::sqrt(chi1 / chi2) / 2).epsilon(1e-9));
  };
  // Edges of a ring meet r times a second: 1 / (2 r (1 - cos(2 pi / m))) and (m - 1) / (2 r m).
  const double ring = 1 - std::cos(2 * std::numbers::pi / 6);
  check(constants({"topology.kind=ring"}), 1 / (2 * ring), 5.0 / 12);  // each client asks once a second
  check(constants({"topology.kind=ring", "clients.transmit.rate=0.5"}), 1 / ring, 5.0 / 6);
  check(constants({"topology.kind=ring", "clients.transmit.per_link=true"}), 1 / (4 * ring), 5.0 / 24);
  check(constants({"topology.kind=ring", "protocol.roles=bipartite"}), 1 / ring, 5.0 / 6);
  check(constants({"topology.kind=ring", "clients.transmit={law=\"coupled\",every=4}"}), 2 / ring, 5.0 / 3);
  check(constants({"topology.kind=ring", "clients.count=1200"}), 1 / (2 * (1 - std::cos(2 * std::numbers::pi / 1200))),
        1199.0 / 2400);                      // above 1,000 by Lanczos' method
  check(constants({}), 5.0 / 12, 5.0 / 12);  // of a complete graph each edge meets 2 / (m - 1) times

  RunOptions options = on_threads(1);
  options.keeps_models = true;
  const AlgorithmOptions ones = constants({"topology.kind=ring"});
  const auto models = [&](std::vector<std::string> overrides) {
    overrides.insert(overrides.end(), {"topology.kind=ring", "until=20.0"});
    return run(six("acid", "0.05", overrides), options).models;
  };
  const auto by_word = models({"algorithm.constants=graph"});
  CHECK(by_word == models({fmt::format("algorithm.eta={}", ones.number("eta", 0)),
                           fmt::format("algorithm.alpha_tilde={}", ones.number("alpha_tilde", 0))}));
  CHECK(by_word != models({}));
  CHECK_THROWS_WITH(run(six("acid", "0.05", {"clients.count=5001", "topology.kind=ring", "algorithm.constants=graph"}), options),
                    doctest::Contains("give eta and alpha_tilde"));
}
