// Pooling: the largest number of every window, or the mean of every channel.
#pragma once

#include "learning/network/operation.hpp"

namespace rubato {

struct PoolingForm {
  Shape in;
  Index size = 2;
  Index stride = 2;
  Index padding = 0;        ///< less than size; what lies outside never is the largest
  bool masks_relu = false;  ///< the input is max(0, .): nothing flows back to where it is 0

  Shape out() const {
    return {in.channels, (in.height + 2 * padding - size) / stride + 1, (in.width + 2 * padding - size) / stride + 1};
  }
};

/// Of equal numbers the first in a window's row order is the largest.
template <class Real>
OperationPtr<Real> make_max_pooling(const PoolingForm& form);

/// A number per channel: the mean of all its pixels.
template <class Real>
OperationPtr<Real> make_mean_pooling(const Shape& in);

}  // namespace rubato
