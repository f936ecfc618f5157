// The course of one run as a curve, and what several curves say together: how far apart they are, and when each reaches what.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "experiment/experiment.hpp"
#include "results/columns.hpp"

namespace rubato {

/// A sample without what belongs to single clients.
using CurvePoint = PerColumn<double>;

/// In ascending order of time.
using Curve = std::vector<CurvePoint>;

CurvePoint point_of(const Sample& sample);

bool is_beyond(const CurvePoint& point, const config::Budget& budget);
/// The curve up to the last point before the first that is beyond the budget.
Curve within(Curve curve, const config::Budget& budget);

/// The first point whose mean accuracy of clients is at least this.
std::optional<CurvePoint> first_reach(const Curve& curve, double accuracy);

/// What the curve says at this place of the axis: along a straight line between its points, of several points at one
/// place the last. Before its beginning the first value, behind its end the last. The curve is not empty.
double value_at(const Curve& curve, const SampleColumn& axis, double place, const SampleColumn& measure);

/// Mean and standard deviation of a sample, of n - 1: runs stand for all that could have been. NaN for no values, and for
/// the deviation of a single one.
struct Spread {
  std::size_t count = 0;
  double mean = 0;
  double deviation = 0;
};
Spread spread_of(std::span<const double> values);

}  // namespace rubato
