#include "learning/models/problems.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/learning/support.hpp"

using namespace rubato;
using test::contains;

TEST_CASE("the least squares problem computes a hand-made example") {
  // X = [[1, 0], [0, 2]], b = (1, 2), x = (2, 2): r = (1, 2), f = 5/4, X^T r / 2 = (1/2, 2).
  Matrix<double> inputs(2, 2);
  inputs << 1, 0, 0, 2;
  Vector<double> targets(2), x(2), g(2);
  targets << 1, 2;
  x << 2, 2;
  const auto learner = make_least_squares<double>(inputs, targets);
  Scratch<double> scratch;
  CHECK(learner->gradient(read_only(x), {}, view(g), scratch) == 1.25);
  CHECK(g == Vector<double>{{0.5, 2}});
  const std::vector<std::uint32_t> second{1};
  CHECK(learner->gradient(read_only(x), second, view(g), scratch) == 2);
  CHECK(g == Vector<double>{{0, 4}});
  CHECK(learner->score(read_only(x), Part::test, scratch).mean_loss() == 1.25);
}

TEST_CASE("the logistic problem starts at ln 2 and classifies by the sign") {
  const Matrix<double> inputs = Matrix<double>::Identity(2, 2);
  const auto learner = make_logistic<double>(inputs, Vector<double>{{1, 0}});
  Vector<double> x = Vector<double>::Zero(2), g(2);
  Scratch<double> scratch;
  CHECK(learner->gradient(read_only(x), {}, view(g), scratch) == doctest::Approx(std::log(2.0)));
  CHECK(g == Vector<double>{{-0.25, 0.25}});
  x << 800, -800;
  const Score score = learner->score(read_only(x), Part::train, scratch);
  CHECK(score.accuracy() == 1);
  CHECK(score.loss_sum == 0);
  Matrix<double> p(2, 2);
  learner->predict(read_only(x), {}, view(p), scratch);
  CHECK(p == Matrix<double>{{0, 1}, {1, 0}});
}

TEST_CASE("a quadratic is flat at its centre and counts as one sample") {
  const auto learner = make_quadratic<double>(test::random_matrix<double>(3, 3, 1), Vector<double>{{1, 2, 3}});
  const Vector<double> x{{1, 2, 3}};
  Vector<double> g(3);
  Scratch<double> scratch;
  CHECK(learner->samples() == 1);
  CHECK(learner->gradient(read_only(x), {}, view(g), scratch) == 0);
  CHECK(g.norm() == 0);
}

TEST_CASE("the tridiagonal loss is that of the dense matrix, least at j/(d + 1) - 1, and begins at sqrt(d)") {
  constexpr Index d = 9;
  Matrix<double> a = Matrix<double>::Zero(d, d);
  for (Index j = 0; j < d; ++j) {
    a(j, j) = 0.5;
    if (j > 0) a(j, j - 1) = a(j - 1, j) = -0.25;
  }
  const auto learner = make_tridiagonal<double>(d, nullptr, 0, 0);
  const Vector<double> x = test::random_vector<double>(d, 4);
  Vector<double> g(d), least(d), start(d);
  Scratch<double> scratch;
  CHECK(learner->gradient(read_only(x), {}, view(g), scratch) == doctest::Approx(x.dot(a * x) / 2 + x[0] / 4).epsilon(1e-14));
  CHECK((g - a * x - Vector<double>::Unit(d, 0) / 4).norm() < 1e-14);
  for (Index j = 0; j < d; ++j) least[j] = static_cast<double>(j + 1) / (d + 1) - 1;
  learner->gradient(read_only(least), {}, view(g), scratch);
  CHECK(g.norm() < 1e-15);
  Stream stream(1, {0}, Purpose::init);
  learner->initialise(view(start), stream);
  CHECK(start == 3 * Vector<double>::Unit(d, 0));
}

TEST_CASE("the shifts of tridiagonal losses add up to 0, and noise has its deviation and none without random numbers") {
  constexpr Index d = 400;
  const auto shifts = std::make_shared<const Shifts<double>>(5, 7, d, 2.0);
  Vector<double> sum = Vector<double>::Zero(d);
  for (std::uint32_t client = 0; client < 7; ++client) sum += (*shifts)[client];
  CHECK(sum.norm() < 1e-12);
  CHECK((*shifts)[3].norm() / std::sqrt(d) == doctest::Approx(2 * std::sqrt(6.0 / 7)).epsilon(0.1));
  const auto learner = make_tridiagonal<double>(d, shifts, 3, 0.5);
  const Vector<double> x = test::random_vector<double>(d, 4);
  Vector<double> exact(d), noisy(d), again(d);
  Scratch<double> scratch;
  const double loss = learner->gradient(read_only(x), {}, view(exact), scratch);
  const Picks picks = Picks().with({.seed = 9, .client = {3}, .number = 12});
  CHECK(learner->gradient(read_only(x), picks, view(noisy), scratch) == loss);
  learner->gradient(read_only(x), picks, view(again), scratch);
  CHECK(noisy == again);
  CHECK((noisy - exact).norm() / std::sqrt(d) == doctest::Approx(0.5).epsilon(0.1));
}

TEST_CASE("the centre of a client is the first normal numbers of its init stream, whoever else there is") {
  const Centres<double> few(7, 2, 5), many(7, 100, 5);
  Stream stream(7, {1}, Purpose::init);
  for (Index i = 0; i < 5; ++i) {
    const double expected = stream.normal();
    CHECK(few[1][i] == expected);
    CHECK(many[1][i] == expected);
  }
}

TEST_CASE("a learner of many small clients is itself a few words") {
  const auto centres = std::make_shared<const Centres<float>>(1, 1000, 64);
  const auto learner = make_centre_learner(centres, 999);
  Vector<float> x = Vector<float>::Zero(64);
  Scratch<float> scratch;
  learner->descend(view(x), {}, 1.0f, scratch);
  CHECK((x - (*centres)[999]).norm() == 0);
  CHECK(scratch.capacity() == 0);
}

TEST_CASE("problems of impossible shape are refused with a sentence") {
  CHECK(contains(test::complaint([] { make_quadratic<double>(Matrix<double>(2, 3), Vector<double>(2)); }), "A must be square"));
  CHECK(contains(test::complaint([] { make_least_squares<double>(Matrix<double>(2, 3), Vector<double>(3)); }),
                 "the matrix of least_squares is 2 x 3"));
  CHECK(contains(test::complaint([] { make_logistic<double>(Matrix<double>::Ones(1, 1), Vector<double>{{2}}); }),
                 "label 0 of logistic is 2"));
  CHECK(contains(test::complaint([] { make_softmax_problem<double>(Matrix<double>::Ones(1, 1), {5}, 3); }), "label 5"));
  const auto centres = std::make_shared<const Centres<float>>(1, 3, 4);
  CHECK(contains(test::complaint([&] { make_centre_learner(centres, 3); }), "the client of quadratic is 3"));
}

TEST_CASE("a learner written by a user needs only dimension, samples and gradient") {
  struct Parabola final : Learner<double> {
    Index dimension() const override { return 1; }
    std::uint32_t samples() const override { return 1; }
    double gradient(ConstVectorRef<double> x, Picks, VectorRef<double> g, Scratch<double>&) const override {
      g[0] = 2 * x[0];
      return x[0] * x[0];
    }
  };
  const Parabola learner;
  Scratch<double> scratch;
  Vector<double> x = Vector<double>::Constant(1, 3);
  CHECK(learner.score(read_only(x), Part::test, scratch).mean_loss() == 9);
  CHECK(learner.descend(view(x), {}, 0.5, scratch) == 9);
  CHECK(x[0] == 0);
  Matrix<double> out(1, 1);
  CHECK_THROWS_AS(learner.predict(read_only(x), {}, view(out), scratch), std::logic_error);
}
