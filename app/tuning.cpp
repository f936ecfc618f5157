#include "app/tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

#include "results/result_text.hpp"

namespace rubato {

namespace {

constexpr std::int64_t seeds_apart = 1'000'000;  // as many as --seeds can ask for

double score_of(const ComparedOutcome& outcome) {
  constexpr double worst = -std::numeric_limits<double>::infinity();
  if (outcome.runs.empty() || !outcome.failures.empty()) return worst;
  double sum = 0;
  for (const ComparedRun& run : outcome.runs) {
    if (run.diverged_at || run.curve.empty()) return worst;
    const CurvePoint& end = run.curve.back();
    sum += std::isnan(end["accuracy"]) ? -end["loss"] : end["accuracy"];
  }
  const double mean = sum / static_cast<double>(outcome.runs.size());
  return std::isnan(mean) ? worst : mean;
}

// Points left of each file.
std::map<std::string, std::size_t> points_of(const ComparisonPlan& plan) {
  std::map<std::string, std::size_t> points;
  for (const ComparedSetting& setting : plan.settings) ++points[setting.file.string()];
  return points;
}

// Rungs until one of so many points is left.
std::size_t rungs_for(std::size_t points, std::size_t factor) {
  std::size_t rungs = 0;
  for (std::size_t left = points; left > 1; left = (left + factor - 1) / factor) ++rungs;
  return rungs;
}

std::vector<TuningLine> lines_of(const Comparison& comparison, std::size_t rung) {
  std::vector<TuningLine> lines;
  for (const ComparedOutcome& outcome : comparison.outcomes)
    lines.push_back({.file = outcome.setting.file.string(),
                     .setting = outcome.setting.label,
                     .rung = rung,
                     .until = outcome.setting.experiment.until,
                     .runs = outcome.runs.size(),
                     .score = score_of(outcome)});
  return lines;
}

// Of each file's points the best; true for those that are kept.
void keep_best(std::vector<TuningLine>& lines, std::size_t factor) {
  std::map<std::string, std::vector<std::size_t>> of_file;
  for (std::size_t i = 0; i < lines.size(); ++i) of_file[lines[i].file].push_back(i);
  for (auto& [file, places] : of_file) {
    std::ranges::stable_sort(places, std::ranges::greater{}, [&](std::size_t place) { return lines[place].score; });
    places.resize((places.size() + factor - 1) / factor);
    for (const std::size_t place : places) lines[place].is_kept = true;
  }
}

}  // namespace

std::int64_t first_tuning_seed(const ComparisonPlan& plan) {
  constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();
  return plan.first_seed <= last - 2 * seeds_apart ? plan.first_seed + seeds_apart : plan.first_seed - seeds_apart;
}

Tuned tune(const ComparisonPlan& plan, const TuningRule& rule, ComparisonOptions options) {
  options.on_note = nullptr;  // the comparison of what is chosen says them again
  if (rule.factor < 2) throw std::invalid_argument("halving keeps every second point at most");
  Tuned tuned{.plan = plan, .lines = {}};
  std::size_t most = 0;
  for (const auto& [file, count] : points_of(plan)) most = std::max(most, count);
  const std::size_t rungs = rungs_for(most, rule.factor);
  for (std::size_t rung = 1; rung <= rungs; ++rung) {
    const auto points = points_of(tuned.plan);
    const auto is_chosen = [&](const ComparedSetting& setting) { return points.at(setting.file.string()) == 1; };
    ComparisonPlan shorter = tuned.plan;
    std::erase_if(shorter.settings, is_chosen);
    shorter.first_seed = first_tuning_seed(plan);
    shorter.seeds = rule.seeds;
    for (ComparedSetting& setting : shorter.settings) {
      config::Experiment& experiment = setting.experiment;
      experiment.until /= std::pow(static_cast<double>(rule.factor), static_cast<double>(rungs - rung));
      experiment.metrics.every_events = 0, experiment.metrics.every_seconds = experiment.until;  // the end alone is judged
    }
    const Comparison comparison = compare(shorter, options);
    if (comparison.was_stopped) {
      tuned.was_stopped = true;
      return tuned;
    }
    std::vector<TuningLine> lines = lines_of(comparison, rung);
    keep_best(lines, rule.factor);
    std::vector<ComparedSetting> kept;
    auto line = lines.begin();
    for (const ComparedSetting& setting : tuned.plan.settings)
      if (is_chosen(setting) || line++->is_kept) kept.push_back(setting);
    tuned.plan.settings = std::move(kept);
    tuned.lines.insert(tuned.lines.end(), lines.begin(), lines.end());
  }
  return tuned;
}

std::string tuning_csv(const std::vector<TuningLine>& lines) {
  std::string text = "file,setting,rung,until,runs,score,kept\n";
  for (const TuningLine& line : lines)
    text += fmt::format("{},{},{},{},{},{},{}\n", csv_field(line.file), csv_field(line.setting), line.rung, shortest(line.until),
                        line.runs, shortest(line.score), line.is_kept ? 1 : 0);
  return text;
}

}  // namespace rubato
