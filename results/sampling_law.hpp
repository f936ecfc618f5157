// --sample key=log(1e-4,1): values of keys that are drawn, for comparisons whose grids would be too large.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "results/grid.hpp"

namespace rubato {

struct SampledKey {
  enum class Law { uniform, log, integer, one_of };
  std::string key;  ///< dotted
  Law law = Law::uniform;
  double from = 0, to = 0;           ///< of the other laws than one_of; integer: both can be drawn
  std::vector<std::string> words{};  ///< of one_of, as they stand behind --set key=
};

/// "key=log(1e-4,1)" (uniform in the logarithm), "key=uniform(0,1)", "key=integer(1,20)" or "key=one_of(a,b,c)". Throws
/// std::invalid_argument.
SampledKey parse_sample(const std::string& text);

/// So many points. Point i is the same whatever `count` is, and a key's values are, whatever the other keys are. Numbers have four
/// significant digits, so that they can be typed again. Throws std::invalid_argument if a key is there twice.
std::vector<GridPoint> sampled_points(std::span<const SampledKey> keys, std::size_t count, std::uint64_t seed);

/// Every point of the one with every point of the other.
std::vector<GridPoint> all_with_all(const std::vector<GridPoint>& some, const std::vector<GridPoint>& others);

}  // namespace rubato
