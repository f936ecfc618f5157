// Distances between what was drawn and what the law says.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace rubato::test {

/// Largest distance between the empirical distribution of these numbers and the uniform one, times sqrt(n).
inline double kolmogorov_smirnov(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const double n = static_cast<double>(values.size());
  double distance = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double rank = static_cast<double>(i);
    distance = std::max({distance, values[i] - rank / n, (rank + 1) / n - values[i]});
  }
  return distance * std::sqrt(n);
}

inline constexpr double ks_limit = 2.2;  // passed with probability above 0.9998

inline double mean(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

inline double variance(std::span<const double> values) {
  const double centre = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return sum / static_cast<double>(values.size() - 1);
}

/// Between -1 and 1; of independent numbers within 4 / sqrt(n) with probability above 0.9999.
inline double correlation(std::span<const double> a, std::span<const double> b) {
  const double centre_a = mean(a), centre_b = mean(b);
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - centre_a) * (b[i] - centre_b);
  return sum / static_cast<double>(a.size() - 1) / std::sqrt(variance(a) * variance(b));
}

}  // namespace rubato::test
