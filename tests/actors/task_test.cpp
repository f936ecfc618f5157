// What clients start from, problems that are made up, and what is measured of them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "experiment/build/expected_weights.hpp"
#include "experiment/build/learners.hpp"
#include "experiment/build/world.hpp"
#include "results/columns.hpp"
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

// A .npy file with these numbers in one row, or in as many as are named.
class Numbers {
 public:
  explicit Numbers(const std::vector<double>& numbers, std::size_t rows = 0) {
    const std::string shape =
        rows == 0 ? std::to_string(numbers.size()) + "," : std::to_string(rows) + ", " + std::to_string(numbers.size() / rows);
    std::string head = "{'descr': '<f8', 'fortran_order': False, 'shape': (" + shape + "), }";
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

// The learners of a run, and the final model of each client as it hands it out.
struct Ended {
  explicit Ended(const config::Experiment& of, unsigned threads = 2)
      : learners{make_learners<double>(of, {}, OwnParts<double>{})}, result{[&] {
          RunOptions options = on_threads(threads);
          options.keeps_models = true;
          return run(of, options);
        }()} {
    for (const auto& bytes : result.models) {
      Vector<double> model(static_cast<Index>(bytes.size() / sizeof(double)));
      std::memcpy(model.data(), bytes.data(), bytes.size());
      models.push_back(std::move(model));
    }
  }

  const Sample& last() const { return result.samples.back(); }
  Vector<double> mean() const {
    Vector<double> sum = Vector<double>::Zero(models.front().size());
    for (const Vector<double>& model : models) sum += model;
    return sum / static_cast<double>(models.size());
  }
  double loss(std::size_t client, const Vector<double>& x) {
    Vector<double> g(x.size());
    return learners.learners[client]->gradient(view(x), {}, view(g), scratch);
  }
  // The mean of all losses, with their l2.
  double objective(const Vector<double>& x) {
    double sum = 0;
    for (std::size_t i = 0; i < learners.learners.size(); ++i) sum += loss(i, x);
    return sum / static_cast<double>(learners.learners.size());
  }
  // By central differences.
  double gradient_norm(const Vector<double>& x) {
    constexpr double h = 1e-5;
    Vector<double> g(x.size());
    for (Index i = 0; i < x.size(); ++i) {
      Vector<double> up = x, down = x;
      up[i] += h, down[i] -= h;
      g[i] = (objective(up) - objective(down)) / (2 * h);
    }
    return g.norm();
  }

  ClientLearners<double> learners;
  RunResult result;
  std::vector<Vector<double>> models;
  Scratch<double> scratch;
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

// ---- what the papers plot --------------------------------------------------------------------------------------------

TEST_CASE("training loss and accuracy are those of each client's own model, and of their mean, on the client's own rows") {
  Ended ended(made_up({"data.name=pame_logistic", "model.name=logistic", "data.support=0.5", "model.l2=0.01", "algorithm.h=none",
                       "data.test_per_client=200", "metrics.training=true", "until=40.5"}));
  REQUIRE(ended.last().training);
  const Vector<double> mean = ended.mean();
  double loss = 0, accuracy = 0, loss_of_mean = 0, accuracy_of_mean = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    const auto score = [&](const Vector<double>& x) {
      return ended.learners.learners[i]->score(view(x), Part::train, ended.scratch);
    };
    loss += score(ended.models[i]).mean_loss() / 6, accuracy += score(ended.models[i]).accuracy() / 6;
    loss_of_mean += score(mean).mean_loss() / 6, accuracy_of_mean += score(mean).accuracy() / 6;
  }
  const TrainingScores& training = *ended.last().training;
  CHECK(training.loss_mean == doctest::Approx(loss).epsilon(1e-12));
  CHECK(training.accuracy_mean == doctest::Approx(accuracy).epsilon(1e-12));
  CHECK(training.loss_mean_model == doctest::Approx(loss_of_mean).epsilon(1e-12));
  CHECK(training.accuracy_mean_model == doctest::Approx(accuracy_of_mean).epsilon(1e-12));
  CHECK(training.loss_mean_model != ended.last().loss_mean_model);  // the test rows are others
  CHECK_FALSE(ended.last().gradient);
}

TEST_CASE("the gradient norm and the objective at the mean model are those of central differences") {
  Ended ended(made_up({"data.name=pame_logistic", "model.name=logistic", "data.support=0.5", "model.l2=0.01",
                       "algorithm.h_lam=0.001", "metrics.gradient_norm=true", "until=10.5"}));
  REQUIRE(ended.last().gradient);
  const Vector<double> mean = ended.mean();
  CHECK(ended.last().gradient->norm == doctest::Approx(ended.gradient_norm(mean)).epsilon(1e-6));
  CHECK(ended.last().gradient->norm > 1e-3);
  CHECK(ended.last().gradient->objective == doctest::Approx(ended.objective(mean) + 0.001 * mean.lpNorm<1>()).epsilon(1e-12));
  CHECK(ended.result.samples.front().gradient->objective > ended.last().gradient->objective);
}

TEST_CASE("the gradient norm at the mean weighted by phi is that at the models' mean by expected weights") {
  const auto sporadic = made_up({"algorithm.name=spodgt", "algorithm.eta=0.02", "protocol.kind=rounds", "topology.kind=star",
                                 "protocol.link_chance={ law = \"uniform\", low = 0.3, high = 1.0 }", "metrics.gradient_norm=true",
                                 "metrics.mean_weights=phi", "until=15.5"});
  Ended ended(sporadic);
  REQUIRE(ended.last().gradient_weighted);
  const std::vector<double> phi = mean_weights(sporadic, {});
  // phi' A = phi' of the expected matrix, entry by entry.
  const Graph graph = make_graph(sporadic);
  const MixingMatrix a = expected_weights(graph, sporadic, resolve_algorithm(sporadic), link_chances(sporadic, graph), false);
  for (std::uint32_t j = 0; j < 6; ++j) {
    double sum = 0;
    for (std::uint32_t i = 0; i < 6; ++i) sum += phi[i] * a.at({i}, {j});
    CHECK(sum == doctest::Approx(phi[j]).epsilon(1e-12));
  }
  CHECK(is_row_stochastic(a));
  Vector<double> weighted = Vector<double>::Zero(30);
  for (std::size_t i = 0; i < 6; ++i) weighted += phi[i] * ended.models[i];
  CHECK(*ended.last().gradient_weighted == doctest::Approx(ended.gradient_norm(weighted)).epsilon(1e-5));
  CHECK(*ended.last().gradient_weighted != doctest::Approx(ended.last().gradient->norm).epsilon(1e-3));
}

TEST_CASE("trackers that agree have no distance, and a run without exchanges pulls them apart") {
  const RunResult apart = run(made_up({"protocol.kind=rounds", "algorithm.T0=1000", "metrics.tracked=true"}), on_threads(2));
  const RunResult together = run(made_up({"protocol.kind=rounds", "metrics.tracked=true"}), on_threads(2));
  for (const RunResult* result : {&apart, &together}) {
    REQUIRE(result->samples.back().consensus_y);
    REQUIRE(result->samples.back().consensus_nu);
    CHECK_FALSE(result->samples.back().stationarity);
  }
  CHECK(*apart.samples.front().consensus_y == 0);  // y = 0 at the start
  CHECK(*apart.samples.back().consensus_y > 1e-3);
  CHECK(*together.samples.back().consensus_y < 1e-6 * *apart.samples.back().consensus_y);
  CHECK(*together.samples.back().consensus_nu < 1e-6 * *apart.samples.back().consensus_y);
}

TEST_CASE("the distance of trackers that never meet is that of the clients' gradients") {
  // Without an exchange y_i = beta g_i(x_i): with beta = 1 the distance of the gradients at the last models.
  Ended ended(made_up({"protocol.kind=rounds", "algorithm.T0=1000", "metrics.tracked=true", "until=30.5"}));
  ConsensusSum sum;
  for (std::size_t i = 0; i < 6; ++i) {
    Vector<double> g(30);
    ended.learners.learners[i]->gradient(read_only(ended.models[i]), {}, view(g), ended.scratch);
    sum.add(read_only(g));
  }
  CHECK(*ended.last().consensus_y == doctest::Approx(sum.squared_sum()).epsilon(1e-9));
}

TEST_CASE("with beta below 1 nu never agrees with the gradient, and nu / beta does") {
  const std::vector<std::string> half = {"algorithm.beta=0.5", "algorithm.alpha=0.2",  "metrics.stationarity=true",
                                         "topology.kind=ring", "protocol.kind=rounds", "until=400.5"};
  const RunResult as_is = run(made_up(half), on_threads(2));
  const RunResult over = run(made_up(half + std::vector<std::string>{"metrics.tracker=over_beta"}), on_threads(2));
  const double plain = as_is.samples.back().stationarity->tracking, scaled = over.samples.back().stationarity->tracking;
  CHECK(plain > 1e-4);
  CHECK(scaled < 1e-6 * plain);
  CHECK(digests(as_is) == digests(over));
}

TEST_CASE("metrics.csv has all that the third figure of DEPOSITUM's paper shows, and the parts make up the whole") {
  const RunResult result = run(made_up({"metrics.stationarity=true", "metrics.training=true", "metrics.gradient_norm=true",
                                        "metrics.smoothness=2.0", "until=40.5"}),
                               on_threads(2));
  const std::string head = metrics_csv_head();
  for (const char* column : {"train_loss_mean_model", "objective", "stationarity_prox_gradient", "stationarity_tracking",
                             "consensus", "consensus_y", "consensus_nu"}) {
    CAPTURE(column);
    CHECK(contains(head, std::string(",") + column));
    for (const Sample& sample : result.samples) CHECK(std::isfinite(to_double(find_sample_column(column)->read(sample))));
  }
  const Sample& last = result.samples.back();
  const auto number = [&](const char* name) { return to_double(find_sample_column(name)->read(last)); };
  CHECK(number("stationarity") ==
        doctest::Approx((number("stationarity_prox_gradient") + 4 * number("consensus") + number("stationarity_tracking")) / 6)
            .epsilon(1e-12));
}

TEST_CASE("what is measured does not depend on the number of threads, and is not in the way of a run") {
  const std::vector<std::string> all = {"metrics.training=true", "metrics.gradient_norm=true", "metrics.mean_weights=rows",
                                        "metrics.tracked=true"};
  const std::string plain = digests(run(made_up(), on_threads(2)));
  const RunResult one = run(made_up(all), on_threads(1)), four = run(made_up(all), on_threads(4));
  CHECK(digests(one) == plain);
  CHECK(digests(four) == plain);
  REQUIRE(one.samples.size() == four.samples.size());
  for (std::size_t i = 0; i < one.samples.size(); ++i) CHECK(metrics_csv_row(one.samples[i]) == metrics_csv_row(four.samples[i]));
}

TEST_CASE("a sample before each unification sees how far apart the models were, and changes nothing") {
  const std::vector<std::string> more{"unification.period=2.0", "until=9.0", "metrics.every_events=0", "precision=float64"};
  const RunResult plain = run(experiment(more), on_threads(2));
  const RunResult seen = run(experiment(more + std::vector<std::string>{"metrics.before_unifications=true"}), on_threads(2));
  CHECK(digests(seen) == digests(plain));
  REQUIRE(seen.samples.size() == plain.samples.size() + 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(seen.samples[i].header.at == from_seconds(2.0 * static_cast<double>(i + 1)) + Time{});
    CHECK(seen.samples[i].consensus > 0);
  }
}

TEST_CASE("what is asked of gradients and trackers is refused where it means nothing") {
  const auto refused = [](const std::vector<std::string>& overrides) {
    return complaint<std::invalid_argument>([&] { run(made_up(overrides), on_threads(1)); });
  };
  CHECK(contains(refused({"metrics.gradient_norm=true", "metrics.clients=2"}), "needs all clients"));
  CHECK(contains(refused({"metrics.gradient_norm=true", "model.clip=1.0"}), "leave model.clip and model.weight_decay out"));
  CHECK(contains(refused({"metrics.mean_weights=phi"}), "needs metrics.gradient_norm = true"));
  CHECK(contains(refused({"metrics.before_unifications=true"}), "there are none without unification.period"));
  CHECK(contains(refused({"metrics.before_unifications=true", "unification.period=2", "protocol.kind=rounds"}),
                 "a round ends with its unification"));
  CHECK(contains(refused({"metrics.before_unifications=true", "unification.period=2", "clock=wall"}), "use clock = \"virtual\""));
  CHECK(contains(refused({"metrics.tracker=over_beta"}), "needs metrics.stationarity = true"));
  CHECK(contains(refused({"algorithm.name=dpsgd", "metrics.tracked=true"}), "and only ab, depositum, dsgt, g_push_pull,"));
  CHECK(contains(
      refused({"algorithm.name=draco", "algorithm.self_apply=true", "metrics.gradient_norm=true", "metrics.mean_weights=phi"}),
      "does not mix models with weights whose rows sum to one"));
  CHECK(contains(refused({"metrics.stop.metric=objective", "metrics.stop.below=1.0"}), "needs metrics.gradient_norm"));
  CHECK(contains(refused({"metrics.stop.metric=loss_mean"}), "metrics.stop.below"));
  CHECK(contains(refused({"metrics.stop.below=1.0"}), "needs metric"));
  CHECK(contains(refused({"metrics.stop.metric=loss_mean", "metrics.stop.below=1.0", "metrics.stop.window=1"}),
                 "must be at least 2"));
}

TEST_CASE("chances that were drawn stand in clients.csv and links.csv") {
  RunOptions options = on_threads(1);
  options.counts_links = true;
  const auto sporadic = made_up({"algorithm.name=spodgt", "protocol.kind=rounds", "until=5.5", "topology.kind=ring",
                                 "protocol.compute_chance={ law = \"beta\", a = 0.5, b = 0.5 }",
                                 "protocol.link_chance={ law = \"beta\", a = 0.5, b = 0.5 }", "protocol.least_chance=0.125"});
  const RunResult result = run(sporadic, options);
  CHECK(result.compute_chances == compute_chances(sporadic));
  CHECK(result.link_chances == link_chances(sporadic, make_graph(sporadic)));
  CHECK(*std::ranges::min_element(result.link_chances) >= 0.125);
  CHECK(contains(clients_csv(result), ",gradients,compute_chance\n"));
  CHECK(contains(links_csv(result), ",cosine_mean,link_chance\n"));
  const std::string chance = links_csv(result).substr(0, links_csv(result).find('\n', links_csv(result).find('\n') + 1));
  CHECK(std::stod(chance.substr(chance.rfind(',') + 1)) == result.link_chances[0]);
  CHECK(contains(clients_csv(run(made_up({"until=1.5"}), on_threads(1))), ",nan\n"));
}

TEST_CASE("K of K-GT by mean_inverse_p is the same run as with that number") {
  const std::vector<std::string> common = {"algorithm.name=kgt_directed", "protocol.kind=rounds", "algorithm.eta=0.02",
                                           "until=30.5", "protocol.compute_chance={ law = \"uniform\", low = 0.2, high = 0.6 }"};
  const auto by_word = made_up(common + std::vector<std::string>{"algorithm.local_steps=mean_inverse_p"});
  const std::int64_t k = mean_inverse_chance(by_word);
  CHECK(k >= 2);
  const auto by_number = made_up(common + std::vector<std::string>{"algorithm.local_steps=" + std::to_string(k)});
  CHECK(digests(run(by_word, on_threads(2))) == digests(run(by_number, on_threads(2))));
  const auto refused = [](const std::vector<std::string>& more) {
    return complaint<std::invalid_argument>([&] { run(made_up(more), on_threads(1)); });
  };
  CHECK(
      contains(refused({"algorithm.name=kgt_directed", "algorithm.local_steps=mean_inverse_p"}), "needs protocol.compute_chance"));
  CHECK(contains(refused({"algorithm.name=kgt_directed", "algorithm.local_steps=mean"}),
                 "must be a whole number, or mean_inverse_p"));
}

TEST_CASE("clients may begin apart: drawn for each, in rows of a file, or in the centres of their losses") {
  const auto first_models = [](const config::Experiment& of) {
    RunOptions options = on_threads(1);
    options.keeps_models = true;
    return run(of, options).models;
  };
  const std::vector<std::string> still = {"until=0.5", "clients.compute.phase=1.0"};
  std::vector<double> numbers(6 * 30);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i);
  const Numbers rows(numbers, 6);
  const auto from_rows = first_models(made_up(still + std::vector<std::string>{rows.key(), "model.starts=each"}));
  for (std::size_t i = 0; i < 6; ++i) CHECK(std::memcmp(from_rows[i].data(), numbers.data() + 30 * i, 30 * sizeof(double)) == 0);
  const auto refused = [](const std::vector<std::string>& more) {
    return complaint<std::invalid_argument>([&] { run(made_up(more), on_threads(1)); });
  };
  const Numbers few(std::vector<double>(5 * 30), 5);
  CHECK(contains(refused({few.key(), "model.starts=each"}), "with 6 rows"));
  CHECK(contains(refused({"model.starts=each"}), "nothing is drawn"));
  CHECK(contains(refused({"model.starts=centre"}), "needs data.name = \"quadratic\""));
  const auto centred = made_up(still + std::vector<std::string>{"data.name=quadratic", "data.dimension=3", "model.name=quadratic",
                                                                "algorithm.name=decefl", "model.starts=centre",
                                                                "protocol.kind=rounds", "metrics.gradient_norm=true"});
  const RunResult result = run(centred, on_threads(1));
  CHECK(result.samples.front().loss_mean == 0);  // each in the middle of its own
  CHECK(result.samples.front().consensus > 0);
  CHECK(result.samples.front().gradient->norm < 1e-12);  // of 1/2 |x - c_i|^2 the mean of the centres is the minimum
}

TEST_CASE("each client's drawn start is its own, and another seed draws others") {
  const auto digits_from = [](const std::vector<std::string>& more) {
    return run(experiment(digits_instead() + std::vector<std::string>{"until=0.01", "model.init=he"} + more), on_threads(1));
  };
  const RunResult each = digits_from({"model.starts=each"}), one = digits_from({});
  CHECK(each.samples.front().consensus > 0);
  CHECK(one.samples.front().consensus == 0);
  CHECK(digests(each) == digests(digits_from({"model.starts=each"})));
  CHECK(digests(each) != digests(digits_from({"model.starts=each", "seed=4"})));
}

TEST_CASE("laplacian weights take the tau of the file, and one that is too small is refused") {
  const auto lambda = [](const std::vector<std::string>& more) {
    const config::Experiment of = made_up(std::vector<std::string>{"algorithm.name=decefl", "protocol.kind=rounds",
                                                                   "topology.kind=ring", "topology.mixing=laplacian"} +
                                          more);
    return weights_of(make_graph(of), make_graph(of), of, resolve_algorithm(of), false).front();
  };
  CHECK(lambda({}) == doctest::Approx(1.0 / 3));
  CHECK(lambda({"topology.tau=4.0"}) == doctest::Approx(0.25));
  CHECK(contains(complaint<std::invalid_argument>([&] { lambda({"topology.tau=1.5"}); }), "tau must be greater than"));
}
