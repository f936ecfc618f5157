#include <cmath>

#include "results/comparison_table.hpp"
#include "results/result_text.hpp"
#include "results/summary.hpp"

namespace rubato {

namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == text.npos) return text;
  std::string safe = "\"";
  for (const char letter : text) safe += letter == '"' ? std::string("\"\"") : std::string(1, letter);
  return safe + "\"";
}

// The first fields of every line of both files.
std::string who(const ComparedSetting& setting) {
  return quoted(setting.label) + "," + quoted(setting.file.string()) + "," + setting.experiment.algorithm.name + "," +
         quoted(to_text(setting.values));
}

std::string fields(const Spread& spread) { return "," + shortest(spread.mean) + "," + shortest(spread.deviation); }

std::string columns_of(const std::string& name) { return "," + name + "," + name + "_std"; }

// JSON has no infinity: what diverged or is not known is null.
ResultJson json_of(const Spread& spread) { return {{"mean", finite(spread.mean)}, {"std", finite(spread.deviation)}}; }

void add_costs(ResultJson& object, const Costs& costs) {
  for (const Axis axis : all_axes) object[std::string(name_of(axis))] = json_of(costs.at(axis));
}

ResultJson json_of(const ComparedRun& run) {
  return {{"seed", run.seed},
          {"ended_by", run.has_spent ? "budget" : "until"},
          {"model_digest", run.digests.model.empty() ? ResultJson(nullptr) : ResultJson(run.digests.model)},
          {"timeline_digest", run.digests.timeline.empty() ? ResultJson(nullptr) : ResultJson(run.digests.timeline)}};
}

ResultJson json_of(const ComparedRow& row) {
  const ComparedOutcome& outcome = *row.outcome;
  ResultJson grid = ResultJson::object(), runs = ResultJson::array(), targets = ResultJson::array();
  for (const auto& [key, value] : outcome.setting.values) grid[key] = value;
  for (const ComparedRun& run : outcome.runs) runs.push_back(json_of(run));
  for (const TargetReached& target : row.targets) {
    targets.push_back({{"accuracy", target.accuracy}, {"reached", target.reached}});
    add_costs(targets.back(), target.costs);
  }
  ResultJson object = {{"setting", outcome.setting.label},
                       {"file", outcome.setting.file.string()},
                       {"algorithm", outcome.setting.experiment.algorithm.name},
                       {"grid", std::move(grid)}};
  for (const Measure measure : all_measures) object[std::string(name_of(measure))] = json_of(row.at(measure));
  add_costs(object, row.costs);
  object["targets"] = std::move(targets);
  object["runs"] = std::move(runs);
  object["failures"] = outcome.failures;
  return object;
}

ResultJson budget_of(const Comparison& comparison) {
  const config::Experiment& experiment = comparison.outcomes.front().setting.experiment;
  const auto or_null = [](const std::optional<double>& limit) { return limit ? ResultJson(*limit) : ResultJson(nullptr); };
  return {
      {"until", experiment.until}, {"bits", or_null(experiment.budget.bits)}, {"gradients", or_null(experiment.budget.gradients)}};
}

}  // namespace

std::string table_csv(const Comparison& comparison, std::span<const double> targets) {
  std::string text = "setting,file,algorithm,grid,runs,failed";
  for (const Measure measure : all_measures) text += columns_of(std::string(name_of(measure)));
  for (const Axis axis : all_axes) text += columns_of(std::string(name_of(axis)));
  for (const double target : targets) {
    text += ",reached_" + shortest(target);
    for (const Axis axis : all_axes) text += columns_of(std::string(name_of(axis)) + "_to_" + shortest(target));
  }
  for (const ComparedRow& row : rows_of(comparison, targets)) {
    const ComparedOutcome& outcome = *row.outcome;
    text += "\n" + who(outcome.setting) + "," + std::to_string(outcome.runs.size()) + "," + std::to_string(outcome.failures.size());
    for (const Measure measure : all_measures) text += fields(row.at(measure));
    for (const Axis axis : all_axes) text += fields(row.costs.at(axis));
    for (const TargetReached& target : row.targets) {
      text += "," + std::to_string(target.reached);
      for (const Axis axis : all_axes) text += fields(target.costs.at(axis));
    }
  }
  return text + "\n";
}

std::string table_json(const Comparison& comparison, std::span<const double> targets, Axis axis) {
  ResultJson settings = ResultJson::array();
  for (const ComparedRow& row : rows_of(comparison, targets)) settings.push_back(json_of(row));
  const ResultJson json = {{"rubato", version()},
                           {"clients", comparison.outcomes.front().setting.experiment.clients.count},
                           {"first_seed", comparison.first_seed},
                           {"seeds", comparison.seeds},
                           {"stopped_early", comparison.was_stopped},
                           {"axis", std::string(name_of(axis))},
                           {"budget", budget_of(comparison)},
                           {"settings", std::move(settings)}};
  return json.dump(1, ' ', false, ResultJson::error_handler_t::replace) + "\n";
}

std::string curves_csv(const Comparison& comparison) {
  std::string text = "setting,file,algorithm,grid,seed";
  for (const Axis axis : all_axes) text += "," + std::string(name_of(axis));
  for (const Measure measure : all_measures) text += "," + std::string(name_of(measure));
  text += "\n";
  for (const ComparedOutcome& outcome : comparison.outcomes) {
    const std::string name = who(outcome.setting);
    for (const ComparedRun& run : outcome.runs)
      for (const CurvePoint& point : run.curve) {
        text += name + "," + std::to_string(run.seed);
        for (const Axis axis : all_axes) text += "," + shortest(point.at(axis));
        for (const Measure measure : all_measures) text += "," + shortest(point.value(measure));
        text += "\n";
      }
  }
  return text;
}

}  // namespace rubato
