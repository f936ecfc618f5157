// Models learn real data, in plain descent without any client around them.
#include <doctest/doctest.h>

#include <cstdlib>
#include <numeric>

#include "learning/data/named_sets.hpp"
#include "learning/models/dataset_learner.hpp"
#include "learning/models/model_catalogue.hpp"
#include "tests/support/large_data.hpp"

using namespace rubato;
using test::is_here;
using test::large_data;

namespace {

struct Training {
  int steps;
  float step;
  std::size_t batch = 16;
};

Score train_and_test(const std::string& set, const std::filesystem::path& data_dir, const ModelOptions& options,
                     const Training& training) {
  const auto dataset = load_dataset<float>(set, data_dir);
  Rows rows(dataset->train.size());
  std::iota(rows.begin(), rows.end(), 0u);
  const DatasetLearner<float> learner(make_model<float>(options, dataset->shape, dataset->classes), dataset, rows);
  Stream init(1, {0}, Purpose::init), batches(1, {0}, Purpose::batch);
  Scratch<float> scratch;
  Vector<float> x(learner.dimension());
  learner.initialise(view(x), init);
  std::vector<std::uint32_t> picks(training.batch);
  for (int k = 0; k < training.steps; ++k) {
    for (std::uint32_t& pick : picks) pick = static_cast<std::uint32_t>(batches.below(learner.samples()));
    const Chance chance{.seed = 1, .client = {0}, .number = static_cast<std::uint64_t>(k)};
    const float rest = 1 - static_cast<float>(k) / static_cast<float>(training.steps);
    learner.descend(view(x), Picks(picks).with(chance), training.step * rest, scratch);
  }
  const Score score = learner.score(read_only(x), Part::test, scratch);
  MESSAGE(set << ", " << options.name << ": accuracy " << score.accuracy() << ", macro F1 " << score.macro_f1());
  return score;
}

}  // namespace

TEST_CASE("softmax learns the digits to more than 90 percent") {
  const Score score = train_and_test("digits", {}, {.name = "softmax"}, {3000, 0.1f});
  CHECK(score.accuracy() > 0.9);
  CHECK(score.macro_f1() > 0.9);
}

TEST_CASE("a multilayer perceptron learns the digits to more than 93 percent, with dropout too") {
  CHECK(train_and_test("digits", {}, {.name = "mlp", .hidden = {64}}, {5000, 0.1f}).accuracy() > 0.93);
  CHECK(train_and_test("digits", {}, {.name = "mlp", .hidden = {64}, .dropout = 0.3}, {5000, 0.1f}).accuracy() > 0.93);
}

TEST_CASE("every other activation, smoothed labels and both hinge losses learn the digits to more than 88 percent") {
  for (const Activation activation : {Activation::sigmoid, Activation::tanh})
    CHECK(train_and_test("digits", {}, {.name = "mlp", .hidden = {64}, .activation = activation}, {5000, 0.3f}).accuracy() > 0.88);
  CHECK(train_and_test("digits", {}, {.name = "softmax", .label_smoothing = 0.1}, {3000, 0.1f}).accuracy() > 0.88);
  CHECK(train_and_test("digits", {}, {.name = "svm"}, {3000, 0.2f}).accuracy() > 0.88);
  CHECK(train_and_test("digits", {}, {.name = "svm", .hinge = HingeKind::squared}, {3000, 0.2f}).accuracy() > 0.88);
}

TEST_CASE("softmax learns MNIST to more than 91 percent") {
  if (is_here("mnist")) CHECK(train_and_test("mnist", large_data(), {.name = "softmax"}, {15'000, 0.2f, 32}).accuracy() > 0.91);
}

TEST_CASE("a multilayer perceptron learns MNIST to more than 97 percent") {
  if (is_here("mnist"))
    CHECK(train_and_test("mnist", large_data(), {.name = "mlp", .hidden = {128, 64}}, {9'000, 0.2f, 64}).accuracy() > 0.97);
}

TEST_CASE("support vector machines and linear regression learn MNIST to more than 90 and 80 percent") {
  if (!is_here("mnist")) return;
  CHECK(train_and_test("mnist", large_data(), {.name = "svm"}, {10'000, 0.2f, 32}).accuracy() > 0.9);
  CHECK(train_and_test("mnist", large_data(), {.name = "svm", .hinge = HingeKind::squared}, {10'000, 0.1f, 32}).accuracy() > 0.9);
  CHECK(train_and_test("mnist", large_data(), {.name = "linear"}, {10'000, 0.01f, 32}).accuracy() > 0.8);
}

TEST_CASE("linear models of two classes learn a9a to more than 84 percent") {
  if (!is_here("a9a")) return;
  for (const char* model : {"logistic", "softmax", "svm", "linear"})
    CHECK(train_and_test("a9a", large_data(), {.name = model}, {10'000, 0.1f, 32}).accuracy() > 0.84);
}

TEST_CASE("logistic regression tells breast cancers apart in more than 93 percent of the cases") {
  if (is_here("breast-cancer"))
    CHECK(train_and_test("breast-cancer", large_data(), {.name = "logistic"}, {3000, 0.1f}).accuracy() > 0.93);
}

TEST_CASE("a network of two convolutions learns MNIST to more than 98.5 percent") {
  if (!is_here("mnist")) return;
  const ModelOptions two_convolutions{
      .name = "cnn", .layers = {"conv 16 5 same", "relu", "maxpool 2", "conv 32 5 same", "relu", "maxpool 2", "dense 64", "relu"}};
  CHECK(train_and_test("mnist", large_data(), two_convolutions, {2500, 0.15f, 64}).accuracy() > 0.985);
}
