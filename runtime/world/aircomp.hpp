// Sums over the air: the power control of one star's slots, and the noise that is left in what is heard.
// Source: equations 2.3 to 2.8 of asynchronous DSGD (docs/references.md#asynchronous-dsgd), which leave the scales open
// (C2-5, docs/references.md#asynchronous-dsgd-decisions).
#pragma once

#include <span>

namespace rubato {

/// What a leaf of a star brings to the slots; links fade equally in both directions.
struct AirLeaf {
  double weight = 0;        ///< of the leaf at the centre, and of the centre at the leaf
  double amplitude = 1;     ///< of the link, > 0
  double norm_squared = 0;  ///< of what the leaf sends
};

/// The scale c at which the leaves of a star can all send `numbers` symbols each below the power cap; infinite if
/// nobody sends anything but zeros. The estimate of the sum then has noise of variance sigma^2 / c in every number.
double star_scale(std::span<const AirLeaf> leaves, double power_cap, double numbers);

/// The scale a at which the centre can send likewise.
double broadcast_scale(double norm_squared, double power_cap, double numbers);

/// By what leaf multiplies its numbers: sqrt(c) w / h.
double leaf_gain(const AirLeaf& leaf, double star_scale);

/// Variance of the noise in the weighted broadcast that a leaf hears, for noise of variance 1.
double broadcast_noise(const AirLeaf& leaf, double broadcast_scale);

}  // namespace rubato
