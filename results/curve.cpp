#include "results/curve.hpp"

#include <algorithm>
#include <cmath>

namespace rubato {

CurvePoint point_of(const Sample& sample) {
  return CurvePoint([&](const SampleColumn& column) { return to_double(column.read(sample)); });
}

bool is_beyond(const CurvePoint& point, const config::Budget& budget) {
  return (budget.bits && point["bits"] > *budget.bits) || (budget.gradients && point["gradients"] > *budget.gradients);
}

Curve within(Curve curve, const config::Budget& budget) {
  const auto end = std::ranges::find_if(curve, [&](const CurvePoint& point) { return is_beyond(point, budget); });
  curve.erase(end, curve.end());
  return curve;
}

std::optional<CurvePoint> first_reach(const Curve& curve, double accuracy) {
  const auto found = std::ranges::find_if(curve, [&](const CurvePoint& point) { return point["accuracy"] >= accuracy; });
  if (found == curve.end()) return std::nullopt;
  return *found;
}

double value_at(const Curve& curve, const SampleColumn& axis, double place, const SampleColumn& measure) {
  const auto next = std::ranges::upper_bound(curve, place, {}, [&](const CurvePoint& point) { return point[axis]; });
  if (next == curve.begin()) return curve.front()[measure];
  const CurvePoint& before = *(next - 1);
  if (next == curve.end() || before[axis] == place) return before[measure];
  const double share = (place - before[axis]) / ((*next)[axis] - before[axis]);
  return before[measure] + share * ((*next)[measure] - before[measure]);
}

Spread spread_of(std::span<const double> values) {
  if (values.empty()) return {0, not_known, not_known};
  const auto count = static_cast<double>(values.size());
  return {values.size(), mean(values), count > 1 ? population_deviation(values) * std::sqrt(count / (count - 1)) : not_known};
}

}  // namespace rubato
