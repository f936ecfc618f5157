#include "results/comparison_table.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace rubato {

namespace {

Costs costs_of(std::span<const CurvePoint> points) {
  const auto along = [&](Axis axis) {
    std::vector<double> values;
    for (const CurvePoint& point : points) values.push_back(point.at(axis));
    return spread_of(values);
  };
  return {along(Axis::seconds), along(Axis::bits), along(Axis::gradients), along(Axis::delay), along(Axis::joules)};
}

TargetReached reached_by(const ComparedOutcome& outcome, double accuracy) {
  std::vector<CurvePoint> points;
  for (const ComparedRun& run : outcome.runs)
    if (const auto point = first_reach(run.curve, accuracy)) points.push_back(*point);
  return {accuracy, points.size(), costs_of(points)};
}

ComparedRow row_of(const ComparedOutcome& outcome, std::span<const double> targets) {
  std::vector<CurvePoint> ends;
  for (const ComparedRun& run : outcome.runs)
    if (!run.curve.empty()) ends.push_back(run.curve.back());
  const auto of = [&](Measure measure) {
    std::vector<double> values;
    for (const CurvePoint& end : ends) values.push_back(end.value(measure));
    return spread_of(values);
  };
  ComparedRow row{&outcome,
                  of(Measure::accuracy),
                  of(Measure::accuracy_mean_model),
                  of(Measure::loss),
                  of(Measure::loss_mean_model),
                  of(Measure::consensus),
                  costs_of(ends),
                  {}};
  for (const double target : targets) row.targets.push_back(reached_by(outcome, target));
  return row;
}

}  // namespace

const Spread& Costs::at(Axis axis) const {
  switch (axis) {
    case Axis::bits:
      return bits;
    case Axis::gradients:
      return gradients;
    case Axis::delay:
      return delay;
    case Axis::joules:
      return joules;
    case Axis::seconds:
      break;
  }
  return seconds;
}

const Spread& ComparedRow::at(Measure measure) const {
  switch (measure) {
    case Measure::accuracy_mean_model:
      return accuracy_mean_model;
    case Measure::loss:
      return loss;
    case Measure::loss_mean_model:
      return loss_mean_model;
    case Measure::consensus:
      return consensus;
    case Measure::accuracy:
      break;
  }
  return accuracy;
}

std::vector<ComparedRow> rows_of(const Comparison& comparison, std::span<const double> targets) {
  std::vector<ComparedRow> rows;
  for (const ComparedOutcome& outcome : comparison.outcomes) rows.push_back(row_of(outcome, targets));
  return rows;
}

std::vector<double> parse_targets(const std::string& text) {
  std::vector<double> targets;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    double target = 0;
    const auto [end, error] = std::from_chars(one.data(), one.data() + one.size(), target);
    if (error != std::errc{} || end != one.data() + one.size() || !(target > 0 && target <= 1))
      throw std::invalid_argument("--target " + text + ": must be accuracies greater than 0 and at most 1");
    targets.push_back(target);
  }
  return targets;
}

}  // namespace rubato
