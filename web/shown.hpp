// Numbers as a page has them: shortened to what can be seen, and no more of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

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

/// [read(a), read(b), ...] of the elements of a range.
template <class Range, class Read>
ResultJson json_list(const Range& range, Read read) {
  ResultJson list = ResultJson::array();
  for (const auto& element : range) list.push_back(read(element));
  return list;
}

/// At most `most` of so many places: evenly, the first and the last among them.
inline std::vector<std::size_t> evenly(std::size_t count, std::size_t most) {
  std::vector<std::size_t> places(std::min(count, most));
  for (std::size_t i = 1; i < places.size(); ++i) places[i] = i * (count - 1) / (places.size() - 1);
  return places;
}

}  // namespace rubato::web
