#include "results/curve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rubato {

namespace {

struct Extent {
  double from = 0;
  double to = std::numeric_limits<double>::infinity();
};

// The places that every curve knows.
std::optional<Extent> common_range(std::span<const Curve> curves, const SampleColumn& axis) {
  Extent range;
  bool is_known = false;
  for (const Curve& curve : curves) {
    if (curve.empty()) continue;
    is_known = true;
    range.from = std::max(range.from, curve.front()[axis]);
    range.to = std::min(range.to, curve.back()[axis]);
  }
  if (!is_known) return std::nullopt;
  return range;
}

}  // namespace

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

Band band_of(std::span<const Curve> curves, const SampleColumn& axis, const SampleColumn& measure, std::size_t points) {
  Band band;
  const auto range = common_range(curves, axis);
  if (!range || points == 0) return band;
  const std::size_t places = range->to > range->from ? points : 1;
  for (std::size_t i = 0; i < places; ++i) {
    const double share = places == 1 ? 1 : static_cast<double>(i) / static_cast<double>(places - 1);
    const double place = i + 1 == places ? range->to : range->from + share * (range->to - range->from);
    std::vector<double> values;
    for (const Curve& curve : curves)
      if (!curve.empty()) values.push_back(value_at(curve, axis, place, measure));
    const Spread spread = spread_of(values);
    band.at.push_back(place);
    band.mean.push_back(spread.mean);
    band.deviation.push_back(spread.deviation);
  }
  return band;
}

}  // namespace rubato
