// Rows picked from a matrix, side by side in scratch memory.
#pragma once

#include "learning/learner.hpp"

namespace rubato {

/// The picked rows in order; without picks the matrix itself. Valid until the innermost scratch frame ends.
template <class Real>
ConstMatrixRef<Real> gather_rows(const Matrix<Real>& matrix, Picks picks, Scratch<Real>& scratch) {
  if (picks.empty()) return view(matrix);
  MatrixRef<Real> out = scratch.matrix(static_cast<Index>(picks.size()), matrix.cols());
  for (std::size_t i = 0; i < picks.size(); ++i) out.row(static_cast<Index>(i)) = matrix.row(picks[i]);
  return read_only(out);
}

}  // namespace rubato
