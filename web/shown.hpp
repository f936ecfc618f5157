// Numbers as a page has them: shortened to what can be seen.
#pragma once

#include <cmath>

#include "results/result_text.hpp"

namespace rubato::web {

/// Six digits; whole numbers stay whole. JSON has no infinity, and a gap is what the page makes of null.
inline ResultJson shown_number(double value) {
  constexpr int digits = 6;
  constexpr double largest_whole = 9.0e15;
  if (!std::isfinite(value)) return nullptr;
  if (std::abs(value) < largest_whole && value == std::floor(value)) return static_cast<std::int64_t>(value);
  const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - (digits - 1));
  const double rounded = std::round(value / unit) * unit;
  return std::isfinite(rounded) ? ResultJson(std::stod(shortest(rounded))) : ResultJson(value);
}

}  // namespace rubato::web
