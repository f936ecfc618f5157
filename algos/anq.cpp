#include "algos/anq.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace rubato {

Anq::Anq(double eta, double omega) : eta_{eta}, omega_{omega}, log_ratio_{std::log1p(omega) - std::log1p(-omega)} {}

std::int32_t Anq::level(double x) const {
  const double size = std::abs(x) / eta_;
  const double least = omega_ > 0 ? (std::log1p(omega_ * size) + std::log1p(-omega_)) / log_ratio_ : (size - 1) / 2;
  const double level = std::min(std::ceil(least), static_cast<double>(most_level));
  if (!(level > 0)) return 0;
  return static_cast<std::int32_t>(std::copysign(level, x));
}

double Anq::value(std::int32_t level) const {
  if (omega_ == 0) return 2 * eta_ * level;
  return std::copysign(eta_ / omega_ * std::expm1(log_ratio_ * std::abs(level)), level);
}

std::uint32_t elias_gamma_bits(std::uint32_t code) {
  return 2 * static_cast<std::uint32_t>(std::bit_width(static_cast<std::uint64_t>(code) + 1)) - 1;
}

}  // namespace rubato
