#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

#include "actors/experiment.hpp"
#include "actors/summary.hpp"
#include "app/commands.hpp"
#include "app/signals.hpp"

namespace rubato::app {

namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) throw std::invalid_argument("cannot read " + file.string() + ": is this the folder of a run?");
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

bool agrees(const char* name, const std::string& recorded, const std::string& replayed) {
  const bool same = recorded == replayed;
  std::printf("%-15s %s %s\n", name, replayed.c_str(), same ? "agrees" : ("differs from " + recorded).c_str());
  return same;
}

}  // namespace

int replay(const ReplayArguments& arguments) {
  const Digests recorded = digests_of_summary(text_of(arguments.folder / "summary.json"));
  if (recorded.model.empty()) throw std::invalid_argument("this was a dry run: it has no models to replay");
  const config::Experiment experiment = config::read_experiment(arguments.folder / "experiment.toml", {}, std::cerr);
  RunOptions options;
  options.threads = arguments.threads > 0 ? arguments.threads : all_threads();
  options.data_dir = arguments.data;
  options.stop = &watch_signals();
  if (!std::filesystem::exists(arguments.folder / "timeline.rbt"))
    throw std::invalid_argument(arguments.folder.string() + " has no timeline.rbt: the run was made with record = \"off\"");
  const RunResult again = rubato::replay(experiment, arguments.folder / "timeline.rbt", options);
  if (options.stop->load()) {
    std::printf("stopped before the end of the record: nothing was compared\n");
    return stopped;
  }
  const bool same_timeline = agrees("timeline_digest", recorded.timeline, again.digests.timeline);
  const bool same_models = agrees("model_digest", recorded.model, again.digests.model);
  return same_timeline && same_models ? ok : failed;
}

}  // namespace rubato::app
