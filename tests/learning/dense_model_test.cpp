#include "learning/models/dense_model.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "learning/activation.hpp"
#include "tests/learning/support.hpp"

using namespace rubato;
using test::complaint;
using test::contains;

namespace {

// The loss of one row of numbers, and what it leaves as their gradient.
double loss_of(Loss loss, std::vector<double>& numbers, Label label, double smoothing = 0) {
  Matrix<double> z(1, static_cast<Index>(numbers.size()));
  for (std::size_t c = 0; c < numbers.size(); ++c) z(0, static_cast<Index>(c)) = numbers[c];
  const Matrix<double> inputs(1, 1);
  const std::vector<Label> labels{label};
  const double value = loss_gradient(loss, smoothing, Batch<double>{read_only(inputs), labels}, view(z));
  for (std::size_t c = 0; c < numbers.size(); ++c) numbers[c] = z(0, static_cast<Index>(c));
  return value;
}

}  // namespace

TEST_CASE("the hinge loss is PyTorch's multi_margin_loss") {
  // z = (0.5, 1, 2, -3), label 1: margins 1 - 1 + z_j are 0.5, 2 and -3; (0.5 + 2) / 4, squares (0.25 + 4) / 4.
  std::vector<double> z{0.5, 1, 2, -3};
  CHECK(loss_of(Loss::hinge, z, 1) == doctest::Approx(0.625));
  CHECK(z == std::vector<double>{0.25, -0.5, 0.25, 0});
  z = {0.5, 1, 2, -3};
  CHECK(loss_of(Loss::squared_hinge, z, 1) == doctest::Approx(1.0625));
  CHECK(z == std::vector<double>{0.25, -1.25, 1, 0});
}

TEST_CASE("the squared loss compares with 1 for the class and 0 for the others") {
  std::vector<double> z{0.5, 1, 2};
  CHECK(loss_of(Loss::squared, z, 2) == doctest::Approx(1.125));
  CHECK(z == std::vector<double>{0.5, 1, 1});
}

TEST_CASE("the logistic loss of z is the cross-entropy of (0, z), also for enormous z") {
  for (const double number : {-800.0, -2.0, 0.0, 0.7, 800.0})
    for (const Label label : {0u, 1u}) {
      std::vector<double> z{number}, both{0, number};
      const double expected = loss_of(Loss::cross_entropy, both, label);
      CHECK(loss_of(Loss::logistic, z, label) == doctest::Approx(expected));
      CHECK(z[0] == doctest::Approx(both[1]));
    }
}

TEST_CASE("smoothed labels cost the mean over all classes for their share") {
  // Probabilities (1, 2, 5) / 8, label 2, smoothing 0.3: 0.8 for the label and 0.1 for each other one.
  std::vector<double> z{0, std::log(2.0), std::log(5.0)};
  const double expected = -(0.8 * std::log(5.0 / 8) + 0.1 * std::log(2.0 / 8) + 0.1 * std::log(1.0 / 8));
  CHECK(loss_of(Loss::cross_entropy, z, 2, 0.3) == doctest::Approx(expected));
  CHECK(z[0] == doctest::Approx(1.0 / 8 - 0.1));
  CHECK(z[1] == doctest::Approx(2.0 / 8 - 0.1));
  CHECK(z[2] == doctest::Approx(5.0 / 8 - 0.8));
}

TEST_CASE("logistic regression has one row of weights and predicts two classes") {
  const auto model = make_dense_model<double>({.inputs = 2, .classes = 2, .loss = Loss::logistic});
  REQUIRE(model->dimension() == 3);
  Vector<double> x(3);
  x << 1, -1, 0.5;
  Matrix<double> inputs(2, 2), out(2, 2);
  inputs << 1, 0, 0, 1;
  const std::vector<Label> labels{1, 1};
  Scratch<double> scratch;
  model->predict(read_only(x), read_only(inputs), view(out), scratch);
  CHECK(out(0, 1) == doctest::Approx(1 / (1 + std::exp(-1.5))));
  CHECK(out.row(1).sum() == doctest::Approx(1));
  const Score score = model->score(read_only(x), read_only(inputs), labels, scratch);
  CHECK(score.correct == 1);
  CHECK(score.mean_loss() == doctest::Approx((std::log1p(std::exp(-1.5)) + std::log1p(std::exp(0.5))) / 2));
}

TEST_CASE("where a number is learned, a score has the mean of half the squared errors and no accuracy") {
  const auto model = make_dense_model<double>({.inputs = 1, .loss = Loss::squared});
  REQUIRE(model->dimension() == 2);
  Vector<double> x(2);
  x << 2, 1;
  Matrix<double> inputs(3, 1);
  inputs << 0, 1, 2;
  const std::vector<double> targets{1, 2, 8};  // predictions 1, 3, 5
  Scratch<double> scratch;
  const Score score = model->score(read_only(x), {read_only(inputs), {}, targets}, scratch);
  CHECK(score.samples == 3);
  CHECK(score.classes == 0);
  CHECK(score.mean_loss() == doctest::Approx((0 + 0.5 + 4.5) / 3));
}

TEST_CASE("the score of a support vector machine has its own loss") {
  const auto model = make_dense_model<double>({.inputs = 1, .classes = 2, .loss = Loss::hinge});
  Vector<double> x(4);
  x << 1, -1, 0, 0;
  Matrix<double> inputs(1, 1);
  inputs << 0.25;  // (0.25, -0.25), label 0: max(0, 1 - 0.5) / 2
  const std::vector<Label> labels{0};
  Scratch<double> scratch;
  const Score score = model->score(read_only(x), read_only(inputs), labels, scratch);
  CHECK(score.correct == 1);
  CHECK(score.mean_loss() == doctest::Approx(0.25));
}

TEST_CASE("dropout leaves out its share, keeps the mean, and is the same for the same address") {
  const Chance chance{.seed = 1, .client = {4}, .number = 7};
  Matrix<float> factors(100, 999), again(100, 999), other(100, 999);
  write_dropout(0.2, chance.stream(1), view(factors));
  write_dropout(0.2, chance.stream(1), view(again));
  write_dropout(0.2, chance.stream(2), view(other));
  CHECK(factors == again);
  CHECK(factors != other);
  const auto left_out = static_cast<double>((factors.array() == 0).count()) / static_cast<double>(factors.size());
  CHECK(left_out == doctest::Approx(0.2).epsilon(0.02));
  CHECK(factors.maxCoeff() == 1.25f);
  CHECK(factors.mean() == doctest::Approx(1).epsilon(0.01));
}

TEST_CASE("scores and predictions leave nothing out") {
  const DenseForm form{.inputs = 6, .hidden = {8}, .classes = 3};
  DenseForm dropping = form;
  dropping.dropout = 0.5;
  const auto plain = make_dense_model<double>(form), with_dropout = make_dense_model<double>(dropping);
  const Vector<double> x = test::random_vector<double>(plain->dimension(), 1);
  const Matrix<double> inputs = test::random_matrix<double>(9, 6, 2);
  Matrix<double> one(9, 3), two(9, 3);
  Scratch<double> scratch;
  plain->logits(read_only(x), read_only(inputs), view(one), scratch);
  with_dropout->logits(read_only(x), read_only(inputs), view(two), scratch);
  CHECK(one == two);
}

TEST_CASE("Xavier's start has variance 2 / (inputs + outputs) and zero biases, in linear models too") {
  const auto model = make_dense_model<double>({.inputs = 300, .classes = 100, .loss = Loss::hinge, .start = Start::xavier});
  Vector<double> x(model->dimension());
  Stream stream(1, {0}, Purpose::init);
  model->initialise(view(x), stream);
  CHECK(x.head(30'000).squaredNorm() / 30'000 == doctest::Approx(2.0 / 400).epsilon(0.05));
  CHECK(x.tail(100).norm() == 0);
}

TEST_CASE("every dense model in float agrees with the one in double, also where products are large") {
  for (const Loss loss : {Loss::cross_entropy, Loss::squared, Loss::hinge, Loss::squared_hinge}) {
    const DenseForm form{.inputs = 300, .hidden = {120}, .classes = 10, .loss = loss, .activation = Activation::tanh};
    const auto coarse = make_dense_model<float>(form);
    const auto fine = make_dense_model<double>(form);
    const Vector<double> x = test::random_vector<double>(fine->dimension(), 1, 0.1);
    const Matrix<double> inputs = test::random_matrix<double>(64, 300, 2);
    const std::vector<Label> labels = test::random_labels(64, 10, 3);
    Vector<float> coarse_x = x.cast<float>();
    const Matrix<float> coarse_inputs = inputs.cast<float>();
    Vector<double> g(x.size());
    Vector<float> coarse_g(x.size());
    Scratch<double> scratch;
    Scratch<float> coarse_scratch;
    const double fine_loss = fine->gradient(read_only(x), {read_only(inputs), labels}, view(g), scratch);
    const Batch<float> batch{read_only(coarse_inputs), labels};
    const float coarse_loss = coarse->gradient(read_only(coarse_x), batch, view(coarse_g), coarse_scratch);
    CHECK(static_cast<double>(coarse_loss) == doctest::Approx(fine_loss).epsilon(1e-5));
    CHECK((coarse_g.cast<double>() - g).norm() <= 1e-4 * g.norm());
    coarse->descend(view(coarse_x), batch, 0.5f, coarse_scratch);
    CHECK((coarse_x.cast<double>() - (x - 0.5 * g)).norm() <= 1e-5 * x.norm());
  }
}

TEST_CASE("a form that makes no sense is refused with all faults at once") {
  const std::string sentence = complaint(
      [] { make_dense_model<float>({.inputs = 3, .classes = 3, .loss = Loss::logistic, .dropout = 1, .label_smoothing = -0.5}); });
  CHECK(contains(sentence, "classes is 3; the logistic loss tells 2 classes apart"));
  CHECK(contains(sentence, "dropout is 1.0"));
  CHECK(contains(sentence, "label_smoothing is -0.5"));
}
