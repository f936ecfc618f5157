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
    {PenaltyKind::none, 0.5, 1, 3},    {PenaltyKind::l1, 0.5, 1, 3}, {PenaltyKind::l2sq, 0.5, 1, 3},
    {PenaltyKind::mcp, 0.5, 2, 3},     {PenaltyKind::mcp, 1, 1, 3},  {PenaltyKind::scad, 0.5, 1, 3.7},
    {PenaltyKind::scad, 1, 1, 2.0625},
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
        "algorithm.h = \"lasso\": must be \"none\", \"l1\", \"l2sq\", \"mcp\" or \"scad\"");
  CHECK(complaint({{"h_lam", -1.0}}) == "algorithm.h_lam = -1: must be at least 0");
  CHECK(complaint({{"h_theta", 0.0}}) == "algorithm.h_theta = 0: must be greater than 0");
  CHECK(complaint({{"h_a", 2.0}}) == "algorithm.h_a = 2: must be greater than 2");
}
