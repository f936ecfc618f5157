#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>

#include "app/bindings.hpp"
#include "app/commands.hpp"
#include "app/compare_runs.hpp"
#include "app/serving.hpp"
#include "app/signals.hpp"
#include "app/status_line.hpp"
#include "app/tuning.hpp"
#include "experiment/file/experiment_file.hpp"
#include "results/comparison.hpp"
#include "results/comparison_table.hpp"
#include "results/kept_runs.hpp"
#include "results/run_folder.hpp"
#include "results/whole_file.hpp"
#include "web/comparison.hpp"

namespace rubato::app {

namespace fs = std::filesystem;

namespace {

constexpr const char* mark = "table.json";         // a folder that has it is a comparison's
constexpr const char* tuning_file = "tuning.csv";  // and so is one with this: it was ended between tuning and table

bool is_comparison(const fs::path& folder) { return fs::exists(folder / mark) || fs::exists(folder / tuning_file); }

fs::path previous_of(const fs::path& folder) { return beside(folder, ".previous"); }

// Files beside those that another share of the same comparison is just writing.
bool holds_files(const fs::path& folder) {
  std::error_code error;
  const auto entries = fs::directory_iterator(folder, error);
  return std::ranges::any_of(entries, [](const fs::directory_entry& entry) { return entry.path().extension() != ".partial"; });
}

// The keys of the folder's table, each a pointer to a value that has no parts; nothing where there is none, or it is damaged.
ResultJson table_in(const fs::path& folder) {
  return ResultJson::parse(read_whole(folder / mark).value_or(""), nullptr, false).flatten();
}

bool was_stopped(const ResultJson& table) { return table.contains("/stopped_early") && table["/stopped_early"] == true; }

// False of a comparison that was stopped before a run had come to its end.
bool has_results(const fs::path& folder) {
  if (KeptRuns::is_there(folder)) return true;
  if (!fs::exists(folder / mark)) return false;
  const ResultJson table = table_in(folder);
  const auto is_of_run = [](const auto& item) { return item.key().find("/runs/0/") != std::string::npos; };
  return !was_stopped(table) || std::ranges::any_of(table.items().begin(), table.items().end(), is_of_run);
}

enum class Kind { of_one_process, of_shares };

// Throws where runs of shares and a comparison of one process would come into one folder.
void refuse_mixture(const fs::path& folder, Kind kind) {
  const auto refuse = [&](const char* why) { throw std::invalid_argument("--out " + folder.string() + ": " + why); };
  const bool is_whole = is_comparison(folder), has_shares = KeptRuns::is_there(folder);
  if (kind == Kind::of_shares && is_whole && !has_shares)
    refuse("holds a comparison that was made without --shard; choose another folder");
  if (kind == Kind::of_shares || !has_shares) return;
  if (!fs::exists(folder / mark) || was_stopped(table_in(folder)))
    refuse("holds shards that are not through and merged; choose another folder, or remove this one");
}

// Said before anything runs. Nothing is written into a folder that holds something else.
void prepare(const fs::path& folder) {
  const auto refuse = [&](const std::string& why) { throw std::invalid_argument("--out " + folder.string() + ": " + why); };
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) refuse("cannot make the folder: " + error.message());
  // In this order: a share that begins beside this one writes its plan before its runs.
  if (holds_files(folder) && !is_comparison(folder) && !KeptRuns::is_there(folder))
    refuse("holds something that is not a comparison of Rubato; choose another folder");
  if (const fs::path previous = previous_of(folder);
      fs::exists(previous, error) && (!fs::is_directory(previous) || (holds_files(previous) && !is_comparison(previous))))
    refuse(previous.string() + ", where an earlier comparison would go, holds something else; choose another folder");
  const fs::path probe = folder / fmt::format("table.csv.{}.partial", getpid());
  if (!std::ofstream(probe)) refuse(std::string("cannot write there: ") + std::strerror(errno));
  fs::remove(probe, error);
}

// Before the first file of another comparison is written, the one that is there goes beside it; one without results does not take
// the place of another there.
void make_room(const fs::path& folder) {
  if (folder.empty() || !(is_comparison(folder) || KeptRuns::is_there(folder))) return;
  const fs::path previous = previous_of(folder);
  if (!has_results(folder) && holds_files(previous)) {
    fs::remove(folder / tuning_file);
    return;
  }
  fs::remove_all(previous);
  fs::create_directories(previous);
  const fs::directory_iterator entries(folder);
  for (const fs::path& entry : std::vector<fs::path>(begin(entries), end(entries))) fs::rename(entry, previous / entry.filename());
}

void write_all(const fs::path& folder, const Comparison& comparison, std::span<const double> targets, const SampleColumn& axis) {
  write_whole(folder / mark, table_json(comparison, targets, axis));
  write_whole(folder / "table.csv", table_csv(comparison, targets));
  write_whole(folder / "curves.csv", curves_csv(comparison));
  fs::create_directories(folder / "experiments");
  for (std::size_t i = 0; i < comparison.outcomes.size(); ++i)
    for (const ComparedRun& run : comparison.outcomes[i].runs) {
      config::Experiment experiment = comparison.outcomes[i].setting.experiment;
      experiment.seed = run.seed;
      write_whole(folder / experiment_file(i, run.seed), config::write_experiment(experiment));
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

// Without `serving` no page is told.
ComparisonOptions options_for(const CompareArguments& arguments, StatusLine& line, ServingComparison* serving = nullptr) {
  ComparisonOptions options;
  options.threads = arguments.threads > 0 ? arguments.threads : all_threads();
  options.data_dir = arguments.data;
  options.stop = &watch_signals(arguments.quiet);
  options.on_note = [&line, serving](const std::string& note) {
    line.say("note: " + note);
    if (serving) serving->note(note);
  };
  options.on_progress = [&line, serving](const ComparisonProgress& progress) {
    show(line, progress);
    if (serving) serving->advance(progress.finished, progress.share, progress.wall_seconds);
  };
  return options;
}

// The tables in `own` are the program's own business.
ComparisonPlan plan_for(const CompareArguments& arguments, const std::vector<std::string_view>& own = {}) {
  ComparisonRequest request{arguments.files, arguments.set, {}, arguments.seeds};
  for (const std::string& grid : arguments.grid) request.grid.push_back(parse_grid(grid));
  for (const std::string& sample : arguments.sample) request.samples.push_back(parse_sample(sample));
  request.points = arguments.points, request.sample_seed = arguments.sample_seed, request.own = own;
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

// A sentence for each run that failed and each setting that was refused.
std::vector<std::string> failures_of(const Comparison& comparison) {
  std::vector<std::string> sentences;
  for (const ComparedOutcome& outcome : comparison.outcomes)
    for (const std::string& failure : outcome.failures) sentences.push_back(outcome.setting.label + ", " + failure);
  return sentences;
}

std::vector<std::string> refusals_of(const Comparison& comparison) {
  std::vector<std::string> sentences;
  for (const ComparedOutcome& outcome : comparison.outcomes)
    if (!outcome.setting.refusal.empty()) sentences.push_back(outcome.setting.label + " was refused: " + outcome.setting.refusal);
  return sentences;
}

// Says what did not come to its end; the exit code.
int say_ends(const Comparison& comparison) {
  const std::vector<std::string> failures = failures_of(comparison), refusals = refusals_of(comparison);
  for (const auto* sentences : {&failures, &refusals})
    for (const std::string& sentence : *sentences) std::cerr << "rubato: " << sentence << "\n";
  if (comparison.was_stopped) return stopped;
  if (!failures.empty()) return failed;
  return refusals.empty() ? ok : bad_input;
}

// Files, the table on standard output, and what became of the runs.
int show_all(const Comparison& comparison, const CompareArguments& arguments, const fs::path& folder) {
  const SampleColumn& axis = axis_of(arguments.axis);
  const std::vector<double> targets = parse_targets(arguments.targets);
  const int code = say_ends(comparison);
  if (!folder.empty()) write_all(folder, comparison, targets, axis);
  const bool is_wide = !terminal_on_output(arguments.colour).is_there;  // in a file or a pipe lines are as long as they are
  const std::size_t columns = is_wide ? std::string::npos : size_of_output().columns;
  std::cout << (arguments.json ? table_json(comparison, targets, axis) : table_text(comparison, targets, axis, columns))
            << std::flush;
  if (!arguments.json && !folder.empty())
    std::cout << "\nthe comparison is in " << fs::absolute(folder).lexically_normal().string() << "\n";
  return code;
}

// A comparison that was stopped without a result leaves the one that the folder has.
bool leaves_folder(bool was_stopped, std::size_t runs, const fs::path& folder) {
  return was_stopped && runs == 0 && !folder.empty() && is_comparison(folder);
}

void say_left(const fs::path& folder) { std::cerr << "rubato: nothing is written, " << folder.string() << " stays as it was\n"; }

std::size_t runs_of(const Comparison& comparison) {
  std::size_t count = 0;
  for (const ComparedOutcome& outcome : comparison.outcomes) count += outcome.runs.size();
  return count;
}

// False if it was stopped. What was chosen is said.
bool tune(const CompareArguments& arguments, StatusLine& line, ComparisonPlan& plan) {
  Tuned tuned = rubato::tune(plan, {arguments.halving, arguments.tuning_seeds}, options_for(arguments, line));
  line.finish();
  if (leaves_folder(tuned.was_stopped, 0, arguments.out)) {
    say_left(arguments.out);
  } else if (!arguments.out.empty()) {
    make_room(arguments.out);
    write_whole(arguments.out / tuning_file, tuning_csv(tuned.lines));
  }
  if (tuned.was_stopped) return false;
  plan = std::move(tuned.plan);
  for (const ComparedSetting& setting : plan.settings)
    line.say(fmt::format("chosen with seeds from {}: {}", first_tuning_seed(plan), setting.label));
  return true;
}

int run_share(const CompareArguments& arguments, const ComparisonPlan& plan) {
  refuse_mixture(arguments.out, Kind::of_shares);
  const KeptRuns kept(arguments.out, plan);
  StatusLine line(arguments.quiet, arguments.colour);
  ServingComparison serving(arguments.serve, plan, arguments.origin, arguments.out);
  ComparisonOptions options = options_for(arguments, line, &serving);
  options.share = parse_share(arguments.shard);
  options.kept = &kept;
  const Comparison comparison = rubato::compare(plan, options);
  line.finish();
  const int code = say_ends(comparison);
  std::cout << fmt::format("shard {}: {} of {} runs are kept in {}\nwhen all shards are through: rubato compare --merge {}\n",
                           arguments.shard, runs_of(comparison), plan.settings.size() * plan.seeds, arguments.out.string(),
                           arguments.out.string());
  serving.finish(code, arguments.out);
  return code;
}

int merge(const CompareArguments& arguments) {
  if (!arguments.files.empty() || !arguments.shard.empty() || !arguments.out.empty())
    throw std::invalid_argument("--merge: takes neither FILE, --shard nor --out; what is compared stands in the folder");
  const KeptRuns kept(arguments.merge);
  prepare(arguments.merge);
  ComparisonOptions options;
  options.kept = &kept;
  options.runs_missing = false;
  Comparison comparison = rubato::compare(kept.plan(), options);
  comparison.origin = arguments.origin;
  std::size_t missing = kept.plan().seeds * kept.plan().settings.size();
  for (const ComparedOutcome& outcome : comparison.outcomes)
    missing -= outcome.setting.refusal.empty() ? outcome.runs.size() + outcome.failures.size() : kept.plan().seeds;
  if (missing > 0) std::cerr << "rubato: " << missing << " runs are missing: run their shards again, then merge\n";
  const int code = show_all(comparison, arguments, arguments.merge);
  return missing > 0 ? failed : code;
}

}  // namespace

int compare(const CompareArguments& arguments) {
  axis_of(arguments.axis), parse_targets(arguments.targets);  // refused before anything runs
  if (!arguments.merge.empty()) return merge(arguments);
  if (arguments.files.empty()) throw std::invalid_argument("FILE is required, or --merge DIR");
  if (!arguments.shard.empty()) {
    parse_share(arguments.shard);
    if (!arguments.targets.empty() || arguments.axis != CompareArguments{}.axis)
      throw std::invalid_argument(
          "--shard: the table is made when all shards are through: give --target and --axis to rubato "
          "compare --merge " +
          arguments.out.string());
  }
  ComparisonPlan plan = plan_for(arguments);
  for (const std::string& note : plan.notes) std::cerr << "note: " << note << "\n";
  if (!arguments.out.empty()) prepare(arguments.out);
  if (!arguments.shard.empty()) return run_share(arguments, plan);
  if (!arguments.out.empty()) refuse_mixture(arguments.out, Kind::of_one_process);
  StatusLine line(arguments.quiet, arguments.colour);
  if (arguments.halving > 0 && !tune(arguments, line, plan)) return stopped;
  ServingComparison serving(arguments.serve, plan, arguments.origin, arguments.out);
  Comparison comparison = rubato::compare(plan, options_for(arguments, line, &serving));
  comparison.origin = arguments.origin;
  line.finish();
  const bool stays = leaves_folder(comparison.was_stopped, runs_of(comparison), arguments.out);
  if (stays) say_left(arguments.out);
  if (!stays && arguments.halving == 0) make_room(arguments.out);  // else tune() has
  const fs::path out = stays ? fs::path() : arguments.out;
  const int code = show_all(comparison, arguments, out);
  serving.finish(code, out);
  return code;
}

}  // namespace rubato::app

namespace rubato {

ComparedTexts compare_files(const CompareFiles& request) {
  const SampleColumn& axis = app::axis_of(request.axis);
  const std::vector<double> targets = parse_targets(request.targets);
  app::CompareArguments arguments;
  arguments.files = request.files, arguments.set = request.set, arguments.grid = request.grid, arguments.seeds = request.seeds;
  const std::vector<std::string_view> own =
      request.bring ? std::vector<std::string_view>{"data", "model"} : std::vector<std::string_view>{};
  const ComparisonPlan plan = app::plan_for(arguments, own);
  if (request.on_note) std::ranges::for_each(plan.notes, request.on_note);
  if (!request.out.empty()) app::prepare(request.out), app::refuse_mixture(request.out, app::Kind::of_one_process);
  ComparisonOptions options;
  options.threads = request.threads, options.data_dir = request.data_dir, options.stop = request.stop;
  options.on_note = request.on_note, options.bring = request.bring;
  if (request.on_progress)
    options.on_progress = [&](const ComparisonProgress& progress) { request.on_progress(progress.share, progress.wall_seconds); };
  const Comparison comparison = compare(plan, options);
  if (!request.out.empty() && !app::leaves_folder(comparison.was_stopped, app::runs_of(comparison), request.out)) {
    app::make_room(request.out);
    app::write_all(request.out, comparison, targets, axis);
  }
  ComparedTexts texts{table_text(comparison, targets, axis),
                      table_csv(comparison, targets),
                      table_json(comparison, targets, axis),
                      curves_csv(comparison),
                      {},
                      comparison.was_stopped};
  texts.failures = app::failures_of(comparison);
  std::ranges::copy(app::refusals_of(comparison), std::back_inserter(texts.failures));
  return texts;
}

}  // namespace rubato
