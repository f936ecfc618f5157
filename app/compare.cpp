#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>

#include "app/commands.hpp"
#include "app/compare_runs.hpp"
#include "app/serving.hpp"
#include "app/signals.hpp"
#include "app/status_line.hpp"
#include "experiment/file/experiment_file.hpp"
#include "results/comparison.hpp"
#include "results/comparison_table.hpp"
#include "web/comparison.hpp"
#include "web/run_files.hpp"

namespace rubato::app {

namespace fs = std::filesystem;

namespace {

constexpr const char* mark = "table.json";  // a folder that has it is a comparison's

// Said before anything runs. Nothing is written into a folder that holds something else.
void prepare(const fs::path& folder) {
  const auto refuse = [&](const std::string& why) { throw std::invalid_argument("--out " + folder.string() + ": " + why); };
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) refuse("cannot make the folder: " + error.message());
  if (!fs::is_empty(folder, error) && !fs::exists(folder / mark))
    refuse("holds something that is not a comparison of Rubato; choose another folder");
  const fs::path probe = folder / "table.csv.partial";
  if (!std::ofstream(probe)) refuse(std::string("cannot write there: ") + std::strerror(errno));
  fs::remove(probe, error);
}

void write_all(const fs::path& folder, const Comparison& comparison, std::span<const double> targets, const SampleColumn& axis) {
  web::write_text(folder / mark, table_json(comparison, targets, axis));
  web::write_text(folder / "table.csv", table_csv(comparison, targets));
  web::write_text(folder / "curves.csv", curves_csv(comparison));
  fs::create_directories(folder / "experiments");
  for (std::size_t i = 0; i < comparison.outcomes.size(); ++i)
    for (const ComparedRun& run : comparison.outcomes[i].runs) {
      config::Experiment experiment = comparison.outcomes[i].setting.experiment;
      experiment.seed = run.seed;
      web::write_text(folder / experiment_file(i, run.seed), config::write_experiment(experiment));
    }
  web::write_comparison(folder / "report.html", comparison, targets, axis);
}

void show(StatusLine& line, const ComparisonProgress& progress) {
  if (!line.is_due()) return;
  const double left = progress.share > 0 ? progress.wall_seconds * (1 - progress.share) / progress.share : 0;
  std::vector<LinePart> parts;
  if (line.terminal().is_there) parts.push_back(bar_part(progress.share, line.terminal()));
  parts.push_back({.text = fmt::format("{} of {} runs finished", progress.finished, progress.runs),
                   .brief = fmt::format("{}/{} runs", progress.finished, progress.runs)});
  parts.push_back({.text = fmt::format("{:.0f} %", 100 * progress.share), .brief = fmt::format("{:.0f}%", 100 * progress.share)});
  parts.push_back({.text = clock_text(left) + " left", .leaves = Leaves::at_last});
  line.show(parts);
}

ComparisonOptions options_for(const CompareArguments& arguments, StatusLine& line, ServingComparison& serving) {
  ComparisonOptions options;
  options.threads = arguments.threads > 0 ? arguments.threads : all_threads();
  options.data_dir = arguments.data;
  options.stop = &watch_signals(arguments.quiet);
  options.on_note = [&line, &serving](const std::string& note) {
    line.say("note: " + note);
    serving.note(note);
  };
  options.on_progress = [&line, &serving](const ComparisonProgress& progress) {
    show(line, progress);
    serving.advance(progress.finished, progress.share, progress.wall_seconds);
  };
  return options;
}

ComparisonPlan plan_for(const CompareArguments& arguments) {
  ComparisonRequest request{arguments.files, arguments.set, {}, arguments.seeds};
  for (const std::string& grid : arguments.grid) request.grid.push_back(parse_grid(grid));
  return plan_comparison(request);
}

const SampleColumn& axis_of(const std::string& name) {
  std::vector<std::string_view> names;
  for (const SampleColumn& axis : columns_as(Role::axis)) {
    if (axis.curve.name == name) return axis;
    names.push_back(axis.curve.name);
  }
  throw std::invalid_argument(fmt::format("--axis {}: must be one of {}", name, fmt::join(names, ", ")));
}

std::size_t failures_of(const Comparison& comparison) {
  std::size_t count = 0;
  for (const ComparedOutcome& outcome : comparison.outcomes)
    for (const std::string& failure : outcome.failures) {
      std::cerr << "rubato: " << outcome.setting.label << ", " << failure << "\n";
      ++count;
    }
  return count;
}

}  // namespace

int compare(const CompareArguments& arguments) {
  const SampleColumn& axis = axis_of(arguments.axis);
  const std::vector<double> targets = parse_targets(arguments.targets);
  const ComparisonPlan plan = plan_for(arguments);
  for (const std::string& note : plan.notes) std::cerr << "note: " << note << "\n";
  if (!arguments.out.empty()) prepare(arguments.out);
  StatusLine line(arguments.quiet, arguments.colour);
  ServingComparison serving(arguments.serve, plan, arguments.origin, arguments.out);
  Comparison comparison = rubato::compare(plan, options_for(arguments, line, serving));
  comparison.origin = arguments.origin;
  line.finish();
  const std::size_t failures = failures_of(comparison);
  for (const ComparedOutcome& outcome : comparison.outcomes)
    if (!outcome.setting.refusal.empty())
      std::cerr << "rubato: " << outcome.setting.label << " was refused: " << outcome.setting.refusal << "\n";
  if (!arguments.out.empty()) write_all(arguments.out, comparison, targets, axis);
  std::cout << (arguments.json ? table_json : table_text)(comparison, targets, axis) << std::flush;
  if (!arguments.json && !arguments.out.empty())
    std::cout << "\nthe comparison is in " << fs::absolute(arguments.out).lexically_normal().string() << "\n";
  const auto is_refused = [](const ComparedOutcome& outcome) { return !outcome.setting.refusal.empty(); };
  const int code = comparison.was_stopped                                 ? stopped
                   : failures > 0                                         ? failed
                   : std::ranges::any_of(comparison.outcomes, is_refused) ? bad_input
                                                                          : ok;
  serving.finish(code, arguments.out);
  return code;
}

}  // namespace rubato::app
