// Anq: the adaptive non-uniform quantiser, whose levels lie densely around zero and ever farther apart away from it
// (docs/references.md#anq-nids).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace rubato {

/// A number becomes a level, and a level a number again that is at most eta + omega |x| away.
///
///   omega > 0:  |level| is the least l with 1 + omega |x| / eta <= r^l / (1 - omega), r = (1 + omega) / (1 - omega);
///               value = sgn (eta / omega) (r^l - 1)
///   omega = 0:  |level| = ceil((|x| - eta) / (2 eta)), at least 0;  value = 2 eta level
class Anq {
 public:
  /// Levels beyond it are cut off, so that they have a place in a message whatever x is.
  static constexpr std::int32_t most_level = 1 << 30;

  /// eta > 0, 0 <= omega < 1.
  Anq(double eta, double omega) : eta_{eta}, omega_{omega}, log_ratio_{std::log1p(omega) - std::log1p(-omega)} {}

  std::int32_t level(double x) const {
    const double size = std::abs(x) / eta_;
    const double least = omega_ > 0 ? (std::log1p(omega_ * size) + std::log1p(-omega_)) / log_ratio_ : (size - 1) / 2;
    const double level = std::min(std::ceil(least), static_cast<double>(most_level));
    return level > 0 ? static_cast<std::int32_t>(std::copysign(level, x)) : 0;
  }
  double value(std::int32_t level) const {
    if (omega_ == 0) return 2 * eta_ * level;
    return std::copysign(eta_ / omega_ * std::expm1(log_ratio_ * std::abs(level)), level);
  }

 private:
  double eta_;
  double omega_;
  double log_ratio_;  // ln r
};

/// 0, -1, 1, -2, 2, ... -> 0, 1, 2, 3, 4, ...
constexpr std::uint32_t zigzag(std::int32_t level) {
  return (static_cast<std::uint32_t>(level) << 1) ^ static_cast<std::uint32_t>(level >> 31);
}
constexpr std::int32_t level_of_zigzag(std::uint32_t code) {
  return static_cast<std::int32_t>(code >> 1) ^ -static_cast<std::int32_t>(code & 1);
}

/// The length of the Elias gamma code of code + 1.
constexpr std::uint32_t elias_gamma_bits(std::uint32_t code) {
  return 2 * static_cast<std::uint32_t>(std::bit_width(static_cast<std::uint64_t>(code) + 1)) - 1;
}

}  // namespace rubato
