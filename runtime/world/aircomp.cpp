#include "runtime/world/aircomp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rubato {

double star_scale(std::span<const AirLeaf> leaves, double power_cap, double numbers) {
  double scale = std::numeric_limits<double>::infinity();
  for (const AirLeaf& leaf : leaves) {
    const double needed = leaf.weight * leaf.weight * leaf.norm_squared;
    if (needed > 0) scale = std::min(scale, power_cap * numbers * (leaf.amplitude * leaf.amplitude) / needed);
  }
  return scale;
}

double broadcast_scale(double norm_squared, double power_cap, double numbers) {
  return norm_squared > 0 ? power_cap * numbers / norm_squared : std::numeric_limits<double>::infinity();
}

double leaf_gain(const AirLeaf& leaf, double star_scale) { return std::sqrt(star_scale) / leaf.amplitude * leaf.weight; }

double broadcast_noise(const AirLeaf& leaf, double broadcast_scale) {
  return leaf.weight * leaf.weight / (broadcast_scale * (leaf.amplitude * leaf.amplitude));
}

}  // namespace rubato
