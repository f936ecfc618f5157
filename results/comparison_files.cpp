#include <algorithm>
#include <functional>

#include "results/comparison_table.hpp"
#include "results/result_text.hpp"
#include "results/summary.hpp"

namespace rubato {

namespace {

// The first fields of every line of both files.
std::string first_fields(const ComparedSetting& setting) {
  return csv_field(setting.label) + "," + csv_field(setting.file.string()) + "," + setting.experiment.algorithm.name + "," +
         csv_field(to_text(setting.values));
}

template <class Columns>
std::string heads(Columns columns, const std::string& ending = "") {
  std::string text;
  for (const SampleColumn& column : columns) {
    const std::string name = std::string(column.curve.name) + ending;
    text += "," + name + "," + name + "_std";
  }
  return text;
}

template <class Columns>
std::string fields(Columns columns, const PerColumn<Spread>& spreads) {
  std::string text;
  for (const SampleColumn& column : columns)
    text += "," + shortest(spreads[column].mean) + "," + shortest(spreads[column].deviation);
  return text;
}

// JSON has no infinity: what diverged or is not known is null.
template <class Columns>
void add(ResultJson& object, Columns columns, const PerColumn<Spread>& spreads) {
  for (const SampleColumn& column : columns)
    object[std::string(column.curve.name)] = {
        {"mean", finite(spreads[column].mean)}, {"std", finite(spreads[column].deviation)}, {"n", spreads[column].count}};
}

// What the run had measured, or spent, at a point of its curve.
ResultJson json_of(const CurvePoint& point, std::initializer_list<Role> roles) {
  ResultJson object = ResultJson::object();
  for (const Role role : roles)
    for (const SampleColumn& column : columns_as(role)) object[std::string(column.curve.name)] = finite(point[column]);
  return object;
}

// Where it first came to each target; null where it did not.
ResultJson json_of(const Curve& curve, const std::vector<TargetReached>& targets) {
  ResultJson all = ResultJson::array();
  for (const TargetReached& target : targets) {
    const auto point = first_reach(curve, target.accuracy);
    all.push_back({{"accuracy", target.accuracy}, {"costs", point ? json_of(*point, {Role::axis}) : ResultJson(nullptr)}});
  }
  return all;
}

ResultJson json_of(const ComparedRun& run, std::size_t setting, const std::vector<TargetReached>& targets) {
  return {{"seed", run.seed},
          {"experiment", experiment_file(setting, run.seed)},
          {"ended_by", run.has_spent  ? "budget"
                       : run.met_rule ? "metrics.stop"
                                      : "until"},
          {"diverged_at", or_null(run.diverged_at)},
          {"model_digest", run.digests.model.empty() ? ResultJson(nullptr) : ResultJson(run.digests.model)},
          {"timeline_digest", run.digests.timeline.empty() ? ResultJson(nullptr) : ResultJson(run.digests.timeline)},
          {"end", run.curve.empty() ? ResultJson(nullptr) : json_of(run.curve.back(), {Role::measure, Role::axis})},
          {"targets", json_of(run.curve, targets)},
          {"came_to", run.came_to}};
}

// When all clients take one model; null where they never do.
ResultJson json_of(const config::Unification& unification) {
  if (!unification.period) return nullptr;
  return {{"period", *unification.period}, {"hub", std::string(word_of(unification.hub))}};
}

ResultJson json_of(const ComparedRow& row, std::size_t number) {
  const ComparedOutcome& outcome = *row.outcome;
  ResultJson grid = ResultJson::object(), runs = ResultJson::array(), targets = ResultJson::array();
  for (const auto& [key, value] : outcome.setting.values) grid[key] = value;
  for (const ComparedRun& run : outcome.runs) runs.push_back(json_of(run, number, row.targets));
  for (const TargetReached& target : row.targets) {
    targets.push_back({{"accuracy", target.accuracy}, {"reached", target.reached}});
    add(targets.back(), columns_as(Role::axis), target.costs);
  }
  ResultJson object = {{"setting", outcome.setting.label},
                       {"file", outcome.setting.file.string()},
                       {"algorithm", outcome.setting.experiment.algorithm.name},
                       {"grid", std::move(grid)},
                       {"unification", json_of(outcome.setting.experiment.unification)}};
  add(object, columns_as(Role::measure), row.ends);
  add(object, columns_as(Role::axis), row.ends);
  object["targets"] = std::move(targets);
  object["runs"] = std::move(runs);
  object["failures"] = outcome.failures;
  object["refusal"] = outcome.setting.refusal.empty() ? ResultJson(nullptr) : ResultJson(outcome.setting.refusal);
  return object;
}

const config::Experiment& first_experiment(const Comparison& comparison) {
  return first_possible(comparison.outcomes, std::mem_fn(&ComparedOutcome::setting)).experiment;
}

ResultJson budget_of(const Comparison& comparison) {
  const config::Experiment& experiment = first_experiment(comparison);
  return {
      {"until", experiment.until}, {"bits", or_null(experiment.budget.bits)}, {"gradients", or_null(experiment.budget.gradients)}};
}

}  // namespace

std::string table_csv(const Comparison& comparison, std::span<const double> targets) {
  constexpr std::ptrdiff_t first = 5;  // measures; later ones stand at the end, so that scripts find the others at their places
  const auto measures = columns_as(Role::measure) | std::views::take(first);
  const auto later = columns_as(Role::measure) | std::views::drop(first);
  const auto axes = columns_as(Role::axis);
  std::string text = "setting,file,algorithm,grid,runs,failed" + heads(measures) + heads(axes);
  for (const double target : targets) text += ",reached_" + shortest(target) + heads(axes, "_to_" + shortest(target));
  text += heads(later) + ",refusal,diverged";
  for (const ComparedRow& row : rows_of(comparison, targets)) {
    const ComparedOutcome& outcome = *row.outcome;
    text += "\n" + first_fields(outcome.setting) + "," + std::to_string(outcome.runs.size()) + "," +
            std::to_string(outcome.failures.size());
    text += fields(measures, row.ends) + fields(axes, row.ends);
    for (const TargetReached& target : row.targets) text += "," + std::to_string(target.reached) + fields(axes, target.costs);
    const auto diverged = std::ranges::count_if(outcome.runs, [](const ComparedRun& run) { return run.diverged_at.has_value(); });
    text += fields(later, row.ends) + "," + csv_field(outcome.setting.refusal) + "," + std::to_string(diverged);
  }
  return text + "\n";
}

std::string table_json(const Comparison& comparison, std::span<const double> targets, const SampleColumn& axis) {
  ResultJson settings = ResultJson::array();
  for (const ComparedRow& row : rows_of(comparison, targets)) settings.push_back(json_of(row, settings.size()));
  const config::Experiment& first = first_experiment(comparison);
  const auto drawn = measured_clients(first);
  const ResultJson json = {
      {"rubato", version()},
      {"commit", commit()},
      {"command", comparison.origin.command},
      {"started_at", comparison.origin.started_at},
      {"machine", comparison.origin.machine},
      {"measured_clients", drawn ? std::to_string(drawn->size()) + " of " + std::to_string(first.clients.count) : "all"},
      {"clients", first.clients.count},
      {"first_seed", comparison.first_seed},
      {"seeds", comparison.seeds},
      {"stopped_early", comparison.was_stopped},
      {"axis", std::string(axis.curve.name)},
      {"budget", budget_of(comparison)},
      {"settings", std::move(settings)}};
  return json.dump(1, ' ', false, ResultJson::error_handler_t::replace) + "\n";
}

std::string experiment_file(std::size_t setting, std::int64_t seed) {
  return "experiments/" + std::to_string(setting + 1) + "-seed-" + std::to_string(seed) + ".toml";
}

std::string curves_csv(const Comparison& comparison) {
  std::string text = "setting,file,algorithm,grid,seed";
  for (const Role role : {Role::axis, Role::measure})
    for (const SampleColumn& column : columns_as(role)) text += "," + std::string(column.curve.name);
  text += "\n";
  for (const ComparedOutcome& outcome : comparison.outcomes) {
    const std::string name = first_fields(outcome.setting);
    for (const ComparedRun& run : outcome.runs)
      for (const CurvePoint& point : run.curve) {
        text += name + "," + std::to_string(run.seed);
        for (const Role role : {Role::axis, Role::measure})
          for (const SampleColumn& column : columns_as(role)) text += "," + shortest(point[column]);
        text += "\n";
      }
  }
  return text;
}

}  // namespace rubato
