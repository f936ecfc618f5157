#include "learning/metrics.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/learning/support.hpp"

using namespace rubato;

TEST_CASE("accuracy and macro F1 are those of the golden confusion") {
  // golden/metrics_a.json: 20 samples of 3 classes
  const std::vector<Label> labels{1, 2, 2, 0, 1, 0, 0, 0, 2, 2, 2, 0, 1, 2, 1, 2, 0, 1, 0, 1};
  const std::vector<Label> predictions{0, 2, 1, 2, 0, 0, 2, 2, 2, 1, 1, 2, 1, 0, 0, 1, 2, 2, 2, 1};
  Score score = empty_score(3);
  for (std::size_t i = 0; i < labels.size(); ++i) score.count(labels[i], predictions[i]);
  CHECK(score.accuracy() == 0.25);
  CHECK(score.macro_f1() == doctest::Approx(0.25).epsilon(1e-12));
  CHECK(score.f1_per_class()[0] == doctest::Approx(1.0 / 6).epsilon(1e-12));
  CHECK(score.f1_per_class()[1] == doctest::Approx(1.0 / 3).epsilon(1e-12));
  CHECK(score.f1_per_class()[2] == doctest::Approx(0.25).epsilon(1e-12));
}

TEST_CASE("an absent class counts as 0 in macro F1") {
  Score score = empty_score(4);
  score.count(0, 0);
  score.count(1, 1);
  CHECK(score.accuracy() == 1);
  CHECK(score.macro_f1() == 0.5);
}

TEST_CASE("scores of disjoint samples add up, also onto an empty score") {
  Score first = empty_score(2), second = empty_score(2);
  first.count(0, 1);
  first.loss_sum = 2;
  second.count(1, 1);
  second.loss_sum = 4;
  Score sum;
  sum += first;
  sum += second;
  CHECK(sum.samples == 2);
  CHECK(sum.correct == 1);
  CHECK(sum.mean_loss() == 3);
  REQUIRE(sum.by_class.size() == 2);
  CHECK((sum.by_class[0] == Score::ClassCounts{.hits = 0, .of_class = 1, .as_class = 0}));
  CHECK((sum.by_class[1] == Score::ClassCounts{.hits = 1, .of_class = 1, .as_class = 2}));
}

TEST_CASE("a score without samples is 0 and not a division by zero") {
  CHECK(Score{}.accuracy() == 0);
  CHECK(Score{}.mean_loss() == 0);
  CHECK(Score{}.macro_f1() == 0);
}

TEST_CASE("mean and population deviation are those of the golden client accuracies") {
  const std::vector<double> accuracies{0.81, 0.79, 0.84, 0.9};
  CHECK(mean(accuracies) == doctest::Approx(0.835).epsilon(1e-12));
  CHECK(population_deviation(accuracies) == doctest::Approx(0.04153311931459036).epsilon(1e-12));
  CHECK(mean({}) == 0);
  CHECK(population_deviation({}) == 0);
}

TEST_CASE("the consensus sum is that of the golden models") {
  const std::vector<std::vector<double>> models{{-1.035634, 1.58077, -1.517716},
                                                {-0.620126, -1.146867, 1.443695},
                                                {0.322281, -0.708275, 0.71319},
                                                {1.944505, -0.962735, -0.893528}};
  ConsensusSum sum;
  for (const std::vector<double>& model : models) {
    const Vector<double> x = Eigen::Map<const Vector<double>>(model.data(), 3);
    sum.add(view(x));
  }
  CHECK(sum.squared_sum() == doctest::Approx(15.787336762070499).epsilon(1e-12));
  CHECK(sum.squared_mean() == doctest::Approx(3.9468341905176247).epsilon(1e-12));
  CHECK(sum.mean_model().mean()[0] == doctest::Approx((-1.035634 - 0.620126 + 0.322281 + 1.944505) / 4).epsilon(1e-12));
}

TEST_CASE("equal models have consensus exactly 0 and are their own mean to the bit") {
  const Vector<float> model = test::random_vector<float>(100, 3);
  ConsensusSum sum;
  for (int i = 0; i < 7; ++i) sum.add(view(model));
  CHECK(sum.squared_sum() == 0);
  CHECK((sum.mean_model().mean_as<float>().array() == model.array()).all());
}

TEST_CASE("models close together and far from the origin lose no digits") {
  // 1e8 + {-1, 0, 1}: the squares sum to 2, while sums of squares around the origin would cancel to nothing.
  ConsensusSum sum;
  for (double offset : {-1.0, 0.0, 1.0}) {
    const Vector<double> x = Vector<double>::Constant(1, 1e8 + offset);
    sum.add(view(x));
  }
  CHECK(sum.squared_sum() == 2);
}
