#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "actors/run.hpp"
#include "app/commands.hpp"
#include "app/signals.hpp"
#include "experiment/file/experiment_file.hpp"
#include "results/summary.hpp"

namespace rubato::app {

namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) throw std::invalid_argument("cannot read " + file.string() + ": is this the folder of a run?");
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// A run that was killed, or is at work, lies beside the place it is to have.
void refuse_missing(const std::filesystem::path& folder) {
  if (std::filesystem::exists(folder)) return;
  const std::filesystem::path place = folder.has_filename() ? folder : folder.parent_path();
  const std::string partial = place.string() + ".partial";
  throw std::invalid_argument(
      "there is no folder " + folder.string() +
      (std::filesystem::exists(partial) ? "; there is " + partial + ", of a run that was killed or is at work" : ""));
}

bool agrees(const char* name, const std::string& recorded, const std::string& replayed) {
  const bool same = recorded == replayed;
  std::cout << fmt::format("{:<15} {} {}\n", name, replayed, same ? "agrees" : "differs from " + recorded);
  return same;
}

// Of several hosts' folders: the end that covers all clients. A host that was killed has left no summary.
RecordedEnd end_of_run(const std::vector<std::filesystem::path>& folders) {
  std::string gathered_elsewhere;
  std::optional<RecordedEnd> fullest;  // who left early knows of its own clients only
  for (const std::filesystem::path& folder : folders) {
    if (folders.size() > 1 && !std::filesystem::exists(folder / "summary.json")) continue;
    RecordedEnd end = end_of_summary(text_of(folder / "summary.json"));
    if (!end.gathered_by.empty())
      gathered_elsewhere = end.gathered_by;
    else if (!fullest || end.absent.size() < fullest->absent.size())
      fullest = std::move(end);
  }
  if (fullest) return *std::move(fullest);
  if (gathered_elsewhere.empty()) throw std::invalid_argument("none of these folders has a summary.json: the run has not ended");
  throw std::invalid_argument("the results of all clients are with host \"" + gathered_elsewhere + "\": name its folder too");
}

}  // namespace

int replay(const std::vector<std::filesystem::path>& folders, unsigned threads, const std::filesystem::path& data) {
  for (const std::filesystem::path& folder : folders) refuse_missing(folder);
  const RecordedEnd recorded = end_of_run(folders);
  if (recorded.digests.model.empty()) throw std::invalid_argument("this was a dry run: it has no models to replay");
  const config::Experiment experiment = config::read_experiment(folders.front() / "experiment.toml", {}, std::cerr);
  RunOptions options;
  options.threads = threads > 0 ? threads : all_threads();
  options.data_dir = data;
  options.stop = &watch_signals(false);
  std::vector<std::filesystem::path> records;
  for (const std::filesystem::path& folder : folders) {
    if (experiment.clock == config::ClockKind::virtual_time && !records.empty()) break;  // each is that of all hosts
    records.push_back(folder / "timeline.rbt");
    if (!std::filesystem::exists(records.back()))
      throw std::invalid_argument(folder.string() + " has no timeline.rbt: the run was made with record = \"off\"");
  }
  const RunResult again = rubato::replay(experiment, records, recorded.absent, options);
  if (options.stop->load()) {
    std::cout << "stopped before the end of the record: nothing was compared\n";
    return stopped;
  }
  const bool same_timeline = agrees("timeline_digest", recorded.digests.timeline, again.digests.timeline);
  const bool same_models = agrees("model_digest", recorded.digests.model, again.digests.model);
  return same_timeline && same_models ? ok : failed;
}

}  // namespace rubato::app
