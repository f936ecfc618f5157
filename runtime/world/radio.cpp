#include "runtime/world/radio.hpp"

#include <algorithm>

#include "runtime/elementary.hpp"

namespace rubato {

namespace {

constexpr double ln2 = 0.69314718055994530942, ln10 = 2.30258509299404568402;

}  // namespace

double watts_of_dbm(double dbm) { return elementary::exp((dbm - 30) / 10 * ln10); }

double Radio::noise_watts() const { return watts_of_dbm(noise_dbm_per_hertz) * bandwidth; }

double Radio::path_gain(double distance) const {
  const double d = std::max(distance, least_distance);
  if (path_loss_exponent == 4) return 1 / (d * d * (d * d));
  if (path_loss_exponent == 2) return 1 / (d * d);
  return elementary::exp(-path_loss_exponent * elementary::log(d));
}

double Radio::bits_per_second(double sinr) const { return bandwidth * (elementary::log(1 + sinr) / ln2); }

}  // namespace rubato
