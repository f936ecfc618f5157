// What clients start from, problems that are made up, and what is measured of them.
#include <doctest/doctest.h>

#include <fstream>
#include <limits>

#include "results/run_folder.hpp"
#include "tests/actors/support.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

// Six clients in rounds on a problem of PaME's, all samples at every gradient.
const std::string made_up_text = R"(
until = 200.5
precision = "float64"
[clients]
count = 6
[clients.compute]
law = "fixed"
period = 1.0
[topology]
kind = "complete"
[algorithm]
name = "depositum"
alpha = 0.1
beta = 1.0
gamma = 0.5
h = "l1"
h_lam = 0.01
[data]
name = "pame_regression"
dimension = 30
samples_per_client = 60
support = 0.1
[model]
name = "least_squares"
[metrics]
every_events = 0
every_seconds = 20.0
)";

config::Experiment made_up(const std::vector<std::string>& overrides = {}) { return experiment(overrides, made_up_text); }

// A .npy file with these numbers in one row.
class Numbers {
 public:
  explicit Numbers(const std::vector<double>& numbers) {
    std::string head = "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(numbers.size()) + ",), }";
    while ((10 + head.size() + 1) % 64 != 0) head += ' ';
    head += '\n';
    std::ofstream stream(path_, std::ios::binary);
    stream << "\x93NUMPY" << '\1' << '\0' << static_cast<char>(head.size()) << '\0' << head;
    stream.write(reinterpret_cast<const char*>(numbers.data()), static_cast<std::streamsize>(8 * numbers.size()));
  }
  ~Numbers() { std::filesystem::remove(path_); }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
  std::string key() const { return "model.init_from=\"" + path_.string() + '"'; }

 private:
  std::filesystem::path path_ = std::filesystem::temp_directory_path() / ("rubato-task-test-" + std::to_string(getpid()) + ".npy");
};

}  // namespace

TEST_CASE("a dry run refuses what the run refuses once it has read the data") {
  const Numbers three({1, 2, 3});
  const std::vector<config::Experiment> wrong = {
      made_up({three.key()}),
      experiment(digits_instead() + std::vector<std::string>{"data.partition.kind=dirichlet_by_class", "data.partition.alpha=0.1",
                                                             "data.partition.min_samples=5000"}),
      experiment(digits_instead() + std::vector<std::string>{"clients.count=4000"})};
  for (const config::Experiment& each : wrong) {
    RunOptions options = on_threads(1);
    const std::string refused = complaint<std::invalid_argument>([&] { run(each, options); });
    CAPTURE(refused);
    CHECK(refused != "nothing was thrown");
    options.dry_run = true;
    CHECK(complaint<std::invalid_argument>([&] { run(each, options); }) == refused);
  }
}

TEST_CASE("clients start from the numbers of model.init_from") {
  std::vector<double> numbers(30);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = 0.25 * static_cast<double>(i) - 3;
  const Numbers file(numbers);
  RunOptions options = on_threads(1);
  options.keeps_models = true;
  const RunResult result = run(made_up({file.key(), "until=0.5", "algorithm.h_lam=0"}), options);  // before the first move
  for (const auto& model : result.models) {
    REQUIRE(model.size() == 30 * sizeof(double));
    CHECK(std::memcmp(model.data(), numbers.data(), model.size()) == 0);
  }
}

TEST_CASE("a start of another size is refused with both sizes") {
  const Numbers file(std::vector<double>(31));
  const auto act = [&] { run(made_up({file.key()}), on_threads(1)); };
  CHECK(contains(complaint<std::invalid_argument>(act), "has 31 numbers; the model has 30"));
}

TEST_CASE("a start that is infinite in the precision of the experiment is refused with its place") {
  std::vector<double> numbers(30);
  numbers[7] = 1e39;
  const Numbers file(numbers);
  const auto act = [&] { run(made_up({file.key(), "precision=float32"}), on_threads(1)); };
  CHECK(contains(complaint<std::invalid_argument>(act), "number 7 of "));
}

TEST_CASE("every start is for every model that learns from data, but a network does not start at zero") {
  const auto start_of = [](const std::vector<std::string>& overrides) {
    return digests(run(experiment(digits_instead() + overrides + std::vector<std::string>{"until=0.01"}), on_threads(1)));
  };
  const std::string zero = start_of({"model.init=zero"}), he = start_of({"model.init=he"});
  CHECK(start_of({"model.init=default"}) == zero);
  CHECK(he != zero);
  CHECK(start_of({"model.init=xavier"}) != he);
  const auto act = [&] { start_of({"model.name=resnet20", "model.init=zero"}); };
  CHECK(contains(complaint<std::invalid_argument>(act), "a network that starts at 0 stays there"));
}

TEST_CASE("DEPOSITUM comes to rest on PaME's regression, and stationarity says so") {
  const RunResult result = run(made_up({"metrics.stationarity=true", "metrics.smoothness=3"}), on_threads(2));
  REQUIRE(result.samples.size() > 5);
  for (const Sample& sample : result.samples) {
    REQUIRE(sample.stationarity);
    const Stationarity& s = *sample.stationarity;
    CHECK(s.consensus == sample.consensus);
    CHECK(s.per_client == doctest::Approx((s.prox_gradient + 9 * s.consensus + s.tracking) / 6).epsilon(1e-12));
    CHECK(sample.consensus_mean == doctest::Approx(sample.consensus / 6).epsilon(1e-12));
  }
  MESSAGE("s/m from " << result.samples.front().stationarity->per_client << " to "
                      << result.samples.back().stationarity->per_client);
  CHECK(result.samples.back().stationarity->per_client < 1e-8 * result.samples.front().stationarity->per_client);
}

TEST_CASE("stationarity does not depend on the number of threads, and is not in the way of a run") {
  const std::string plain = digests(run(made_up(), on_threads(2)));
  const auto measured = made_up({"metrics.stationarity=true"});
  const RunResult one = run(measured, on_threads(1)), four = run(measured, on_threads(4));
  CHECK(digests(one) == plain);
  CHECK(digests(four) == plain);
  REQUIRE(one.samples.size() == four.samples.size());
  for (std::size_t i = 0; i < one.samples.size(); ++i)
    CHECK(one.samples[i].stationarity->per_client == four.samples[i].stationarity->per_client);
}

TEST_CASE("stationarity is refused where there is no tracker to compare, or not all clients are measured") {
  const auto refused = [](const config::Experiment& experiment) {
    return complaint<std::invalid_argument>([&] { run(experiment, on_threads(1)); });
  };
  CHECK(contains(refused(experiment({"metrics.stationarity=true"})), "only depositum has the tracker"));
  CHECK(contains(refused(made_up({"metrics.stationarity=true", "metrics.clients=2"})), "needs all clients"));
}

TEST_CASE("stationarity and the mean model's F1 are columns of metrics.csv, and nan is what was not measured") {
  const std::string head = metrics_csv_head();
  CHECK(contains(head, ",consensus_mean,f1_macro_mean_model,stationarity,joules,"));
  Sample sample;
  sample.f1_macro_mean_model = std::numeric_limits<double>::quiet_NaN();
  CHECK(contains(metrics_csv_row(sample), ",nan,nan,0,"));
  sample.f1_macro_mean_model = 0.25;
  sample.stationarity = Stationarity{.per_client = 0.5};
  CHECK(contains(metrics_csv_row(sample), ",0.25,0.5,0,"));
}

TEST_CASE("clients learn PaME's classification, and its solution is theirs together") {
  const RunResult result =
      run(made_up({"data.name=pame_logistic", "model.name=logistic", "data.support=0.5", "model.l2=0.001"}), on_threads(2));
  CHECK(result.samples.back().loss_mean_model < result.samples.front().loss_mean_model);
  CHECK(result.samples.back().accuracy_mean_model > 0.85);
  CHECK(result.samples.back().f1_macro_mean_model > 0.85);
}

TEST_CASE("made-up data and models go together or are refused") {
  const auto refused = [](const std::vector<std::string>& overrides) {
    return complaint<config::BadExperiment>([&] { made_up(overrides); });
  };
  CHECK(contains(refused({"model.name=svm"}), "needs the model least_squares"));
  CHECK(contains(refused({"data.name=pame_logistic"}), "needs the model logistic"));
  CHECK(contains(refused({"data.name=digits", "data.dimension=none", "data.samples_per_client=0"}), "model.name"));
}
