#include "learning/data/spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace rubato {

Matrix<double> segment_spectra(std::span<const float> series, Index length, Index most) {
  const Index rows = std::min(most, static_cast<Index>(series.size()) / length), half = length / 2;
  Matrix<double> cosines(length, half), sines(length, half);
  for (Index t = 0; t < length; ++t) {
    for (Index k = 0; k < half; ++k) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(k * t % length) / static_cast<double>(length);
      cosines(t, k) = std::cos(angle);
      sines(t, k) = std::sin(angle);
    }
  }
  const Eigen::Map<const Matrix<float>> stored(series.data(), rows, length);
  const Matrix<double> segments = stored.cast<double>();
  const Matrix<double> real = segments * cosines, imaginary = segments * sines;
  return (real.array().square() + imaginary.array().square()).sqrt() * (2 / static_cast<double>(length));
}

}  // namespace rubato
