// Vectors, options and distances as tests write them.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "algos/options.hpp"
#include "learning/types.hpp"

namespace rubato::test {

inline Vector<double> numbers(std::initializer_list<double> values) {
  Vector<double> all(static_cast<Index>(values.size()));
  std::copy(values.begin(), values.end(), all.begin());
  return all;
}

inline AlgorithmOptions options_of(std::initializer_list<std::pair<const char*, AlgorithmOptions::Value>> values) {
  AlgorithmOptions options;
  for (const auto& [name, value] : values) options.set(name, value);
  return options;
}

inline double distance(const Matrix<double>& a, const Matrix<double>& b) { return (a - b).cwiseAbs().maxCoeff(); }

/// Of all rows.
inline Vector<double> mean_of(const Matrix<double>& rows) { return rows.colwise().mean().transpose(); }

}  // namespace rubato::test
