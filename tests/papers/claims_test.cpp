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
