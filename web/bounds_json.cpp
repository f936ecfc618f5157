#include "web/bounds_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiment/build/world_seconds.hpp"
#include "runtime/world/bounds.hpp"

namespace rubato::web {

namespace {

using Json = ResultJson;

// Of the losses of an experiment.
struct Losses {
  StationarityGoal goal{};  // but for the accuracy
  bool are_equal = false;   // of all clients
};

std::optional<Losses> losses_of(const config::Experiment& experiment, double first_objective) {
  const config::Data& data = experiment.data;
  const auto dimension = static_cast<double>(data.dimension);
  if (data.name == "tridiagonal") {  // docs/references.md#tridiagonal
    const double least = (1 / (dimension + 1) - 1) / 8;
    return Losses{{.smoothness = 1, .gap = first_objective - least, .noise = data.noise * data.noise * dimension},
                  data.spread == 0};
  }
  if (data.name == "quadratic" && experiment.metrics.smoothness)
    return Losses{{.smoothness = *experiment.metrics.smoothness, .gap = first_objective}, false};
  return std::nullopt;
}

struct Bound {
  std::string name;
  std::function<double(const StationarityGoal&)> seconds;
};

std::vector<Bound> bounds_of(const Timing& timing, bool are_equal) {
  const std::vector<double> h = gradient_seconds(timing);
  const auto links = h.size() <= most_bounded_clients ? link_seconds(timing) : std::nullopt;
  if (!links)
    return {{"lower bound",
             [=](const auto& goal) { return are_equal ? server_bounds(h, goal).rennala : server_bounds(h, goal).malenia; }},
            {"minibatch", [=](const auto& goal) { return server_bounds(h, goal).minibatch; }}};
  const auto travel = travel_seconds(timing.graph, *links);
  std::vector<Bound> all;
  if (are_equal) {
    all.push_back({"lower bound", [=](const auto& goal) { return link_bounds(h, travel, goal).lower_homogeneous; }});
    all.push_back({"Fragile", [=](const auto& goal) { return link_bounds(h, travel, goal).fragile; }});
  } else {
    all.push_back({"lower bound", [=](const auto& goal) { return link_bounds(h, travel, goal).amelie; }});
  }
  all.push_back({"minibatch over the graph", [=](const auto& goal) { return link_bounds(h, travel, goal).minibatch; }});
  return all;
}

// A norm and the seconds until it.
struct NormAt {
  double norm, seconds;
};

// From the largest norm that such losses have at the start downwards, until the seconds are enough.
std::vector<NormAt> curve_of(const Bound& bound, StationarityGoal goal, double seconds) {
  constexpr int most = 240;
  const double finer = std::pow(2, -0.25);
  std::vector<NormAt> points;
  goal.accuracy = 2 * goal.smoothness * goal.gap;
  for (int k = 0; k < most && (points.empty() || points.back().seconds < seconds); ++k, goal.accuracy *= finer)
    points.push_back({std::sqrt(goal.accuracy), bound.seconds(goal)});
  return points;
}

// Between two points along a straight line of logarithms; nothing before the first and behind the last.
Json norm_at(double seconds, const std::vector<NormAt>& points) {
  const auto behind = std::ranges::find_if(points, [&](const NormAt& point) { return point.seconds >= seconds; });
  if (behind == points.begin() || behind == points.end() || !std::isfinite(behind->seconds)) return "nan";
  const NormAt& before = *std::prev(behind);
  if (!(before.seconds > 0)) return behind->norm;
  const double way = std::log(seconds / before.seconds) / std::log(behind->seconds / before.seconds);
  return before.norm * std::pow(behind->norm / before.norm, way);
}

std::optional<std::size_t> place_of_column(const Json& samples, const char* name) {
  const auto& columns = samples.at("columns");
  const auto found = std::ranges::find(columns, Json(name));
  if (found == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns.begin());
}

}  // namespace

Json bounds_json(const ResolvedExperiment& resolved, const Json& samples) {
  const auto seconds = place_of_column(samples, "seconds"), objective = place_of_column(samples, "objective");
  const Json& rows = samples.at("rows");
  if (!seconds || !objective || rows.empty() || !rows[0][*objective].is_number() || !rows.back()[*seconds].is_number())
    return nullptr;
  const auto losses = losses_of(resolved.experiment, rows[0][*objective].get<double>());
  if (!losses || !(losses->goal.gap > 0)) return nullptr;
  Json lines = Json::array();
  for (const Bound& bound : bounds_of(*resolved.timing, losses->are_equal)) {
    const auto points = curve_of(bound, losses->goal, rows.back()[*seconds].get<double>());
    Json values = Json::array();
    for (const Json& row : rows) values.push_back(row[*seconds].is_number() ? norm_at(row[*seconds].get<double>(), points) : "nan");
    if (std::ranges::any_of(values, [](const Json& value) { return value.is_number(); }))
      lines.push_back({{"name", bound.name}, {"values", std::move(values)}});
  }
  if (lines.empty()) return nullptr;
  const StationarityGoal& goal = losses->goal;
  return {{"lines", std::move(lines)},
          {"sentence",
           fmt::format("Dotted: what theory says for the worst of all losses with L = {:.3g}, Delta = {:.3g} and sigma^2 = {:.3g}, "
                       "its constants taken as 1. No method brings that one below the lower bound in these seconds; these "
                       "losses may be easier.",
                       goal.smoothness, goal.gap, goal.noise)}};
}

}  // namespace rubato::web
