// The collaboration matrix of KD-PDFL, its joint objective, and runs whose clients have models of unlike architecture.
#include <doctest/doctest.h>

#include <cmath>

#include "results/run_folder.hpp"
#include "results/summary.hpp"
#include "tests/actors/support.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

const std::string few_text = R"(
seed = 4
until = 30.5
[clients]
count = 6
[clients.compute]
law = "fixed"
period = 1.0
[topology]
kind = "ring"
[protocol]
kind = "rounds"
[algorithm]
name = "kdpdfl"
eta = 0.3
T_ex = 3
stars = "all"
[data]
name = "digits"
samples_per_client = 30
[model]
name = "mlp"
hidden = [6]
batch = 8
[metrics]
every_seconds = 4.0
every_events = 0
test_samples = 50
joint_objective = true
)";

const std::vector<std::string> unlike{R"(clients.classes=[{name="large",share=0.5,hidden=[9,6]}])", "algorithm.layer=\"-1\""};

RunResult ran(const std::vector<std::string>& overrides, unsigned threads = 1) {
  RunOptions options = on_threads(threads);
  options.keeps_models = true;
  return run(experiment(overrides, few_text), options);
}

std::string refusal(const std::vector<std::string>& overrides) {
  try {
    ran(overrides);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE("the collaboration matrix has a row of every client with its neighbours, and no other algorithm has one") {
  const RunResult result = ran({});
  REQUIRE(result.collaboration.size() == 6);
  bool has_learned = false;
  for (std::uint32_t i = 0; i < 6; ++i) {
    REQUIRE(result.collaboration[i].size() == 2);
    for (const PeerWeight& peer : result.collaboration[i]) {
      CHECK(((peer.peer.value + 1) % 6 == i || (i + 1) % 6 == peer.peer.value));
      CHECK(peer.weight >= 0);
      has_learned |= std::abs(peer.weight - 1.0 / 6) > 1e-3;
    }
  }
  CHECK(has_learned);
  const std::vector<std::string> lines = lines_of(collaboration_csv(result));
  CHECK(lines.size() == 13);
  CHECK(lines[0] == "client,peer,weight");
  CHECK(lines[1].starts_with("0,1,"));
  CHECK(ran({"algorithm.name=decentralised_fedavg", "metrics.joint_objective=false"}).collaboration.empty());
}

TEST_CASE("the joint objective is that of equation 4.1: losses, weighed distances and the barrier") {
  // Equal models have no distances: at the start J is the training losses and the barrier alone.
  const auto first = [](const std::vector<std::string>& overrides) {
    return ran(overrides).samples.front().joint_objective.value();
  };
  const auto last = [](const std::vector<std::string>& overrides) { return ran(overrides).samples.back().joint_objective.value(); };
  const double losses = first({"algorithm.mu1=0", "algorithm.mu2=0"});
  CHECK(losses == doctest::Approx(6 * std::log(10.0)).epsilon(0.3));
  CHECK(first({"algorithm.mu1=5", "algorithm.mu2=0"}) == doctest::Approx(losses).epsilon(1e-12));
  CHECK(first({"algorithm.mu1=0", "algorithm.mu2=2"}) == doctest::Approx(losses - 2 * 6 * std::log(5.0 / 6 + 1e-6)).epsilon(1e-12));
  // With beta0 next to 0 the weights stay, so that mu1 changes J alone, and linearly.
  const std::vector<std::string> still{"algorithm.beta0=1e-300", "algorithm.mu2=0"};
  const double none = last(still + std::vector<std::string>{"algorithm.mu1=0"}),
               one = last(still + std::vector<std::string>{"algorithm.mu1=1"}),
               two = last(still + std::vector<std::string>{"algorithm.mu1=2"});
  CHECK(one > none + 1e-4);
  CHECK(two - none == doctest::Approx(2 * (one - none)).epsilon(1e-5));
}

TEST_CASE("clients of unlike architecture learn together at a layer they share, and nothing is said of a mean of their models") {
  const RunResult result = ran(unlike);
  const Sample& last = result.samples.back();
  CHECK(last.accuracy_mean > 0.2);
  for (const double number : {last.accuracy_mean_model, last.loss_mean_model, last.consensus, last.consensus_mean})
    CHECK(std::isnan(number));
  CHECK(std::isfinite(last.joint_objective.value()));
  const std::size_t small = 64 * 6 + 6 + 6 * 10 + 10, large = 64 * 9 + 9 + 9 * 6 + 6 + 6 * 10 + 10;
  CHECK(result.dimension == large);
  std::size_t smaller = 0;
  for (const std::vector<std::byte>& model : result.models) {
    const auto* numbers = reinterpret_cast<const float*>(model.data());
    const bool is_small = std::all_of(numbers + small, numbers + large, [](float x) { return x == 0; });
    smaller += is_small;
  }
  CHECK(smaller == 3);
  CHECK(ran(unlike, 2).digests.model == result.digests.model);
  CHECK(contains(summary_json(experiment(unlike, few_text), result), "\"consensus\": null"));
}

TEST_CASE("what mixes whole models is refused where these are unlike, with the reason") {
  CHECK(contains(refusal({unlike[0], "algorithm.name=dpsgd", "metrics.joint_objective=false"}),
                 "which mixes whole models; kdpdfl and local_only do not"));
  CHECK(contains(refusal(unlike + std::vector<std::string>{"unification.period=3.0"}), "cannot be unified"));
  CHECK(contains(refusal(unlike + std::vector<std::string>{"algorithm.layer=\"1\""}),
                 "has 6 numbers in one of the clients' models and 9 in another"));
  CHECK(contains(refusal({"algorithm.layer=\"7\""}), "algorithm.layer is \"7\""));
  CHECK(contains(refusal({R"(clients.classes=[{name="a",share=0.5,layers=["dense 6"]}])"}), "is for the model \"cnn\""));
  CHECK(contains(refusal({R"(clients.classes=[{name="a",share=0.5,model="cnn"}])"}), "needs layers beside it"));
  CHECK(contains(refusal({R"(clients.classes=[{name="a",share=0.5,model="perceptron"}])"}), "model.name is \"perceptron\""));
  CHECK(contains(refusal({"algorithm.name=decentralised_fedavg"}), "only kdpdfl has the collaboration matrix"));
  CHECK(contains(refusal({"metrics.clients=3"}), "leave metrics.clients out"));
}

TEST_CASE("clients that train alone may have any model") {
  const RunResult result = ran({unlike[0], "algorithm.name=local_only", "metrics.joint_objective=false", "model.name=softmax",
                                R"(clients.classes=[{name="large",share=0.5,model="mlp",hidden=[9]}])"});
  CHECK(result.samples.back().accuracy_mean > 0.2);
  CHECK(result.collaboration.empty());
}
