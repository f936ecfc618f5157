// Claims of the papers in a small form, with generous margins: docs/reproduction.md has them at length, with seeds and intervals.
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>

#include "experiment/file/experiment_file.hpp"
#include "tests/actors/support.hpp"

using namespace rubato;
using namespace rubato::test;

namespace fs = std::filesystem;

namespace {

using Sets = std::vector<std::string>;

RunResult run_of(const std::string& file, const Sets& sets) {
  std::ostringstream notes;
  return run(config::read_experiment(RUBATO_SOURCE_DIR "/examples/" + file, sets, notes), on_threads(2));
}

// The mean over the last third of the samples: less scatter than the last one.
double late_accuracy(const RunResult& result) {
  const std::size_t used = std::max<std::size_t>(1, result.samples.size() / 3);
  double sum = 0;
  for (std::size_t i = result.samples.size() - used; i < result.samples.size(); ++i) sum += result.samples[i].accuracy_mean;
  return sum / static_cast<double>(used);
}

// Handwritten digits and a linear model in place of sets that may not be here.
const Sets on_digits{"data.name=digits", "data.partition={kind=\"iid\"}", "data.samples_per_client=50", "metrics.test_samples=300"};

double draco(const std::string& graph, bool applies_own, const Sets& sets = {}) {
  return late_accuracy(run_of("papers/draco/fixed.toml",
                              on_digits +
                                  Sets{"topology={kind=\"" + graph + "\"}", "mailbox.cap=none", "until=250.5", "model.hidden=[16]",
                                       std::string("algorithm.self_apply=") + (applies_own ? "true" : "false")} +
                                  sets));
}

double objective_of_pame(const Sets& sets) {
  const RunResult result =
      run_of("papers/pame/pame_ex1.toml", Sets{"topology={kind=\"random_regular\",degree=8}", "data.dimension=40",
                                               "data.samples_per_client=400", "metrics.gradient_norm=true"} +
                                              sets);
  REQUIRE(result.samples.back().gradient);
  return result.samples.back().gradient->objective;
}

}  // namespace

TEST_CASE("DeceFL: with steps 1 / (t + 2) clients come to the mean of their centres as 1 / t") {
  const RunResult result = run_of("synthetic/decefl_consensus.toml", {"until=1000.5", "metrics.every_seconds=100.0"});
  const double at_100 = result.samples[1].consensus, at_1000 = result.samples[10].consensus;  // squared distances
  CHECK(at_100 / at_1000 > 70);
  CHECK(at_100 / at_1000 < 140);
}

TEST_CASE("PaME: a tenth of the coordinates ends where six tenths end, for fewer bits") {
  const double tenth = objective_of_pame({"algorithm.share=0.1"}), most = objective_of_pame({"algorithm.share=0.6"});
  CHECK(tenth == doctest::Approx(most).epsilon(0.05));
}

TEST_CASE("PaME: an exchange every sixteenth iteration ends where one in each ends") {
  const Sets equal{"algorithm.kappa_high=0"};
  CHECK(objective_of_pame(equal + Sets{"algorithm.kappa=16"}) ==
        doctest::Approx(objective_of_pame(equal + Sets{"algorithm.kappa=1"})).epsilon(0.05));
}

TEST_CASE("DEPOSITUM: what decides the loss is the product of alpha and beta") {
  const auto objective = [](const std::string& alpha, const std::string& beta) {
    const RunResult result =
        run_of("papers/depositum/depositum_fig3.toml",
               on_digits + Sets{"until=100.5", "metrics.stationarity=false", "metrics.tracked=false", "metrics.tracker=as_is",
                                "algorithm.alpha=" + alpha, "algorithm.beta=" + beta});
    REQUIRE(result.samples.back().gradient);
    return result.samples.back().gradient->objective;
  };
  const double one_way = objective("0.05", "0.5"), other_way = objective("0.1", "0.25"), larger = objective("0.1", "0.5");
  CHECK(one_way == doctest::Approx(other_way).epsilon(0.02));
  CHECK(larger < 0.97 * one_way);
}

TEST_CASE("DRACO to the letter: the complete graph is ahead of the ring and the star, which drift apart") {
  const double complete = draco("complete", false);
  CHECK(complete > draco("ring", false) + 0.1);
  CHECK(complete > draco("star", false) + 0.1);
}

TEST_CASE("DRACO with own updates applied: a ring learns, to the letter it does not keep up") {
  CHECK(draco("ring", true) > draco("ring", false) + 0.1);
}

TEST_CASE("DRACO: a shorter unification period keeps clients together, the reverse of what the thesis finds") {
  const auto unified_every = [](const std::string& seconds) {
    return late_accuracy(
        run_of("papers/draco/wireless.toml", on_digits + Sets{"channel.bandwidth_use=shared", "mailbox.deadline=1",
                                                              "model.hidden=[16]", "unification.period=" + seconds}));
  };
  CHECK(unified_every("20") > unified_every("1000") + 0.1);
}

TEST_CASE("asynchronous DSGD: whether late work is reused or thrown away, both are ahead of waiting for all") {
  const auto at_end = [](const std::string& file) {
    return late_accuracy(
        run_of("papers/async_dsgd/" + file + ".toml",
               on_digits + Sets{"until=40.5", "model.batch=16", "metrics.every_seconds=2.0", "algorithm.eta=0.02"}));
  };
  const double waiting = at_end("wait");
  CHECK(at_end("reuse") > waiting);
  CHECK(at_end("barrier") > waiting);
}

TEST_CASE("Spod-GT: clients of unlike chances keep a gap whatever the step is, and a memory of gradients closes it") {
  const auto gap = [](const std::string& mode, const std::string& eta) {
    const RunResult result = run_of("papers/spodgt/spodgt_rate.toml",
                                    {"data={name=\"quadratic\",dimension=20}", "model={name=\"quadratic\"}", "until=1600.5",
                                     "metrics.every_seconds=400.0", "algorithm.gradient_mode=" + mode, "algorithm.eta=" + eta,
                                     "protocol.compute_chance=[0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.0]"});
    REQUIRE(result.samples.back().gradient);
    return std::pow(result.samples.back().gradient->norm, 2);
  };
  const double wide = gap("paper", "0.02");
  CHECK(wide > 0.1);
  CHECK(gap("paper", "0.01") > 0.5 * wide);
  CHECK(gap("memory", "0.02") < 1e-6 * wide);
}

TEST_CASE("DEPOSITUM: without momentum longer runs come no nearer, with that of corollary 1 they do") {
  const auto stationarity = [](double steps, bool has_momentum) {
    const double root = std::sqrt(4 / (steps + 1));
    const RunResult result = run_of(
        "papers/depositum/depositum_rate.toml",
        {"topology.kind=complete", "until=" + std::to_string(steps + 0.5), "metrics.every_seconds=" + std::to_string(steps / 100),
         "algorithm.alpha=" + std::to_string(2 * root), "algorithm.gamma=" + std::to_string(has_momentum ? 1 - root : 0)});
    double sum = 0;
    for (const Sample& sample : result.samples) sum += sample.stationarity.value().per_client;
    return sum / static_cast<double>(result.samples.size());
  };
  CHECK(stationarity(3200, true) < 0.5 * stationarity(400, true));
  CHECK(stationarity(3200, false) > 0.5 * stationarity(400, false));
}

TEST_CASE("PaME: slow answers do not hold up who counts the first two of eight, and hold up who awaits all") {
  const auto computations = [](const std::string& nu, const std::string& delay) {
    const RunResult result = run_of(
        "papers/pame/pame_ex1.toml",
        {"topology={kind=\"random_regular\",degree=8}", "protocol.kind=pull", "clients.compute={law=\"poisson\",rate=1.0}",
         "until=100.5", "data.samples_per_client=50", "algorithm.nu=" + nu, "channel={kind=\"random\",delay=" + delay + "}"});
    return static_cast<double>(result.samples.back().header.counts.computations);
  };
  const std::string mild = "{law=\"exponential\",mean=0.2}", heavy = "{law=\"lognormal\",mean=1.0,sigma=2.0}";
  CHECK(computations("0.25", heavy) > 0.9 * computations("0.25", mild));
  CHECK(computations("1.0", heavy) < 0.6 * computations("1.0", mild));
}
