#include "learning/models/dataset_learner.hpp"

#include <doctest/doctest.h>

#include <numeric>

#include "tests/learning/support.hpp"

using namespace rubato;
using test::contains;

namespace {

std::shared_ptr<Dataset<double>> random_dataset(std::size_t train, std::size_t test) {
  const auto dataset = std::make_shared<Dataset<double>>();
  dataset->name = "random";
  dataset->classes = 3;
  dataset->train = {test::random_matrix<double>(static_cast<Index>(train), 4, 1), test::random_labels(train, 3, 2)};
  dataset->test = {test::random_matrix<double>(static_cast<Index>(test), 4, 3), test::random_labels(test, 3, 4)};
  return dataset;
}

Rows all_rows(std::size_t size) {
  Rows rows(size);
  std::iota(rows.begin(), rows.end(), 0u);
  return rows;
}

/// The softmax model, for whoever has little memory: it refuses batches of more than seven rows and notes their blocks.
class SmallSteps final : public Model<double> {
 public:
  Index dimension() const override { return model_->dimension(); }
  Index inputs() const override { return model_->inputs(); }
  std::uint32_t classes() const override { return model_->classes(); }
  Index block_rows() const override { return 7; }
  double gradient(ConstVectorRef<double> x, const Batch<double>& batch, VectorRef<double> g,
                  Scratch<double>& scratch) const override {
    CHECK(batch.inputs.rows() <= 7);
    REQUIRE(batch.chance.has_value());
    blocks.push_back(batch.chance->block);
    return model_->gradient(x, batch, g, scratch);
  }
  void logits(ConstVectorRef<double> x, ConstMatrixRef<double> inputs, MatrixRef<double> out,
              Scratch<double>& scratch) const override {
    model_->logits(x, inputs, out, scratch);
  }

  mutable std::vector<std::uint32_t> blocks;

 private:
  std::shared_ptr<const Model<double>> model_ = make_softmax<double>(4, 3);
};

}  // namespace

TEST_CASE("a model that takes few rows gets larger batches in blocks, each with a chance of its own") {
  const auto dataset = random_dataset(40, 5);
  const auto model = std::make_shared<SmallSteps>();
  const DatasetLearner<double> learner(model, dataset, all_rows(40)), whole(make_softmax<double>(4, 3), dataset, all_rows(40));
  const Vector<double> x = test::random_vector<double>(learner.dimension(), 5);
  Vector<double> g(x.size()), expected(x.size());
  Scratch<double> scratch;
  const std::vector<std::uint32_t> rows{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
  const Picks picks = Picks(rows).with({.seed = 1, .number = 2});
  learner.gradient(read_only(x), picks, view(g), scratch);
  whole.gradient(read_only(x), picks, view(expected), scratch);
  CHECK((g - expected).norm() <= 1e-12 * expected.norm());
  CHECK(model->blocks == std::vector<std::uint32_t>{0, 1, 2});
  Vector<double> stepped = x;
  learner.descend(view(stepped), picks, 0.5, scratch);
  CHECK((stepped - (x - 0.5 * expected)).norm() <= 1e-12);
}

TEST_CASE("picks count in the client's own rows") {
  const auto dataset = random_dataset(10, 5);
  const auto model = make_softmax<double>(4, 3);
  const DatasetLearner<double> two(model, dataset, {9, 4}), one(model, dataset, {4});
  const Vector<double> x = test::random_vector<double>(two.dimension(), 5);
  Vector<double> g(x.size()), expected(x.size());
  Scratch<double> scratch;
  const std::vector<std::uint32_t> second{1};
  CHECK(two.samples() == 2);
  CHECK(two.gradient(read_only(x), second, view(g), scratch) == one.gradient(read_only(x), {}, view(expected), scratch));
  CHECK(g == expected);
}

TEST_CASE("a gradient over more samples than are gathered at once is their mean") {
  const auto dataset = random_dataset(2500, 5);
  const auto model = make_softmax<double>(4, 3, 0.1);
  const DatasetLearner<double> learner(model, dataset, all_rows(2500));
  const Vector<double> x = test::random_vector<double>(learner.dimension(), 5);
  Vector<double> g(x.size()), expected(x.size()), stepped = x;
  Scratch<double> scratch;
  const double loss = learner.gradient(read_only(x), {}, view(g), scratch);
  const Matrix<double> all = dataset->train.features.matrix();
  const double whole = model->gradient(read_only(x), {read_only(all), dataset->train.labels}, view(expected), scratch);
  CHECK(loss == doctest::Approx(whole).epsilon(1e-12));
  CHECK((g - expected).norm() <= 1e-12 * expected.norm());
  learner.descend(view(stepped), {}, 0.5, scratch);
  CHECK((stepped - (x - 0.5 * g)).norm() <= 1e-12);
}

TEST_CASE("a learner is scored on its own rows, on its own test rows, or on the whole test part") {
  const auto dataset = random_dataset(1500, 40);
  const auto model = make_softmax<double>(4, 3);
  const DatasetLearner<double> shared(model, dataset, all_rows(1500));
  const DatasetLearner<double> own(model, dataset, {1, 2}, std::make_shared<const Rows>(all_rows(40)));
  const DatasetLearner<double> few(model, dataset, {1, 2}, std::make_shared<const Rows>(Rows{7}));
  const Vector<double> x = test::random_vector<double>(shared.dimension(), 5);
  Scratch<double> scratch;
  CHECK(shared.score(read_only(x), Part::train, scratch).samples == 1500);
  CHECK(own.score(read_only(x), Part::train, scratch).samples == 2);
  CHECK(few.score(read_only(x), Part::test, scratch).samples == 1);
  const Score whole = shared.score(read_only(x), Part::test, scratch), listed = own.score(read_only(x), Part::test, scratch);
  CHECK(whole.by_class == listed.by_class);
  CHECK(whole.loss_sum == doctest::Approx(listed.loss_sum).epsilon(1e-12));
}

TEST_CASE("steps in the steady state use the scratch memory they have") {
  const auto dataset = random_dataset(100, 5);
  const DatasetLearner<double> learner(make_mlp<double>(4, {8, 8}, 3), dataset, all_rows(100));
  Vector<double> x = test::random_vector<double>(learner.dimension(), 5);
  const std::vector<std::uint32_t> picks{1, 2, 3, 4};
  Scratch<double> scratch;
  learner.descend(view(x), picks, 0.1, scratch);
  const std::size_t capacity = scratch.capacity();
  for (int i = 0; i < 100; ++i) learner.descend(view(x), picks, 0.1, scratch);
  CHECK(scratch.capacity() == capacity);
}

TEST_CASE("a learner that does not fit its data is refused with a sentence") {
  const auto dataset = random_dataset(10, 5);
  const auto model = make_softmax<double>(4, 3);
  const auto build = [&](std::shared_ptr<const Model<double>> m, Rows rows, std::shared_ptr<const Rows> test_rows) {
    return test::complaint([&] { DatasetLearner<double>(m, dataset, rows, test_rows); });
  };
  CHECK(contains(build(model, {}, nullptr), "a client has no training rows"));
  CHECK(contains(build(model, {10}, nullptr), "the training rows of a client name row 10; the data have 10 rows"));
  CHECK(contains(build(model, {0}, std::make_shared<const Rows>(Rows{5})), "the test rows of a client name row 5"));
  CHECK(contains(build(make_softmax<double>(5, 3), {0}, nullptr), "the model takes 5 numbers a sample"));
  CHECK(contains(build(make_softmax<double>(4, 2), {0}, nullptr), "the model knows 2 classes"));
}
