// Products of large matrices of float, through oneDNN: its kernels fit the machine that runs them.
#pragma once

#include "learning/types.hpp"

namespace rubato {

/// rows x depth times depth x columns.
struct ProductSize {
  Index rows;
  Index columns;
  Index depth;
};

/// Numbers row by row without gaps, to be read as they lie or as the transpose of that.
template <class Real>
struct Factor {
  const Real* numbers;
  bool is_transposed = false;
};

/// out <- scale a b + keep out for products so large that this is the faster way; else it does nothing and says false:
/// small products are better left to Eigen, and all of double have to be. out lies row by row and need not be aligned.
/// Equal arguments give equal bits on one machine, whatever the thread; machines may differ in their last bits.
template <class Real>
[[nodiscard]] bool multiply_large(const ProductSize& size, Real scale, Factor<Real> a, Factor<Real> b, Real keep, Real* out);

}  // namespace rubato
