// Spectra of a series that is cut into segments.
#pragma once

#include <span>

#include "learning/types.hpp"

namespace rubato {

/// A row for each of the first `most` whole segments of `length` numbers: the amplitudes 2/length |sum_t x_t e^(-2 pi i
/// k t / length)| for k = 0 .. length/2 - 1.
Matrix<double> segment_spectra(std::span<const float> series, Index length, Index most);

}  // namespace rubato
