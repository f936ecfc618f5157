// Every loss against central differences: the duller road to a gradient.
#include <doctest/doctest.h>

#include <numeric>

#include "learning/gradient_rules.hpp"
#include "learning/models/dataset_learner.hpp"
#include "learning/models/dense_model.hpp"
#include "learning/models/problems.hpp"
#include "tests/learning/support.hpp"

using namespace rubato;
using test::random_labels;
using test::random_matrix;
using test::random_vector;

namespace {

double loss_at(const Learner<double>& learner, const Vector<double>& x, Picks picks, Scratch<double>& scratch) {
  Scratch<double>::Frame frame(scratch);
  return learner.gradient(read_only(x), picks, scratch.vector(x.size()), scratch);
}

Vector<double> central_differences(const Learner<double>& learner, Vector<double> x, Picks picks) {
  constexpr double h = 1e-5;
  Scratch<double> scratch;
  Vector<double> g(x.size());
  for (Index i = 0; i < x.size(); ++i) {
    const double centre = x[i];
    x[i] = centre + h;
    const double above = loss_at(learner, x, picks, scratch);
    x[i] = centre - h;
    const double below = loss_at(learner, x, picks, scratch);
    x[i] = centre;
    g[i] = (above - below) / (2 * h);
  }
  return g;
}

void check_gradient(const Learner<double>& learner, Picks picks) {
  const Vector<double> x = random_vector<double>(learner.dimension(), 5, 0.7);
  Scratch<double> scratch;
  Vector<double> g(learner.dimension());
  learner.gradient(read_only(x), picks, view(g), scratch);
  const Vector<double> expected = central_differences(learner, x, picks);
  CHECK((g - expected).norm() <= 2e-7 * std::max(1.0, expected.norm()));
}

void check_descent(const Learner<double>& learner, Picks picks) {
  constexpr double step = 0.3;
  const Vector<double> x = random_vector<double>(learner.dimension(), 6);
  Vector<double> stepped = x, g(learner.dimension());
  Scratch<double> scratch;
  const double loss = learner.descend(view(stepped), picks, step, scratch);
  const double same_loss = learner.gradient(read_only(x), picks, view(g), scratch);
  CHECK(loss == doctest::Approx(same_loss).epsilon(1e-12));
  CHECK((stepped - (x - step * g)).norm() <= 1e-12 * x.norm());
}

void check_all(const Learner<double>& learner, Picks picks) {
  check_gradient(learner, {});
  check_gradient(learner, picks);
  check_descent(learner, {});
  check_descent(learner, picks);
}

const std::vector<std::uint32_t> repeated_picks{3, 0, 3, 6};

std::unique_ptr<Learner<double>> learner_of(std::shared_ptr<const Model<double>> model) {
  const auto dataset = std::make_shared<Dataset<double>>();
  dataset->classes = model->classes();
  dataset->train.features = random_matrix<double>(9, model->inputs(), 1);
  if (model->classes() > 0)
    dataset->train.labels = random_labels(9, model->classes(), 2);
  else
    for (const double target : random_vector<double>(9, 3)) dataset->train.targets.push_back(target);
  Rows rows{8, 1, 2, 7, 4, 0, 3};
  return std::make_unique<DatasetLearner<double>>(model, dataset, rows);
}

}  // namespace

TEST_CASE("the gradient of the softmax model agrees with central differences, and descend steps along it") {
  for (double l2 : {0.0, 0.1}) check_all(*learner_of(make_softmax<double>(5, 4, l2)), repeated_picks);
}

TEST_CASE("the gradient of multilayer perceptrons of any depth agrees with central differences, and descend steps along it") {
  for (double l2 : {0.0, 0.1}) {
    check_all(*learner_of(make_mlp<double>(5, {}, 3, l2)), repeated_picks);
    check_all(*learner_of(make_mlp<double>(5, {7}, 3, l2)), repeated_picks);
    check_all(*learner_of(make_mlp<double>(5, {8, 6, 4}, 3, l2)), repeated_picks);
  }
}

TEST_CASE("the gradient of every loss agrees with central differences, and descend steps along it") {
  for (const Loss loss : {Loss::cross_entropy, Loss::squared, Loss::hinge, Loss::squared_hinge}) {
    for (const std::vector<Index>& hidden : {std::vector<Index>{}, std::vector<Index>{6, 4}})
      check_all(*learner_of(make_dense_model<double>({.inputs = 5, .hidden = hidden, .classes = 4, .loss = loss, .l2 = 0.1})),
                repeated_picks);
  }
  check_all(*learner_of(make_dense_model<double>({.inputs = 5, .classes = 2, .loss = Loss::logistic, .l2 = 0.1})), repeated_picks);
  check_all(*learner_of(make_dense_model<double>({.inputs = 5, .hidden = {4}, .classes = 2, .loss = Loss::logistic})),
            repeated_picks);
}

TEST_CASE("the gradient where numbers are learned agrees with central differences, and descend steps along it") {
  check_all(*learner_of(make_dense_model<double>({.inputs = 5, .loss = Loss::squared, .l2 = 0.1})), repeated_picks);
  check_all(*learner_of(make_dense_model<double>({.inputs = 5, .hidden = {6}, .loss = Loss::squared})), repeated_picks);
}

TEST_CASE("the gradient of every activation agrees with central differences, and descend steps along it") {
  for (const Activation activation : {Activation::none, Activation::relu, Activation::sigmoid, Activation::tanh})
    check_all(
        *learner_of(make_dense_model<double>({.inputs = 5, .hidden = {7, 6}, .classes = 3, .activation = activation, .l2 = 0.1})),
        repeated_picks);
}

TEST_CASE("the gradient with smoothed labels agrees with central differences, and descend steps along it") {
  for (const std::vector<Index>& hidden : {std::vector<Index>{}, std::vector<Index>{6}})
    check_all(*learner_of(make_dense_model<double>({.inputs = 5, .hidden = hidden, .classes = 4, .label_smoothing = 0.2})),
              repeated_picks);
}

TEST_CASE("the gradient with dropout agrees with central differences under one chance, and descend steps along it") {
  const Picks picks = Picks(repeated_picks).with(Chance{.seed = 3, .client = {2}, .number = 5});
  for (const Activation activation : {Activation::relu, Activation::sigmoid, Activation::tanh}) {
    const auto learner = learner_of(
        make_dense_model<double>({.inputs = 5, .hidden = {20, 16}, .classes = 3, .activation = activation, .dropout = 0.4}));
    check_gradient(*learner, picks);
    check_descent(*learner, picks);
    const Vector<double> x = random_vector<double>(learner->dimension(), 5, 0.7);
    Scratch<double> scratch;
    CHECK(loss_at(*learner, x, picks, scratch) != loss_at(*learner, x, Picks(repeated_picks), scratch));
  }
}

TEST_CASE("weight decay is added to the gradient and not to the loss, and spares what is exempt") {
  const auto model = make_mlp<double>(5, {4}, 3);
  const auto plain = learner_of(model);
  const auto ruled = with_rules<double>(
      learner_of(model), std::make_shared<const GradientRules>(GradientRules{.weight_decay = 0.3, .exempt = {{0, 2}, {10, 5}}}));
  check_descent(*ruled, repeated_picks);
  const Vector<double> x = random_vector<double>(model->dimension(), 5);
  Scratch<double> scratch;
  Vector<double> g(x.size()), with_decay(x.size());
  const double loss = plain->gradient(read_only(x), repeated_picks, view(g), scratch);
  CHECK(ruled->gradient(read_only(x), repeated_picks, view(with_decay), scratch) == loss);
  for (Index i = 0; i < x.size(); ++i) {
    const bool is_exempt = i < 2 || (i >= 10 && i < 15);
    CHECK(with_decay[i] == doctest::Approx(g[i] + (is_exempt ? 0 : 0.3 * x[i])).epsilon(1e-12));
  }
}

TEST_CASE("a gradient longer than clip is shortened to it, one that is shorter stays as it is") {
  const auto model = make_mlp<double>(5, {4}, 3);
  const Vector<double> x = random_vector<double>(model->dimension(), 5);
  Scratch<double> scratch;
  Vector<double> g(x.size()), clipped(x.size());
  learner_of(model)->gradient(read_only(x), {}, view(g), scratch);
  for (const double clip : {g.norm() / 4, 4 * g.norm()}) {
    const auto ruled = with_rules<double>(learner_of(model), std::make_shared<const GradientRules>(GradientRules{.clip = clip}));
    ruled->gradient(read_only(x), {}, view(clipped), scratch);
    CHECK((clipped - g * std::min(1.0, clip / g.norm())).norm() <= 1e-12 * g.norm());
    check_descent(*ruled, {});
  }
}

TEST_CASE("a learner without rules is handed back as it came, and negative ones are refused") {
  auto learner = learner_of(make_softmax<double>(5, 3));
  const Learner<double>* const before = learner.get();
  CHECK(with_rules<double>(std::move(learner), std::make_shared<const GradientRules>()).get() == before);
  const auto refused = [](const GradientRules& rules) {
    return test::complaint(
        [&] { with_rules<double>(learner_of(make_softmax<double>(5, 3)), std::make_shared<const GradientRules>(rules)); });
  };
  CHECK(refused({.clip = -1}) == "model.clip is -1.000000; allowed are numbers from 0");
  CHECK(refused({.weight_decay = -1}) == "model.weight_decay is -1.000000; allowed are numbers from 0");
}

TEST_CASE("the gradient of the least squares problem agrees with central differences, and descend steps along it") {
  for (double l2 : {0.0, 0.1}) {
    check_all(*make_least_squares<double>(random_matrix<double>(7, 5, 1), random_vector<double>(7, 2), l2), repeated_picks);
  }
}

TEST_CASE("the gradient of the logistic problem agrees with central differences, and descend steps along it") {
  Vector<double> targets(7);
  targets << 1, 0, 0, 1, 1, 0, 1;
  for (double l2 : {0.0, 0.1}) {
    check_all(*make_logistic<double>(random_matrix<double>(7, 5, 1), targets, l2), repeated_picks);
  }
}

TEST_CASE("the gradient of the softmax problem agrees with central differences, and descend steps along it") {
  check_all(*make_softmax_problem<double>(random_matrix<double>(7, 3, 1), random_labels(7, 3, 1), 3, 0.05), repeated_picks);
}

TEST_CASE("the gradient of the quadratic problems agrees with central differences, and descend steps along it") {
  check_all(*make_quadratic<double>(random_matrix<double>(5, 5, 1), random_vector<double>(5, 2)), {});
  const auto centres = std::make_shared<const Centres<double>>(1, 3, 20);
  check_all(*make_centre_learner(centres, 2), {});
  const auto shifts = std::make_shared<const Shifts<double>>(1, 3, 20, 0.3);
  check_all(*make_tridiagonal<double>(20, shifts, 2, 0.5), {});  // no random numbers, no noise
}
