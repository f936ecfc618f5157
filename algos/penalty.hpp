// Penalty: a regulariser of the model with its proximal operator: a sum over coordinates, a norm, or a set that is not left.
#pragma once

#include <string>

#include "algos/catalogue.hpp"
#include "learning/types.hpp"

namespace rubato {

enum class PenaltyKind : std::uint8_t { none, l1, l2sq, mcp, scad, l2, box, ball };
constexpr std::string_view word_list(PenaltyKind) { return "none|l1|l2sq|mcp|scad|l2|box|ball"; }

/// h(x) = sum over coordinates of one of these (DE-7, docs/references.md#depositum-decisions):
///   l1     lam |x|
///   l2sq   lam/2 x^2
///   mcp    lam |x| - x^2 / (2 theta)  up to |x| = theta lam, then constant
///   scad   lam |x|  up to |x| = lam, (2 a lam |x| - x^2 - lam^2) / (2 (a - 1))  up to a lam, then constant
///   box    0 for low <= x <= high, else infinite
/// or, of all coordinates together,
///   l2     lam ||x||
///   ball   0 for ||x|| <= radius, else infinite
class Penalty {
 public:
  Penalty() = default;
  /// Reads h and the keys that begin with h_. Throws std::invalid_argument with the condition that fails.
  explicit Penalty(const AlgorithmOptions& options);
  /// lam >= 0, theta > 0, a > 2. What the kind does not have is not looked at.
  Penalty(PenaltyKind kind, double lam, double theta, double a) : kind_{kind}, lam_{lam}, theta_{theta}, a_{a} {}

  /// low < high.
  static Penalty box(double low, double high);
  /// radius > 0.
  static Penalty ball(double radius);

  PenaltyKind kind() const { return kind_; }

  /// Of a vector of one coordinate, and of any.
  double value(double x) const;
  template <class Real>
  double value(ConstVectorRef<Real> x) const;

  /// rho: h(x) + rho/2 x^2 is convex.
  double weak_convexity() const;

  /// argmin_z h(z) + (z - x)^2 / (2 alpha), of one coordinate. Needs alpha > 0 and alpha rho < 1.
  double prox(double x, double alpha) const;
  /// The same of a vector, in place.
  template <class Real>
  void prox(VectorRef<Real> x, double alpha) const;

  /// Throws std::invalid_argument that names the option where alpha rho >= 1: then there is no proximal operator.
  /// `alpha` is what stands in the file; the operator is used with alpha x factor.
  void require_step(const std::string& option, double alpha, double factor = 1) const;

 private:
  /// What the operator multiplies a vector of this length by, where it keeps the direction: l2 and ball.
  double shrink(double norm, double alpha) const;

  PenaltyKind kind_ = PenaltyKind::none;
  double lam_ = 0, theta_ = 5, a_ = 3.7, low_ = -1, high_ = 1, radius_ = 1;
};

/// The keys of [algorithm] that the constructor reads.
inline constexpr std::array penalty_options{
    word_option("h", "none", "penalty of the model", word_list(PenaltyKind{})),
    OptionSpec{"h_lam", OptionType::number, "0.0001", "lambda of the penalty", 0, 1e9},
    OptionSpec{"h_theta", OptionType::number, "5", "theta of mcp", 0, 1e9, true},
    OptionSpec{"h_a", OptionType::number, "3.7", "a of scad", 2, 1e9, true},
    OptionSpec{"h_low", OptionType::number, "-1", "smallest number that box allows", -1e9, 1e9},
    OptionSpec{"h_high", OptionType::number, "1", "greatest number that box allows", -1e9, 1e9},
    OptionSpec{"h_radius", OptionType::number, "1", "longest model that ball allows", 0, 1e9, true},
};

extern template double Penalty::value<float>(ConstVectorRef<float>) const;
extern template double Penalty::value<double>(ConstVectorRef<double>) const;
extern template void Penalty::prox<float>(VectorRef<float>, double) const;
extern template void Penalty::prox<double>(VectorRef<double>, double) const;

}  // namespace rubato
