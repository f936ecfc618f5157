#include "app/outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iostream>

#include "app/signals.hpp"
#include "app/text/run_view.hpp"
#include "results/result_text.hpp"
#include "results/run_checkpoint.hpp"
#include "results/summary.hpp"
#include "web/report.hpp"

namespace rubato::app {

namespace {

// What was sent, and what became of it, reason by reason.
std::string sentence_about(const RunResult& result) {
  const MessageCounts& counts = result.messages;
  const std::pair<std::uint64_t, const char*> others[] = {{counts.late, "late"},
                                                          {counts.capped, "capped"},
                                                          {counts.duplicates, "seen before"},
                                                          {counts.surplus, "not needed any more"},
                                                          {counts.stale, "of an earlier life or epoch"},
                                                          {counts.misshapen, "of another shape"},
                                                          {counts.lost, "lost by a link"},
                                                          {counts.apart, "lost to a partition"},
                                                          {counts.absent, "for absent clients"},
                                                          {result.lost_between_hosts, "lost between hosts"},
                                                          {result.under_way, "under way at the end"}};
  std::string text = fmt::format("messages: {} sent", counts.sent);
  if (counts.copies > 0) text += fmt::format(", {} delivered once more", counts.copies);
  if (result.from_lost_hosts > 0) text += fmt::format(", {} more by lost hosts", result.from_lost_hosts);
  text += fmt::format("; {} delivered", counts.kept);
  if (result.is_of_host) text += " to its clients, from all";
  for (const auto& [number, what] : others)
    if (number > 0) text += fmt::format(", {} {}", number, what);
  if (result.model_messages > 0) text += fmt::format("; {} models", result.model_messages);
  if (result.models_lost > 0) text += fmt::format(", {} of them lost", result.models_lost);
  return text;
}

std::string sentence_about(const PairTotals& totals) {
  const PairCounts& counts = totals.counts;
  const std::pair<std::uint64_t, const char*> others[] = {{counts.refused, "refused"},
                                                          {counts.empty, "void"},
                                                          {counts.late, "late"},
                                                          {totals.unheard() + totals.waiting, "lost or under way"},
                                                          {counts.over, "timed out"}};
  std::string text = fmt::format("exchanges: {} begun, {} met", counts.begun, counts.met);
  if (counts.retried > 0) text += fmt::format(", {} tried again", counts.retried);
  for (const auto& [number, what] : others)
    if (number > 0) text += fmt::format(", {} {}", number, what);
  return text + fmt::format("; {} ticks were left out", counts.skipped);
}

void print_result(const config::Experiment& experiment, const RunResult& result, bool dry_run) {
  if (!result.gathered_by.empty())
    std::cout << fmt::format("gathered by {}; what follows is of this host's own {} clients\n", result.gathered_by,
                             result.clients - std::min(result.absent.size(), result.clients));
  else if (!result.hosts.empty() && !result.absent.empty())
    std::cout << sentence_about_absence(result.clients - result.absent.size(), result.clients) << "\n";
  const double rate = static_cast<double>(result.events) / std::max(result.wall_seconds, 1e-9);
  const bool is_virtual = experiment.clock == config::ClockKind::virtual_time;
  const char* clock = is_virtual ? "virtual seconds" : "seconds of the experiment";
  std::cout << fmt::format("{}: {} clients, {:.6g} {} in {:.3g} s, {} events ({:.3g} a second), {} steps\n", experiment.name,
                           result.clients, result.virtual_seconds, clock, result.wall_seconds, result.events, rate, result.steps);
  std::cout << fmt::format("{}; staleness {:.3g} s mean\n", sentence_about(result), result.staleness_mean);
  if (result.rounds)
    std::cout << fmt::format(
        "rounds: {} done, {} messages in {} attempts; the next one waits for {} computations and {} messages\n",
        result.rounds->done, result.messages.sent, result.messages.sent + result.messages.repeated,
        result.rounds->waiting.computations, result.rounds->waiting.messages);
  if (result.exchanges) std::cout << sentence_about(*result.exchanges) << "\n";
  if (!dry_run && !result.samples.empty()) {
    const Sample& last = result.samples.back();
    if (last.is_classified)
      std::cout << fmt::format("accuracy: mean of clients {:.4f} (std {:.4f}), mean model {:.4f}, macro F1 {:.4f}\n",
                               last.accuracy_mean, last.accuracy_deviation, last.accuracy_mean_model, last.f1_macro);
    std::cout << fmt::format("loss: mean of clients {:.4g}, mean model {:.4g}; consensus {:.4g}\n", last.loss_mean,
                             last.loss_mean_model, last.consensus);
  }
  if (!result.digests.model.empty()) std::cout << "model_digest    " << result.digests.model << "\n";
  std::cout << "timeline_digest " << result.digests.timeline << "\n";
}

// What a full run of these steps would need: vectors of the clients, payloads under way at the end, record.
void print_forecast(const RunResult& result, std::uintmax_t record_bytes) {
  const double model = static_cast<double>(result.dimension * result.scalar_bytes);
  std::cout << fmt::format("forecast: {:.3g} MB of model state, {:.3g} MB published in all, {:.3g} MB on the wire",
                           2 * model * static_cast<double>(result.clients) / 1e6,
                           static_cast<double>(result.messages.publications) * model / 1e6,
                           result.forecast ? static_cast<double>(wire_bytes(*result.forecast)) / 1e6 : 0.0);
  if (record_bytes > 0) std::cout << fmt::format(", {:.3g} MB of record", static_cast<double>(record_bytes) / 1e6);
  std::cout << "\nsamples: " << sentence_about(result.samples_plan, result.clients) << "\n";
}

}  // namespace

Notes Notes::plain() {
  return Notes([](const std::string& note) { std::cerr << "note: " << note << "\n"; });
}

std::vector<std::string> overrides_of(const RunArguments& arguments) {
  std::vector<std::string> overrides = arguments.set;
  if (arguments.seed) overrides.push_back("seed=" + std::to_string(*arguments.seed));
  return overrides;
}

RunOptions options_for(const RunArguments& arguments, const config::Experiment& experiment, RunFolder* folder, ProgressLine& line,
                       Notes& notes) {
  RunOptions options;
  options.threads = arguments.threads > 0 ? arguments.threads : all_threads();
  options.data_dir = arguments.data;
  options.dry_run = arguments.dry_run;
  options.checks = arguments.checks;
  options.stop = &watch_signals(arguments.quiet);
  options.on_note = [&notes](const std::string& note) { notes.say(note); };
  options.on_progress = [&line](const Progress& progress) { line.show(progress); };
  options.keeps_samples = false;
  if (folder) keep_in(*folder, experiment, options);
  return options;
}

void keep_in(RunFolder& folder, const config::Experiment& experiment, RunOptions& options) {
  options.on_model = [&folder, sees = options.on_model](const FinalModel& model) {
    append_model(folder, model);
    if (sees) sees(model);
  };
  options.samples_file = folder.metrics();
  if (!options.dry_run) options.checkpoints = folder.checkpoints();
  options.on_sample = [&folder, sees = options.on_sample](const Sample& sample) {
    folder.append("metrics.csv", metrics_csv_row(sample));
    append_scores(folder, sample);
    if (sees) sees(sample);
  };
  if (experiment.record.kind == config::Record::Kind::off) return;
  options.record = folder.record();
  options.counts_links = true;
  if (experiment.record.kind == config::Record::Kind::limited)
    options.record_bytes = static_cast<std::uint64_t>(experiment.record.bytes);
}

void go_on(RunFolder& folder, RunOptions& options, const std::function<void(const std::string&)>& say) {
  const FoundCheckpoint<RunCheckpointFile> found =
      find_run_checkpoint(folder.checkpoints(), folder.metrics(), count_scores(folder));
  for (const std::string& note : found.notes) say(note);
  if (!found.newest) {
    folder.write("metrics.csv", metrics_csv_head());
    keep_scores(folder);
    return say("there is no checkpoint to go on from: the run starts from the beginning");
  }
  options.resume_from = found.newest->file;
  std::filesystem::resize_file(folder.metrics(), found.newest->head.samples_bytes);  // what came after it will come again
  keep_scores(folder);
  say(fmt::format("going on from {}, at {} s of the experiment", found.newest->file.string(),
                  shortest(to_seconds(found.newest->head.at))));
}

std::filesystem::path place_of_run(std::filesystem::path folder) {
  folder = std::filesystem::absolute(folder).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  return folder.extension() == ".partial" ? folder.replace_extension() : folder;
}

Remains remains_of_run(const std::filesystem::path& place, const std::filesystem::path& given) {
  const Remains remains = remains_at(place);
  if (remains != Remains::nothing) return remains;
  throw std::invalid_argument(given.string() + " is not the folder of a run, and no run was interrupted there");
}

void refuse_real_time(const config::Experiment& experiment, const std::filesystem::path& place) {
  if (experiment.clock == config::ClockKind::virtual_time) return;
  throw std::invalid_argument(place.string() + " is a run in real time" +
                              (command_to_go_on(experiment).empty()
                                   ? " of one process: nothing goes on with it"
                                   : ", which goes on by itself: its hosts continue from their checkpoints when `rubato node` "
                                     "is started again with the same --out"));
}

int say_finished(const std::filesystem::path& place, bool json) {
  if (json)
    std::cout << std::ifstream(place / "summary.json").rdbuf() << std::flush;
  else
    std::cout << "the run in " << place.string() << " is complete: there is nothing to do\n";
  return ok;
}

void complete(const RunArguments& arguments, const ResolvedExperiment& resolved, RunResult& result, RunFolder& folder,
              const std::function<void()>& write_last, bool has_results) {
  result.origin = arguments.origin;
  if (has_results) {
    web::write_report(folder.contents());
  } else {
    write_results(folder, resolved.experiment, result);
    web::write_report(folder.contents(), resolved, result);
  }
  if (write_last) write_last();
  folder.complete();
}

int leave(const RunArguments& arguments, const ResolvedExperiment& resolved, RunResult result, RunFolder* folder, Notes& notes) {
  std::error_code none;
  const std::uintmax_t record_bytes = folder ? std::filesystem::file_size(folder->record(), none) : 0;
  if (folder) complete(arguments, resolved, result, *folder);
  notes.say_all(result.notes);
  return tell_result(arguments, resolved.experiment, result, none ? 0 : record_bytes);
}

int tell_result(const RunArguments& arguments, const config::Experiment& experiment, RunResult& result,
                std::uintmax_t record_bytes) {
  result.origin = arguments.origin;
  if (arguments.json) {
    std::cout << summary_json(experiment, result) << std::flush;
  } else {
    if (result.was_stopped)
      std::cout << fmt::format("stopped at {:.1f} of {} s\n", result.virtual_seconds, shortest(experiment.until));
    print_result(experiment, result, arguments.dry_run);
    if (arguments.dry_run) print_forecast(result, record_bytes);
    if (arguments.out.empty()) {
      std::cout << "nothing was kept: --out DIR keeps the results, the record and a report\n";
    } else {
      const std::filesystem::path place = std::filesystem::absolute(arguments.out).lexically_normal();
      std::cout << fmt::format("the run is in {}\nopen {}\n", place.string(), (place / "report.html").string());
    }
  }
  const bool is_useless = result.all_diverged || (experiment.metrics.stop_on_nan && !result.diverged.empty());
  if (is_useless) return failed;
  if (result.was_stopped && result.stopped_by != "metrics.stop") return stopped;  // the rule is the experiment's own
  if (arguments.checks && (!result.silence.empty() || result.runs_away)) return failed;
  const bool has_learnt = experiment.clock == config::ClockKind::virtual_time || result.messages.computations > 0;
  if (has_learnt) return ok;
  std::cerr << "the run ended before any client computed: nothing was learnt\n";
  return failed;
}

}  // namespace rubato::app
