// NoLoCo: what its steps must satisfy (docs/references.md#noloco, equation 74).
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>

namespace rubato {

/// The slow weights of groups of `group` >= 2 clients stay together for gamma above the first number and below the second,
/// with momentum alpha.
inline std::pair<double, double> noloco_gamma_range(std::size_t group, double alpha) {
  const auto n = static_cast<double>(group);
  return {alpha * std::sqrt(n / (2 * (n - 1))), std::sqrt(n * (2 + alpha * alpha) / (2 * (n - 1)))};
}

}  // namespace rubato
