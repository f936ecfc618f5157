// What a radio link is worth: power, path loss, noise, and what they leave of the bandwidth.
#pragma once

namespace rubato {

inline constexpr double speed_of_light = 299'792'458;  // m/s

/// 30 dBm are 1 W.
double watts_of_dbm(double dbm);

/// The numbers that all links of a cell share. Watts, hertz, metres, seconds.
struct Radio {
  double path_loss_exponent = 4;
  double bandwidth = 1e7;  ///< of one link
  double noise_dbm_per_hertz = -174;
  double least_distance = 1;        ///< nearer is not stronger
  double interference_radius = 50;  ///< a transmitter that is nearer to a receiver than this disturbs it

  double noise_watts() const;
  /// The share of the power that arrives, without fading.
  double path_gain(double distance) const;
  /// Shannon's limit.
  double bits_per_second(double sinr) const;
  /// From the first bit sent to the last received.
  double seconds(double bits, double sinr, double distance) const {
    return bits / bits_per_second(sinr) + distance / speed_of_light;
  }
};

}  // namespace rubato
