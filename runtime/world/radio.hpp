// What a radio link is worth: power, path loss, noise, and what they leave of the bandwidth.
#pragma once

#include <algorithm>
#include <numbers>

#include "runtime/elementary.hpp"

namespace rubato {

inline constexpr double speed_of_light = 299'792'458;  // m/s

/// 30 dBm are 1 W.
inline double watts_of_dbm(double dbm) { return elementary::exp((dbm - 30) / 10 * std::numbers::ln10); }

/// The numbers that all links of a cell share. Watts, hertz, metres, seconds.
struct Radio {
  double path_loss_exponent = 4;
  double bandwidth = 1e7;  ///< of one link
  double noise_dbm_per_hertz = -174;
  double least_distance = 1;        ///< nearer is not stronger
  double interference_radius = 50;  ///< a transmitter that is nearer to a receiver than this disturbs it

  double noise_watts() const { return watts_of_dbm(noise_dbm_per_hertz) * bandwidth; }
  /// The share of the power that arrives, without fading.
  double path_gain(double distance) const {
    const double d = std::max(distance, least_distance);
    if (path_loss_exponent == 4) return 1 / (d * d * (d * d));
    if (path_loss_exponent == 2) return 1 / (d * d);
    return elementary::exp(-path_loss_exponent * elementary::log(d));
  }
  /// Shannon's limit.
  double bits_per_second(double sinr) const { return bandwidth * (elementary::log(1 + sinr) / std::numbers::ln2); }
  /// From the first bit sent to the last received.
  double seconds(double bits, double sinr, double distance) const {
    return bits / bits_per_second(sinr) + distance / speed_of_light;
  }
};

}  // namespace rubato
