#include "results/paired.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace rubato {

double student_t(std::size_t freedom) {
  constexpr std::array quantiles{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                 2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                                 2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  if (freedom == 0) return std::numeric_limits<double>::quiet_NaN();
  if (freedom <= quantiles.size()) return quantiles[freedom - 1];
  const auto many = static_cast<double>(freedom);
  return 1.95996 + 2.3722 / many + 2.82 / (many * many);
}

PairedDifference paired_difference(const ComparedOutcome& one, const ComparedOutcome& other, const SampleColumn& measure) {
  std::vector<double> differences;
  for (const ComparedRun& run : one.runs)
    for (const ComparedRun& twin : other.runs) {
      if (twin.seed != run.seed || run.curve.empty() || twin.curve.empty()) continue;
      const double by = run.curve.back()[measure] - twin.curve.back()[measure];
      if (std::isfinite(by)) differences.push_back(by);
    }
  PairedDifference difference{.spread = spread_of(differences)};
  const auto n = static_cast<double>(differences.size());
  difference.half = student_t(differences.empty() ? 0 : differences.size() - 1) * difference.spread.deviation / std::sqrt(n);
  return difference;
}

}  // namespace rubato
