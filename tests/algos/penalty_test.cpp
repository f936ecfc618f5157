// Penalties and their proximal operators (docs/references.md#depositum) against hand-computed numbers and a search by
// brute force.
#include <doctest/doctest.h>

#include <cmath>
#include <stdexcept>
#include <string>

#include "algos/penalty.hpp"

using namespace rubato;

namespace {

// One of each kind; alpha = 0.8 is allowed for all of them.
const std::vector<Penalty> penalties{
    {PenaltyKind::none, 0.5, 1, 3},    {PenaltyKind::l1, 0.5, 1, 3},
    {PenaltyKind::l2sq, 0.5, 1, 3},    {PenaltyKind::mcp, 0.5, 2, 3},
    {PenaltyKind::mcp, 1, 1, 3},       {PenaltyKind::scad, 0.5, 1, 3.7},
    {PenaltyKind::scad, 1, 1, 2.0625}, {PenaltyKind::l2, 0.5, 1, 3},
    Penalty::box(-0.5, 1.75),          Penalty::ball(1.25),
};
constexpr double alphas[] = {0.0625, 0.3, 0.8};

// The z of a grid with the least h(z) + (z - x)^2 / (2 alpha).
double prox_by_search(const Penalty& h, double x, double alpha) {
  constexpr double width = 5e-5;
  double best = 0, least = h.value(0.0) + x * x / (2 * alpha);
  const double end = std::abs(x) + 2 * width;  // the operator never leads away from 0
  for (double z = -end; z <= end; z += width) {
    const double value = h.value(z) + (z - x) * (z - x) / (2 * alpha);
    if (value < least) {
      least = value;
      best = z;
    }
  }
  return best;
}

std::string complaint(std::initializer_list<std::pair<const char*, AlgorithmOptions::Value>> set) {
  AlgorithmOptions options;
  for (const auto& [name, value] : set) options.set(name, value);
  try {
    const Penalty penalty(options);
    penalty.require_step("alpha", options.number("alpha", 0.05), options.number("factor", 1));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("the values of the penalties are those of their definitions, on each of their pieces") {
  const Penalty l1(PenaltyKind::l1, 0.5, 5, 3), l2sq(PenaltyKind::l2sq, 0.5, 5, 3);
  CHECK(l1.value(-3.0) == 1.5);
  CHECK(l2sq.value(-2.0) == 1);
  const Penalty mcp(PenaltyKind::mcp, 0.5, 4, 3);  // pieces end at 2
  CHECK(mcp.value(1.0) == 0.5 - 1.0 / 8);
  CHECK(mcp.value(2.0) == 0.5);
  CHECK(mcp.value(-9.0) == 0.5);
  const Penalty scad(PenaltyKind::scad, 0.5, 5, 3);  // pieces end at 0.5 and 1.5
  CHECK(scad.value(0.5) == 0.25);
  CHECK(scad.value(-1.0) == (3 * 1 - 1 - 0.25) / 4);
  CHECK(scad.value(1.5) == 0.5);
  CHECK(scad.value(7.0) == 0.5);
  CHECK(Penalty().value(3.0) == 0);
}

TEST_CASE("the value of a vector is the sum over its coordinates") {
  Vector<double> x(3);
  x << 1, -2, 0.5;
  CHECK(Penalty(PenaltyKind::l1, 2, 5, 3).value(view(std::as_const(x))) == 7);
  CHECK(Penalty().value(view(std::as_const(x))) == 0);
}

TEST_CASE("a proximal operator finds what a search by brute force finds") {
  for (const Penalty& h : penalties)
    for (const double alpha : alphas)
      for (double x = -4.03; x <= 4.05; x += 0.24) {
        CAPTURE(static_cast<int>(h.kind()));
        CAPTURE(alpha);
        CAPTURE(x);
        REQUIRE(std::abs(h.prox(x, alpha) - prox_by_search(h, x, alpha)) < 1.01e-4);
      }
}

TEST_CASE("a proximal operator stretches no distance more than 1 / (1 - alpha rho), so it has no jumps") {
  for (const Penalty& h : penalties)
    for (const double alpha : alphas) {
      const double stretch = 1 / (1 - alpha * h.weak_convexity());
      for (double x = -4; x <= 4; x += 0.01) {
        CAPTURE(static_cast<int>(h.kind()));
        CAPTURE(alpha);
        CAPTURE(x);
        REQUIRE(std::abs(h.prox(x + 0.01, alpha) - h.prox(x, alpha)) <= 0.01 * stretch + 1e-12);
      }
    }
}

TEST_CASE("the operator of a vector is the operator of its coordinates, in both precisions") {
  const Penalty h(PenaltyKind::scad, 0.5, 5, 3.7);
  Vector<double> x(4);
  x << -0.3, 0.6, 1.2, -5;
  Vector<float> single = x.cast<float>();
  const Vector<double> before = x;
  h.prox(view(x), 0.5);
  h.prox(view(single), 0.5);
  for (Index i = 0; i < x.size(); ++i) {
    CHECK(x[i] == h.prox(before[i], 0.5));
    CHECK(std::abs(static_cast<double>(single[i]) - x[i]) < 1e-6);
  }
}

TEST_CASE("the operators of the length of a vector find what a search over a plane finds") {
  for (const Penalty& h : {Penalty(PenaltyKind::l2, 0.5, 1, 3), Penalty::ball(1.25), Penalty::box(-0.5, 1.75)})
    for (const double alpha : alphas)
      for (const auto& [first, second] : {std::pair{3.0, -2.0}, {0.3, 0.05}, {-0.7, 1.0}, {0.0, 0.0}, {-2.5, 0.0}}) {
        CAPTURE(static_cast<int>(h.kind()));
        CAPTURE(alpha);
        CAPTURE(first);
        Vector<double> x(2), z(2);
        x << first, second;
        Vector<double> found = x;
        h.prox(view(found), alpha);
        const auto cost = [&] { return h.value(view(std::as_const(z))) + (z - x).squaredNorm() / (2 * alpha); };
        double least = INFINITY;
        Vector<double> best = x;
        constexpr double width = 5e-3;
        for (z[0] = -3.1; z[0] <= 3.1; z[0] += width)
          for (z[1] = -3.1; z[1] <= 3.1; z[1] += width)
            if (const double value = cost(); value < least) least = value, best = z;
        CHECK((found - best).norm() < 3 * width);  // on a sphere the grid lies up to a cell inside
        z = found * (1 - 1e-12);                   // of a sphere the inner side
        CHECK(cost() <= least + 1e-9);
      }
}

TEST_CASE("a projection leaves what is allowed and is what it was when it is done again, in both precisions") {
  Vector<double> inside(3), outside(3);
  inside << 0.25, -0.5, 0.75;
  outside << 3, -4, 12;
  for (const Penalty& h : {Penalty::box(-0.5, 1.75), Penalty::ball(1.25)}) {
    Vector<double> x = inside;
    h.prox(view(x), 0.3);
    CHECK(x == inside);
    Vector<float> y = outside.cast<float>();
    h.prox(view(y), 0.3);
    const Vector<float> once = y;
    h.prox(view(y), 100.0);
    CHECK((y - once).norm() < 1e-6);
  }
  Vector<double> x = outside;  // of length 13
  Penalty::ball(1.3).prox(view(x), 1.0);
  CHECK((x - outside / 10).norm() < 1e-15);
  Vector<double> shorter = outside;
  Penalty(PenaltyKind::l2, 2, 1, 3).prox(view(shorter), 3.25);  // 6.5 shorter
  CHECK((shorter - outside / 2).norm() < 1e-15);
}

TEST_CASE("a penalty that bends too much for the step is refused with the bound that it breaks") {
  CHECK(complaint({{"h", std::string("mcp")}, {"h_theta", 0.5}, {"alpha", 0.5}}) ==
        "algorithm.alpha = 0.5: must be less than 0.5, or the penalty h has no proximal operator");
  CHECK(complaint({{"h", std::string("mcp")}, {"h_theta", 0.5}, {"alpha", 0.49}}).empty());
  CHECK(complaint({{"h", std::string("scad")}, {"h_a", 2.5}, {"alpha", 2.0}}) ==
        "algorithm.alpha = 2: must be less than 1.5, or the penalty h has no proximal operator");
  CHECK(complaint({{"h", std::string("scad")}, {"h_a", 2.5}, {"alpha", 2.0}, {"factor", 0.5}}).empty());
  CHECK(complaint({{"h", std::string("l1")}, {"alpha", 1e6}}).empty());
}

TEST_CASE("a penalty that cannot be is refused with what is allowed") {
  CHECK(complaint({{"h", std::string("lasso")}}) ==
        "algorithm.h = \"lasso\": must be \"none\", \"l1\", \"l2sq\", \"mcp\", \"scad\", \"l2\", \"box\" or \"ball\"");
  CHECK(complaint({{"h_lam", -1.0}}) == "algorithm.h_lam = -1: must be at least 0");
  CHECK(complaint({{"h_theta", 0.0}}) == "algorithm.h_theta = 0: must be greater than 0");
  CHECK(complaint({{"h_low", 1.0}, {"h_high", 1.0}}) == "algorithm.h_low = 1: must be less than h_high");
  CHECK(complaint({{"h_radius", 0.0}}) == "algorithm.h_radius = 0: must be greater than 0");
  CHECK(complaint({{"h_a", 2.0}}) == "algorithm.h_a = 2: must be greater than 2");
}
