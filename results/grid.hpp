// --grid key=a,b,c: the values that a comparison gives to keys, all with all.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rubato {

struct GridKey {
  std::string key;                  ///< dotted
  std::vector<std::string> values;  ///< as they stand behind --set key=
};

/// "key=a,b,c". A comma inside quotes, brackets or braces separates nothing. Throws std::invalid_argument.
GridKey parse_grid(const std::string& text);

/// Keys with their values, in the order of the grid's keys.
using GridPoint = std::vector<std::pair<std::string, std::string>>;

/// "key=value key=value".
std::string to_text(const GridPoint& point);

/// Every value of every key with all of the others; the last key changes first. Without keys: one empty point. Throws
/// std::invalid_argument if a key is there twice or has no value.
std::vector<GridPoint> grid_points(std::span<const GridKey> keys);

}  // namespace rubato
