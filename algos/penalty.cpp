#include "algos/penalty.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace rubato {

namespace {

double soft(double x, double threshold) { return std::copysign(std::max(std::abs(x) - threshold, 0.0), x); }

double mcp_value(double size, double lam, double theta) {
  return size <= theta * lam ? lam * size - size * size / (2 * theta) : theta * lam * lam / 2;
}

double scad_value(double size, double lam, double a) {
  if (size <= lam) return lam * size;
  if (size <= a * lam) return (2 * a * lam * size - size * size - lam * lam) / (2 * (a - 1));
  return lam * lam * (a + 1) / 2;
}

double mcp_prox(double x, double alpha, double lam, double theta) {
  const double size = std::abs(x);
  return size <= theta * lam ? soft(x, alpha * lam) / (1 - alpha / theta) : x;
}

double scad_prox(double x, double alpha, double lam, double a) {
  const double size = std::abs(x);
  if (size <= (1 + alpha) * lam) return soft(x, alpha * lam);
  if (size <= a * lam) return ((a - 1) * x - std::copysign(a * alpha * lam, x)) / (a - 1 - alpha);
  return x;
}

bool is_of_norm(PenaltyKind kind) { return kind == PenaltyKind::l2 || kind == PenaltyKind::ball; }

}  // namespace

Penalty::Penalty(const AlgorithmOptions& given) {
  const OptionReader options(given, penalty_options);
  kind_ = options.choice<PenaltyKind>("h");
  lam_ = options.number("h_lam");
  theta_ = options.number("h_theta");
  a_ = options.number("h_a");
  low_ = options.number("h_low");
  high_ = options.number("h_high");
  radius_ = options.number("h_radius");
  if (!(low_ < high_)) refuse_option("h_low", low_, "must be less than h_high");
}

Penalty Penalty::box(double low, double high) {
  Penalty penalty(PenaltyKind::box, 0, 1, 3);
  penalty.low_ = low;
  penalty.high_ = high;
  return penalty;
}

Penalty Penalty::ball(double radius) {
  Penalty penalty(PenaltyKind::ball, 0, 1, 3);
  penalty.radius_ = radius;
  return penalty;
}

double Penalty::value(double x) const {
  switch (kind_) {
    case PenaltyKind::none:
      return 0;
    case PenaltyKind::l1:
      return lam_ * std::abs(x);
    case PenaltyKind::l2sq:
      return lam_ / 2 * x * x;
    case PenaltyKind::mcp:
      return mcp_value(std::abs(x), lam_, theta_);
    case PenaltyKind::scad:
      return scad_value(std::abs(x), lam_, a_);
    case PenaltyKind::l2:
      return lam_ * std::abs(x);
    case PenaltyKind::box:
      return low_ <= x && x <= high_ ? 0 : std::numeric_limits<double>::infinity();
    case PenaltyKind::ball:
      return std::abs(x) <= radius_ ? 0 : std::numeric_limits<double>::infinity();
  }
  return 0;
}

template <class Real>
double Penalty::value(ConstVectorRef<Real> x) const {
  if (kind_ == PenaltyKind::none) return 0;
  if (is_of_norm(kind_)) return value(x.template cast<double>().norm());
  double sum = 0;
  for (const Real number : x) sum += value(static_cast<double>(number));
  return sum;
}

double Penalty::weak_convexity() const {
  if (kind_ == PenaltyKind::mcp) return 1 / theta_;
  if (kind_ == PenaltyKind::scad) return 1 / (a_ - 1);
  return 0;
}

double Penalty::prox(double x, double alpha) const {
  switch (kind_) {
    case PenaltyKind::none:
      return x;
    case PenaltyKind::l1:
      return soft(x, alpha * lam_);
    case PenaltyKind::l2sq:
      return x / (1 + alpha * lam_);
    case PenaltyKind::mcp:
      return mcp_prox(x, alpha, lam_, theta_);
    case PenaltyKind::scad:
      return scad_prox(x, alpha, lam_, a_);
    case PenaltyKind::box:
      return std::clamp(x, low_, high_);
    case PenaltyKind::l2:
    case PenaltyKind::ball:
      return shrink(std::abs(x), alpha) * x;
  }
  return x;
}

double Penalty::shrink(double norm, double alpha) const {
  if (kind_ == PenaltyKind::ball) return norm <= radius_ ? 1 : radius_ / norm;
  return norm <= alpha * lam_ ? 0 : 1 - alpha * lam_ / norm;
}

template <class Real>
void Penalty::prox(VectorRef<Real> x, double alpha) const {
  if (kind_ == PenaltyKind::none) return;
  if (is_of_norm(kind_)) {
    x *= static_cast<Real>(shrink(x.template cast<double>().norm(), alpha));
    return;
  }
  for (Real& number : x) number = static_cast<Real>(prox(static_cast<double>(number), alpha));
}

void Penalty::require_step(const std::string& option, double alpha, double factor) const {
  const double rho = weak_convexity();
  if (alpha * factor * rho < 1) return;
  std::ostringstream condition;
  condition << "must be less than " << 1 / (factor * rho) << ", or the penalty h has no proximal operator";
  refuse_option(option, alpha, condition.str());
}

template double Penalty::value<float>(ConstVectorRef<float>) const;
template double Penalty::value<double>(ConstVectorRef<double>) const;
template void Penalty::prox<float>(VectorRef<float>, double) const;
template void Penalty::prox<double>(VectorRef<double>, double) const;

}  // namespace rubato
