// Shape: how the numbers of one sample lie: planes of rows.
#pragma once

#include "learning/types.hpp"

namespace rubato {

/// channels x height x width numbers, plane by plane, row by row. What is no image is one row: {1, 1, features}.
struct Shape {
  Index channels = 1;
  Index height = 1;
  Index width = 1;

  Index size() const { return channels * height * width; }
  bool operator==(const Shape&) const = default;
};

}  // namespace rubato
