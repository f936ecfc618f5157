#include "learning/models/synthetic.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "learning/models/problems.hpp"
#include "tests/learning/support.hpp"

using namespace rubato;

namespace {

Vector<double> gradient_of(const Learner<double>& learner, const Vector<double>& x) {
  Scratch<double> scratch;
  Vector<double> g(x.size());
  learner.gradient(view(x), {}, view(g), scratch);
  return g;
}

}  // namespace

TEST_CASE("a sparse solution has its share of numbers between 0.5 and 2 with either sign") {
  const Vector<double> w = sparse_solution<double>(1, 1000, 0.5);
  CHECK((w.array() != 0).count() == 500);
  CHECK((w.array().abs() > 0 && (w.array().abs() < 0.5 || w.array().abs() > 2)).count() == 0);
  CHECK(std::abs(static_cast<double>((w.array() > 0).count()) - 250) < 50);
  CHECK((sparse_solution<double>(1, 40, 0.01).array() != 0).count() == 1);
  CHECK(w == sparse_solution<double>(1, 1000, 0.5));
  CHECK(w != sparse_solution<double>(2, 1000, 0.5));
}

TEST_CASE("without noise the solution of a sparse regression costs nothing and has no gradient") {
  const Vector<double> w = sparse_solution<double>(3, 50, 0.1);
  const auto learner = make_sparse_regression<double>(3, {4}, w, 30, 0);
  Scratch<double> scratch;
  CHECK(learner->samples() == 30);
  CHECK(learner->score(view(w), Part::train, scratch).mean_loss() < 1e-24);
  CHECK(gradient_of(*learner, w).norm() < 1e-12);
}

TEST_CASE("noise costs half its variance at the solution") {
  const Vector<double> w = sparse_solution<double>(3, 5, 0.2);
  const auto learner = make_sparse_regression<double>(3, {4}, w, 20'000, 0.5);
  Scratch<double> scratch;
  CHECK(learner->score(view(w), Part::train, scratch).mean_loss() == doctest::Approx(0.125).epsilon(0.05));
}

TEST_CASE("the solution of a sparse classification is where its gradient vanishes on average") {
  const Vector<double> w = sparse_solution<double>(3, 4, 0.5);
  const auto learner = make_sparse_classification<double>(3, {1}, w, 50'000);
  CHECK(gradient_of(*learner, w).norm() < 0.01);
  CHECK(gradient_of(*learner, Vector<double>::Zero(4)).norm() > 0.1);
}

TEST_CASE("clients draw samples of their own, the same for the same seed") {
  const Vector<double> w = sparse_solution<double>(3, 8, 0.5), x = Vector<double>::Ones(8);
  const Vector<double> one = gradient_of(*make_sparse_regression<double>(3, {1}, w, 10, 0.5), x);
  CHECK(one == gradient_of(*make_sparse_regression<double>(3, {1}, w, 10, 0.5), x));
  CHECK(one != gradient_of(*make_sparse_regression<double>(3, {2}, w, 10, 0.5), x));
  CHECK(one != gradient_of(*make_sparse_regression<double>(4, {1}, w, 10, 0.5), x));
}

TEST_CASE("a client with test samples is scored on them, learns from its own as before, and both are around one solution") {
  const Vector<double> w = sparse_solution<double>(3, 6, 0.5);
  Scratch<double> scratch;
  const auto plain = make_sparse_regression<double>(3, {1}, w, 12, 0.5);
  const auto tested = make_sparse_regression<double>(3, {1}, w, 12, 0.5, 0.0, 5000);
  const Vector<double> x = Vector<double>::Ones(6);
  CHECK(gradient_of(*tested, x) == gradient_of(*plain, x));
  CHECK(tested->samples() == 12);
  CHECK(tested->score(view(x), Part::train, scratch).loss_sum == plain->score(view(x), Part::test, scratch).loss_sum);
  const Score score = tested->score(view(w), Part::test, scratch);
  CHECK(score.samples == 5000);
  CHECK(score.mean_loss() == doctest::Approx(0.125).epsilon(0.1));  // half the variance of the noise, which no client has seen
  // The loss at x by its expectation: half of noise^2 + |x - w|^2.
  CHECK(tested->score(view(x), Part::test, scratch).mean_loss() == doctest::Approx(0.125 + (x - w).squaredNorm() / 2).epsilon(0.1));
}

TEST_CASE("with as many samples as numbers a classification knows its own samples better than others") {
  const Vector<double> w = sparse_solution<double>(3, 40, 0.5);
  const auto learner = make_sparse_classification<double>(3, {1}, w, 40, 0.0, 2000);
  Scratch<double> scratch;
  Vector<double> x = Vector<double>::Zero(40);
  for (int step = 0; step < 300; ++step) x -= 0.5 * gradient_of(*learner, x);
  CHECK(learner->score(read_only(x), Part::train, scratch).accuracy() > 0.97);
  CHECK(learner->score(read_only(x), Part::test, scratch).accuracy() < 0.95);
  CHECK(learner->score(read_only(x), Part::test, scratch).accuracy() > 0.6);
}
