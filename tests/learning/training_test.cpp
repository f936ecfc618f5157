// Models learn real data, in plain descent without any client around them.
#include <doctest/doctest.h>

#include <cstdlib>
#include <numeric>

#include "learning/dataset_learner.hpp"
#include "learning/named_sets.hpp"

using namespace rubato;

namespace {

Score train_and_test(const std::string& set, const std::filesystem::path& data_dir,
                     std::shared_ptr<const Model<float>> model, int steps, float step) {
  const auto dataset = load_dataset<float>(set, data_dir);
  Rows rows(dataset->train.size());
  std::iota(rows.begin(), rows.end(), 0u);
  const DatasetLearner<float> learner(model, dataset, rows);
  Stream init(1, {0}, Purpose::init), batches(1, {0}, Purpose::batch);
  Scratch<float> scratch;
  Vector<float> x(learner.dimension());
  learner.initialise(view(x), init);
  std::vector<std::uint32_t> picks(16);
  for (int k = 0; k < steps; ++k) {
    for (std::uint32_t& pick : picks) pick = static_cast<std::uint32_t>(batches.below(learner.samples()));
    learner.descend(view(x), picks, step, scratch);
  }
  return learner.score(read_only(x), Part::test, scratch);
}

// The folder of the large data sets: RUBATO_DATA, or ../shared/data where this project was made.
std::filesystem::path large_data() {
  if (const char* const chosen = std::getenv("RUBATO_DATA")) return chosen;
  return std::filesystem::path(RUBATO_SOURCE_DIR) / "../shared/data";
}

}  // namespace

TEST_CASE("softmax learns the digits to more than 90 percent") {
  const Score score = train_and_test("digits", {}, make_softmax<float>(64, 10), 3000, 0.1f);
  MESSAGE("digits, softmax: accuracy " << score.accuracy() << ", macro F1 " << score.macro_f1());
  CHECK(score.accuracy() > 0.9);
  CHECK(score.macro_f1() > 0.9);
}

TEST_CASE("a multilayer perceptron learns the digits to more than 93 percent") {
  const Score score = train_and_test("digits", {}, make_mlp<float>(64, {64}, 10), 5000, 0.1f);
  MESSAGE("digits, mlp: accuracy " << score.accuracy());
  CHECK(score.accuracy() > 0.93);
}

TEST_CASE("softmax learns MNIST to more than 85 percent in 3000 steps") {
  if (find_dataset("mnist", large_data()).empty()) {
    MESSAGE("skipped: MNIST is neither in RUBATO_DATA nor in ../shared/data");
    return;
  }
  const Score score = train_and_test("mnist", large_data(), make_softmax<float>(784, 10), 3000, 0.1f);
  MESSAGE("mnist, softmax: accuracy " << score.accuracy());
  CHECK(score.accuracy() > 0.85);
}
