// The logistic function and its integral, written so that the exponential never overflows.
#pragma once

#include <algorithm>
#include <cmath>

namespace rubato {

/// ln(1 + e^z).
template <class Real>
Real softplus(Real z) {
  return std::max(z, Real{0}) + std::log1p(std::exp(-std::abs(z)));
}

/// 1 / (1 + e^-z).
template <class Real>
Real sigmoid(Real z) {
  const Real small = std::exp(-std::abs(z));
  return z >= 0 ? 1 / (1 + small) : small / (1 + small);
}

}  // namespace rubato
