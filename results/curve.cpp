#include "results/curve.hpp"

#include <algorithm>
#include <limits>

namespace rubato {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

struct Extent {
  double from = 0;
  double to = std::numeric_limits<double>::infinity();
};

// The places that every curve knows.
std::optional<Extent> common_range(std::span<const Curve> curves, Axis axis) {
  Extent range;
  bool is_known = false;
  for (const Curve& curve : curves) {
    if (curve.empty()) continue;
    is_known = true;
    range.from = std::max(range.from, curve.front().at(axis));
    range.to = std::min(range.to, curve.back().at(axis));
  }
  if (!is_known) return std::nullopt;
  return range;
}

}  // namespace

std::string_view name_of(Axis axis) {
  switch (axis) {
    case Axis::seconds:
      return "seconds";
    case Axis::bits:
      return "bits";
    case Axis::gradients:
      return "gradients";
    case Axis::delay:
      return "delay";
    case Axis::joules:
      return "joules";
  }
  return "";
}

std::string_view name_of(Measure measure) {
  switch (measure) {
    case Measure::accuracy:
      return "accuracy";
    case Measure::accuracy_mean_model:
      return "accuracy_mean_model";
    case Measure::loss:
      return "loss";
    case Measure::loss_mean_model:
      return "loss_mean_model";
    case Measure::consensus:
      return "consensus";
  }
  return "";
}

std::optional<Axis> axis_named(std::string_view name) {
  for (const Axis axis : all_axes)
    if (name_of(axis) == name) return axis;
  return std::nullopt;
}

double CurvePoint::at(Axis axis) const {
  switch (axis) {
    case Axis::seconds:
      return seconds;
    case Axis::bits:
      return bits;
    case Axis::gradients:
      return gradients;
    case Axis::delay:
      return delay;
    case Axis::joules:
      return joules;
  }
  return unknown;
}

double CurvePoint::value(Measure measure) const {
  switch (measure) {
    case Measure::accuracy:
      return accuracy;
    case Measure::accuracy_mean_model:
      return accuracy_mean_model;
    case Measure::loss:
      return loss;
    case Measure::loss_mean_model:
      return loss_mean_model;
    case Measure::consensus:
      return consensus;
  }
  return unknown;
}

CurvePoint point_of(const Sample& sample) {
  CurvePoint point;
  point.seconds = to_seconds(sample.header.at);
  point.bits = static_cast<double>(sample.traffic.paper_bits);
  point.gradients = static_cast<double>(sample.traffic.gradients);
  point.delay = sample.header.cumulated_delay;
  point.joules = sample.header.energy.joules();
  point.accuracy = sample.is_classified ? sample.accuracy_mean : unknown;
  point.accuracy_mean_model = sample.is_classified ? sample.accuracy_mean_model : unknown;
  point.loss = sample.loss_mean;
  point.loss_mean_model = sample.loss_mean_model;
  point.consensus = sample.consensus;
  return point;
}

bool is_beyond(const CurvePoint& point, const config::Budget& budget) {
  return (budget.bits && point.bits > *budget.bits) || (budget.gradients && point.gradients > *budget.gradients);
}

Curve within(Curve curve, const config::Budget& budget) {
  const auto end = std::ranges::find_if(curve, [&](const CurvePoint& point) { return is_beyond(point, budget); });
  curve.erase(end, curve.end());
  return curve;
}

std::optional<CurvePoint> first_reach(const Curve& curve, double accuracy) {
  const auto found = std::ranges::find_if(curve, [&](const CurvePoint& point) { return point.accuracy >= accuracy; });
  if (found == curve.end()) return std::nullopt;
  return *found;
}

double value_at(const Curve& curve, Axis axis, double place, Measure measure) {
  const auto next = std::ranges::upper_bound(curve, place, {}, [&](const CurvePoint& point) { return point.at(axis); });
  if (next == curve.begin()) return curve.front().value(measure);
  const CurvePoint& before = *(next - 1);
  if (next == curve.end() || before.at(axis) == place) return before.value(measure);
  const double share = (place - before.at(axis)) / (next->at(axis) - before.at(axis));
  return before.value(measure) + share * (next->value(measure) - before.value(measure));
}

Spread spread_of(std::span<const double> values) {
  if (values.empty()) return {0, unknown, unknown};
  return {values.size(), mean(values), population_deviation(values)};
}

Band band_of(std::span<const Curve> curves, Axis axis, Measure measure, std::size_t points) {
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
