#include "learning/model.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/learning/support.hpp"

using namespace rubato;
using test::contains;

TEST_CASE("the softmax model computes a hand-made example") {
  // W = [[1, 0], [0, 2]], b = [0, ln 3], a = (0, 0): logits (0, ln 3), probabilities 1/4 and 3/4.
  const auto model = make_softmax<double>(2, 2);
  Vector<double> x(6), g(6);
  x << 1, 0, 0, 2, 0, std::log(3.0);
  const Matrix<double> inputs = Matrix<double>::Zero(1, 2);
  const std::vector<Label> labels{0};
  Scratch<double> scratch;
  CHECK(model->gradient(read_only(x), {read_only(inputs), labels}, view(g), scratch) == doctest::Approx(std::log(4.0)));
  CHECK(g[4] == doctest::Approx(-0.75));
  CHECK(g[5] == doctest::Approx(0.75));
  CHECK(g.head(4).norm() == 0);
}

TEST_CASE("parameters lie as weights row by row and then biases, layer by layer") {
  // One hidden unit: h = max(0, 2 a_0 - a_1 + 1); logits (h, -h + 5).
  const auto model = make_mlp<double>(2, {1}, 2);
  REQUIRE(model->dimension() == 7);
  Vector<double> x(7);
  x << 2, -1, 1, 1, -1, 0, 5;
  Matrix<double> inputs(2, 2), out(2, 2);
  inputs << 1, 0, 0, 10;
  Scratch<double> scratch;
  model->logits(read_only(x), read_only(inputs), view(out), scratch);
  Matrix<double> expected(2, 2);
  expected << 3, 2, 0, 5;
  CHECK(out == expected);
}

TEST_CASE("the softmax model starts at zero") {
  Vector<float> x = Vector<float>::Ones(55);
  Stream stream(1, {0}, Purpose::init);
  make_softmax<float>(10, 5)->initialise(view(x), stream);
  CHECK(x.norm() == 0);
}

TEST_CASE("a multilayer perceptron starts at He's weights and zero biases, by its stream alone") {
  const auto model = make_mlp<double>(200, {50}, 10);
  Vector<double> x(model->dimension()), again(model->dimension()), other(model->dimension());
  Stream stream(1, {0}, Purpose::init), same(1, {0}, Purpose::init), another(2, {0}, Purpose::init);
  model->initialise(view(x), stream);
  model->initialise(view(again), same);
  model->initialise(view(other), another);
  CHECK(x == again);
  CHECK(x != other);
  CHECK(x.head(10'000).squaredNorm() / 10'000 == doctest::Approx(2.0 / 200).epsilon(0.1));
  CHECK(x.segment(10'000, 50).norm() == 0);
  CHECK(x.segment(10'050, 500).squaredNorm() / 500 == doctest::Approx(2.0 / 50).epsilon(0.3));
  CHECK(x.tail(10).norm() == 0);
}

TEST_CASE("predictions are probabilities and stay finite for enormous logits") {
  const auto model = make_softmax<float>(1, 3);
  Vector<float> x(6);
  x << 1, -1, 0, 0, 0, 0;
  Matrix<float> inputs(2, 1), out(2, 3);
  inputs << 1e30f, 0;
  Scratch<float> scratch;
  model->predict(read_only(x), read_only(inputs), view(out), scratch);
  CHECK(out(0, 0) == 1);
  CHECK(out(0, 1) < 1e-30f);
  CHECK(out.row(1).sum() == doctest::Approx(1));
}

TEST_CASE("a score of many blocks is the sum over its samples, and leaves out the l2 term") {
  const auto model = make_mlp<double>(6, {5}, 4, 0.5);
  const Vector<double> x = test::random_vector<double>(model->dimension(), 1);
  const Matrix<double> inputs = test::random_matrix<double>(700, 6, 2);
  const std::vector<Label> labels = test::random_labels(700, 4, 3);
  Scratch<double> scratch;
  const Score score = model->score(read_only(x), read_only(inputs), labels, scratch);

  Matrix<double> p(700, 4);
  model->predict(read_only(x), read_only(inputs), view(p), scratch);
  double loss = 0;
  std::uint64_t correct = 0;
  for (Index i = 0; i < 700; ++i) {
    const Label label = labels[static_cast<std::size_t>(i)];
    Index best = 0;
    p.row(i).maxCoeff(&best);
    loss -= std::log(p(i, label));
    correct += static_cast<Label>(best) == label ? 1 : 0;
  }
  CHECK(score.samples == 700);
  CHECK(score.correct == correct);
  CHECK(score.loss_sum == doctest::Approx(loss).epsilon(1e-10));
}

TEST_CASE("float and double models agree to the precision of float") {
  const auto coarse = make_mlp<float>(20, {16}, 5);
  const auto fine = make_mlp<double>(20, {16}, 5);
  const Vector<double> x = test::random_vector<double>(fine->dimension(), 1, 0.3);
  const Matrix<double> inputs = test::random_matrix<double>(13, 20, 2);
  const std::vector<Label> labels = test::random_labels(13, 5, 3);
  const Vector<float> coarse_x = x.cast<float>();
  const Matrix<float> coarse_inputs = inputs.cast<float>();
  Vector<double> g(fine->dimension());
  Vector<float> coarse_g(fine->dimension());
  Scratch<double> scratch;
  Scratch<float> coarse_scratch;
  fine->gradient(read_only(x), {read_only(inputs), labels}, view(g), scratch);
  coarse->gradient(read_only(coarse_x), {read_only(coarse_inputs), labels}, view(coarse_g), coarse_scratch);
  CHECK((coarse_g.cast<double>() - g).norm() <= 1e-5 * g.norm());
}

TEST_CASE("the same step has the same bits wherever its buffers lie in the scratch memory") {
  const auto model = make_mlp<float>(7, {5, 3}, 3);
  const Vector<float> start = test::random_vector<float>(model->dimension(), 1);
  const Matrix<float> inputs = test::random_matrix<float>(4, 7, 2);
  const std::vector<Label> labels = test::random_labels(4, 3, 3);
  Vector<float> first = start;
  Scratch<float> fresh;
  model->descend(view(first), {read_only(inputs), labels}, 0.1f, fresh);
  for (Index taken : {1, 100, 5'000, 20'000}) {
    Scratch<float> used;
    Scratch<float>::Frame frame(used);
    used.vector(taken);
    Vector<float> again = start;
    model->descend(view(again), {read_only(inputs), labels}, 0.1f, used);
    CHECK(again == first);
  }
}

TEST_CASE("a model of impossible shape is refused with all faults at once") {
  const std::string sentence = test::complaint([] { make_mlp<float>(0, {4, -1}, 0, -1); });
  CHECK(contains(sentence, "model.inputs is 0"));
  CHECK(contains(sentence, "hidden has the entry -1"));
  CHECK(contains(sentence, "classes is 0"));
  CHECK(contains(sentence, "l2 is -1"));
}
