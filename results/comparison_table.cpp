#include "results/comparison_table.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace rubato {

namespace {

PerColumn<Spread> spreads_of(std::span<const CurvePoint> points) {
  return PerColumn<Spread>([&](const SampleColumn& column) {
    std::vector<double> values;
    for (const CurvePoint& point : points) values.push_back(point[column]);
    return spread_of(values);
  });
}

TargetReached reached_by(const ComparedOutcome& outcome, double accuracy) {
  std::vector<CurvePoint> points;
  for (const ComparedRun& run : outcome.runs)
    if (const auto point = first_reach(run.curve, accuracy)) points.push_back(*point);
  return {accuracy, points.size(), spreads_of(points)};
}

ComparedRow row_of(const ComparedOutcome& outcome, std::span<const double> targets) {
  std::vector<CurvePoint> ends;
  for (const ComparedRun& run : outcome.runs)
    if (!run.curve.empty()) ends.push_back(run.curve.back());
  ComparedRow row{&outcome, spreads_of(ends)};
  for (const double target : targets) row.targets.push_back(reached_by(outcome, target));
  return row;
}

}  // namespace

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
