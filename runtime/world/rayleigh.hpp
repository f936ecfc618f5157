// Rayleigh fading: the power gain |h|^2 of a link is exponential with mean 1, and a link is up while it is strong
// enough.
#pragma once

namespace rubato {

/// When a faded link is up.
struct FadingThreshold {
  double least = 0;  ///< of the amplitude |h|, or of the power |h|^2
  bool is_of_power = false;

  double least_power() const { return is_of_power ? least : least * least; }
  bool is_up(double power_gain) const { return power_gain >= least_power(); }
  /// The chance that a link is up.
  double chance() const;
};

}  // namespace rubato
