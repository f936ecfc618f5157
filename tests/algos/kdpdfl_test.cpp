// KD-PDFL on outputs that can be computed by hand (docs/references.md#kd-pdfl).
#include <doctest/doctest.h>

#include <cmath>

#include "learning/models/problems.hpp"
#include "runtime/protocols/pull.hpp"
#include "runtime/world/topology.hpp"
#include "tests/support/seated_run.hpp"
#include "tests/support/values.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

// A model is one number p between 0 and 1: the probability of the first of two classes at every sample. Learning
// takes it to `target`.
class Coin final : public Learner<double> {
 public:
  Coin(double target, std::uint32_t samples) : target_{target}, samples_{samples} {}
  Index dimension() const override { return 1; }
  std::uint32_t samples() const override { return samples_; }
  double gradient(ConstVectorRef<double> x, Picks, VectorRef<double> g, Scratch<double>&) const override {
    g[0] = x[0] - target_;
    return 0.5 * g[0] * g[0];
  }
  std::uint32_t classes() const override { return 2; }
  void predict(ConstVectorRef<double> x, Picks picks, MatrixRef<double> out, Scratch<double>&) const override {
    CHECK(out.rows() == static_cast<Index>(picks.empty() ? samples_ : picks.size()));
    out.col(0).setConstant(x[0]);
    out.col(1).setConstant(1 - x[0]);
  }

 private:
  double target_;
  std::uint32_t samples_;
};

// Clients with these models and 50 samples each; all hear all.
struct Table {
  Table(const std::vector<double>& models, const AlgorithmOptions& options, std::uint32_t samples = 50)
      : graph(topologies::complete(models.size())), all_samples(models.size(), samples), coin(0, samples) {
    for (std::uint32_t i = 0; i < models.size(); ++i) {
      const Vector<double> start = Vector<double>::Constant(1, models[i]);
      const ClientView client_view{
          .client = {i}, .senders = graph.senders_to({i}), .receivers = graph.receivers_of({i}), .samples = all_samples};
      clients.push_back(make_algorithm<double>(catalogue_entry("kdpdfl"), options)(client_view, view(start), pool));
    }
  }
  /// The star hears these peers.
  void exchange(std::uint32_t star, const std::vector<std::uint32_t>& peers, std::uint8_t phase = 0) {
    Work<double> work(coin, plan, scratch, pool);
    std::vector<Payload> payloads;
    for (const std::uint32_t peer : peers) payloads.push_back(clients[peer]->publish(work, {.kind = StepKind::publish}));
    std::vector<Received<double>> window;
    for (std::size_t k = 0; k < peers.size(); ++k) window.push_back({{peers[k]}, 0, 1, Duration{}, payloads[k], 0});
    clients[star]->merge(work, {.kind = StepKind::merge, .phase = phase}, window);
  }
  double model(std::uint32_t client) const { return clients[client]->model()[0]; }
  Vector<double> shown(std::uint32_t client, const char* name) const {
    ShownVectors probe;
    clients[client]->inspect(probe);
    return probe.seen.at(name);
  }

  TensorPool pool;
  Scratch<double> scratch;
  BatchPlan plan;
  Graph graph;
  std::vector<std::uint32_t> all_samples;
  Coin coin;
  std::vector<std::unique_ptr<Algorithm<double>>> clients;
};

}  // namespace

TEST_CASE("an exchange by hand: distances, weights, confidence and the new model") {
  // Client 0 at 0.5 hears 0.75 and 0. d = 2 (p - p_j)^2: 0.125 and 0.5. Without a barrier G = d.
  Table table({0.5, 0.75, 0}, options_of({{"mu2", 0.0}, {"beta0", 0.1}, {"c_base", 1.0}}));
  table.exchange(0, {1, 2});
  const Vector<double> distance = table.shown(0, "distance");
  CHECK(distance[1] == doctest::Approx(0.125).epsilon(1e-14));
  CHECK(distance[2] == doctest::Approx(0.5).epsilon(1e-14));
  const double norm = std::sqrt(0.125 * 0.125 + 0.25);
  const double w1 = 1.0 / 3 - 0.1 * 0.125 / norm, w2 = 1.0 / 3 - 0.1 * 0.5 / norm;
  const Vector<double> weights = table.shown(0, "collab");
  CHECK(weights[0] == 0);
  CHECK(weights[1] == doctest::Approx(w1).epsilon(1e-14));
  CHECK(weights[2] == doctest::Approx(w2).epsilon(1e-14));
  CHECK(table.shown(0, "confidence")[0] == doctest::Approx(1.0 / 3).epsilon(1e-14));  // 50 / 1 is above 1 / (2 + 1)
  CHECK(table.model(0) == doctest::Approx(0.5 / 3 + 2.0 / 3 * 0.75 * w1 / (w1 + w2)).epsilon(1e-14));
}

TEST_CASE("the barrier goes by the weights of all peers, heard or not, before the exchange") {
  Table table({0.5, 0.75, 0, 0.5}, options_of({{"mu1", 2.0}, {"mu2", 0.3}, {"delta", 0.25}, {"beta0", 0.25}}));
  table.exchange(0, {1});
  // Three peers of 1/4 each: G = 2 * 0.125 - 0.3 / (0.25 + 0.75).
  CHECK(table.shown(0, "grad")[1] == doctest::Approx(-0.05).epsilon(1e-12));
  CHECK(table.shown(0, "collab")[1] == doctest::Approx(0.5).epsilon(1e-14));  // the norm is that of one number
  const double model = table.model(0);
  table.exchange(0, {2});
  // Now the weights are 1/2, 1/4 and 1/4; client 2 is at 0.
  CHECK(table.shown(0, "grad")[2] == doctest::Approx(2 * 2 * model * model - 0.3 / 1.25).epsilon(1e-12));
  CHECK(table.shown(0, "collab")[1] == doctest::Approx(0.5).epsilon(1e-14));  // only who was heard changes
  CHECK(table.shown(0, "collab")[3] == 0.25);
}

TEST_CASE("who has few samples trusts itself less") {
  Table table({0.5, 0.75, 0}, options_of({{"c_base", 100.0}}), 5);
  table.exchange(0, {1, 2});
  CHECK(table.shown(0, "confidence")[0] == 0.05);
}

TEST_CASE("equal models have no distance and stay") {
  Table table({0.5, 0.5, 0.5}, options_of({{"mu2", 0.0}}));
  table.exchange(0, {1, 2});
  CHECK(table.shown(0, "distance") == Vector<double>::Zero(3));
  CHECK(table.shown(0, "collab")[1] == doctest::Approx(1.0 / 3).epsilon(1e-15));
  CHECK(table.model(0) == doctest::Approx(0.5).epsilon(1e-15));
}

TEST_CASE("without the barrier weights never increase, and never fall below 0") {
  Table table({0.5, 0.75, 0}, options_of({{"mu2", 0.0}, {"beta0", 0.2}, {"c_base", 1.0}}));
  Vector<double> before = table.shown(0, "collab");
  for (int time = 0; time < 20; ++time) {
    table.exchange(0, {1, 2});
    const Vector<double> after = table.shown(0, "collab");
    CHECK((after.array() <= before.array()).all());
    CHECK((after.array() >= 0).all());
    before = after;
  }
  CHECK(before[2] == 0);
}

TEST_CASE("where no weight is left among those heard the model stays") {
  Table table({0.5, 0.75}, options_of({{"mu2", 0.0}, {"beta0", 1.0}}));
  table.exchange(0, {1});
  CHECK(table.shown(0, "collab")[1] == 0);
  CHECK(table.model(0) == 0.5);
}

TEST_CASE("elementwise, the weights step by one") {
  Table table({0.5, 0.75, 0.5}, options_of({{"mu1", 1.0}, {"mu2", 0.01}, {"beta_mode", std::string("elementwise")}}));
  table.exchange(0, {1, 2});
  CHECK(table.shown(0, "collab")[1] == 0);                                        // distant: 1/3 - 1
  CHECK(table.shown(0, "collab")[2] == doctest::Approx(4.0 / 3).epsilon(1e-14));  // near: 1/3 + 1
}

TEST_CASE("a footprint and an empty window leave the model and the weights alone") {
  Table table({0.5, 0.75, 0}, {});
  const Vector<double> weights = table.shown(0, "collab");
  table.exchange(0, {1, 2}, 1);
  table.exchange(0, {});
  CHECK(table.model(0) == 0.5);
  CHECK(table.shown(0, "collab") == weights);
}

TEST_CASE("an exchange mixes all models that have ever come, each the newest that was received") {
  Table table({0.5, 1, 0}, options_of({{"mu1", 0.0}, {"mu2", 0.0}, {"c_base", 100.0}}));
  table.exchange(0, {1});  // alone: c = 1/2
  CHECK(table.model(0) == doctest::Approx(0.75).epsilon(1e-15));
  table.exchange(0, {2});  // with that of client 1, and still one peer in the exchange
  CHECK(table.shown(0, "confidence")[0] == 0.5);
  CHECK(table.model(0) == doctest::Approx(0.75 / 2 + 0.5 / 2).epsilon(1e-15));
  const Vector<double> told = Vector<double>::Constant(1, 0.2);
  table.clients[1]->adopt(view(told));
  table.exchange(0, {1}, 1);  // it tells what it has become
  table.exchange(0, {2});
  CHECK(table.model(0) == doctest::Approx(0.625 / 2 + 0.1 / 2).epsilon(1e-15));
}

TEST_CASE("fresh footprints: an exchange mixes the models that came in it, and no other") {
  Table table({0.5, 1, 0}, options_of({{"mu1", 0.0}, {"mu2", 0.0}, {"footprints", std::string("fresh")}}));
  table.exchange(0, {1});
  table.exchange(0, {1}, 1);
  table.exchange(0, {2});
  CHECK(table.model(0) == doctest::Approx(0.75 / 2).epsilon(1e-15));
}

TEST_CASE("a step of the weights is as long as a tenth of one over the clients where nothing is said") {
  Table table({0.5, 0.75, 0, 0.5}, options_of({{"mu2", 0.0}}));
  table.exchange(0, {1});
  CHECK(table.shown(0, "collab")[1] == doctest::Approx(0.25 - 0.025).epsilon(1e-14));
}

TEST_CASE("an exchange stays among the models it mixes") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    Stream stream(seed, {0}, Purpose::noise);
    std::vector<double> models(5);
    for (double& model : models) model = stream.uniform();
    Table table(models, {});
    for (int time = 0; time < 5; ++time) {
      table.exchange(0, {1, 3, 4});
      const double confidence = table.shown(0, "confidence")[0];
      CHECK(confidence > 0);
      CHECK(confidence <= 0.5);
      CHECK(table.model(0) >= *std::min_element(models.begin(), models.end()));
      CHECK(table.model(0) <= *std::max_element(models.begin(), models.end()));
    }
  }
}

TEST_CASE("computation k takes batch 2 k and exchange e batch 2 e + 1") {
  // A softmax over one feature and two classes: sample 0 has the feature 0, so all models agree on it; sample 1 does
  // not.
  const auto learner = make_softmax_problem<double>((Matrix<double>(2, 1) << 0, 1).finished(), {0, 1}, 2);
  ChoiceTable choices;
  choices.batches = {{}, {0}, {}, {1}};
  const BatchPlan plan{1, {0}, 0, &choices};
  TensorPool pool;
  Scratch<double> scratch;
  Work<double> work(*learner, plan, scratch, pool);
  const Graph graph = topologies::complete(2);
  const std::vector<std::uint32_t> samples{2, 2};
  const Vector<double> mine = Vector<double>::Zero(4);
  Vector<double> theirs = mine;
  theirs[0] = 1;  // of the feature and the first class
  const ClientView client_view{
      .client = {0}, .senders = graph.senders_to({0}), .receivers = graph.receivers_of({0}), .samples = samples};
  const auto algorithm =
      make_algorithm<double>(catalogue_entry("kdpdfl"), options_of({{"c_base", 1.0}}))(client_view, view(mine), pool);
  Payload payload;
  payload.common[0] = copy_of<double>(view(std::as_const(theirs)), pool);
  const Received<double> message{{1}, 0, 1, Duration{}, payload, 0};
  ShownVectors probe;
  algorithm->merge(work, {.kind = StepKind::merge}, {&message, 1});
  algorithm->inspect(probe);
  CHECK(probe.seen.at("distance")[1] == 0);
  algorithm->merge(work, {.kind = StepKind::merge}, {&message, 1});
  algorithm->inspect(probe);
  CHECK(probe.seen.at("distance")[1] > 0.001);
}

TEST_CASE("under pull only the star changes in an exchange, and computations go on meanwhile") {
  const AlgorithmOptions options = options_of({{"eta", 0.5}, {"c_base", 1.0}});
  ProtocolWorld world(topologies::complete(3));
  world.push.needs = catalogue_entry("kdpdfl").needs(options);
  world.push.compute = {TimerLaw::off(), ticks({1.15}), TimerLaw::off()};
  world.push.transmit = {ticks({1}), TimerLaw::off(), TimerLaw::off()};
  PullSettings pull;
  pull.push = &world.push;
  CHECK(pull.announces());
  std::vector<std::unique_ptr<Learner<double>>> learners;
  for (int i = 0; i < 3; ++i) learners.push_back(std::make_unique<Coin>(1, 50));
  std::vector<Vector<double>> starts;
  for (const double start : {0.5, 0.0, 0.5}) starts.push_back(Vector<double>::Constant(1, start));
  SeatedRun run(world.graph, std::move(learners), make_algorithm<double>(catalogue_entry("kdpdfl"), options), starts);
  std::vector<std::string> steps;
  run.after = [&](const Step& step) { steps.push_back(sentence_of(step)); };
  world.run([&](ClientId client) { return std::make_unique<Pull>(pull, client); }, run, 9);
  CHECK(steps == Sentences{"1.1: 1 publish/0 -> 0", "1.1: 2 publish/0 -> 0", "1.15: 1 compute/0", "1.2: 0 merge/0 <- 1#0 2#0",
                           "1.2: 0 publish/1 -> 1 2", "1.3: 1 merge/1 <- 0#0", "1.3: 2 merge/1 <- 0#0"});
  CHECK(run.model(1)[0] == 0.5);  // its own computation, from 0
  CHECK(run.model(2)[0] == 0.5);
  // It mixed in the 0 of client 1 as it was at 1.1.
  CHECK(run.model(0)[0] < 0.5);
  CHECK(run.model(0)[0] == doctest::Approx(0.5 / 3 + 2.0 / 3 * 0.5 * run.shown(0, "collab")[2] /
                                                         (run.shown(0, "collab")[1] + run.shown(0, "collab")[2])));
}

TEST_CASE("the program of rounds: an exchange every T_ex rounds, then a footprint, and computations else") {
  const PhaseList round = catalogue_entry("kdpdfl").needs(options_of({{"T_ex", std::int64_t{3}}})).program.round;
  std::string story;  // one letter a round: Compute, Exchange, Footprint
  for (std::uint64_t r = 0; r < 12; ++r)
    for (std::size_t p = 0; p < round.size(); ++p)
      if (round[p].happens_in(r)) story += round[p].kind == PhaseKind::compute ? 'C' : round[p].number == 0 ? 'E' : 'F';
  CHECK(story == "CCEFCEFCEFCE");
  for (std::int64_t every = 2; every <= 60; ++every) {
    const PhaseList list = catalogue_entry("kdpdfl").needs(options_of({{"T_ex", every}})).program.round;
    for (std::uint64_t r = 0; r < 200; ++r) {
      int phases = 0;
      for (std::size_t p = 0; p < list.size(); ++p) phases += list[p].happens_in(r);
      REQUIRE(phases == 1);
    }
  }
}

TEST_CASE("under pull with a coupled timer an exchange begins at every T_ex-th computation and is told to who answered") {
  ProtocolWorld world(topologies::complete(4));
  world.push.needs = catalogue_entry("kdpdfl").needs(options_of({{"T_ex", std::int64_t{3}}, {"ask_share", 0.5}}));
  const TimerLaw off = TimerLaw::off();
  world.push.compute = {ticks({1, 2, 3, 4, 5, 6}), off, off, off};
  world.push.transmit = {TimerLaw::coupled(1, 1), off, off, off};
  PullSettings pull;
  pull.push = &world.push;
  pull.asked = {{{ClientId{1}, ClientId{3}}, {ClientId{2}}}};
  StepSentences steps;
  world.run([&](ClientId client) { return std::make_unique<Pull>(pull, client); }, steps, 9);
  std::erase_if(steps.all, [](const std::string& step) { return step.find("compute") != std::string::npos; });
  CHECK(steps.all == Sentences{"3.1: 1 publish/0 -> 0", "3.1: 3 publish/0 -> 0", "3.2: 0 merge/0 <- 1#0 3#0",
                               "3.2: 0 publish/1 -> 1 3", "3.3: 1 merge/1 <- 0#0", "3.3: 3 merge/1 <- 0#0", "6.1: 2 publish/0 -> 0",
                               "6.2: 0 merge/0 <- 2#0", "6.2: 0 publish/1 -> 2", "6.3: 2 merge/1 <- 0#1"});
}

TEST_CASE("options of kdpdfl that cannot be are refused with what is allowed") {
  const auto complaint = [](const AlgorithmOptions& options) -> std::string {
    try {
      catalogue_entry("kdpdfl").needs(options);
      make_algorithm<float>(catalogue_entry("kdpdfl"), options);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  CHECK(complaint(options_of({{"T_ex", std::int64_t{1}}})) == "algorithm.T_ex = 1: must be at least 2");
  CHECK(complaint(options_of({{"mu2", -1.0}})) == "algorithm.mu2 = -1: must be at least 0");
  CHECK(complaint(options_of({{"delta", 0.0}})) == "algorithm.delta = 0: must be greater than 0 and at most 1");
  CHECK(complaint(options_of({{"beta_mode", std::string("vector")}})) ==
        "algorithm.beta_mode = \"vector\": must be \"norm\" or \"elementwise\"");
  CHECK(complaint(options_of({{"ask_share", 1.5}})) == "algorithm.ask_share = 1.5: must be greater than 0 and at most 1");
}
