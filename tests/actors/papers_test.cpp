// The studies of examples/papers: their files are in order, and DeceFL's finding holds on one seed.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "experiment/file/experiment_file.hpp"
#include "tests/actors/support.hpp"

using namespace rubato;
using namespace rubato::test;

namespace fs = std::filesystem;

namespace {

const fs::path papers = RUBATO_SOURCE_DIR "/examples/papers";

config::Experiment study(const fs::path& file, const std::vector<std::string>& overrides = {}) {
  std::ostringstream notes;
  return config::read_experiment(file, overrides, notes);
}

// RUBATO_DATA, or the folder beside the project.
fs::path data_dir() {
  if (const char* const dir = std::getenv("RUBATO_DATA"); dir && *dir) return dir;
  return RUBATO_SOURCE_DIR "/../shared/data";
}

}  // namespace

TEST_CASE("every file of every study can be run: its timing is walked without a model") {
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(papers)) {
    if (entry.path().extension() != ".toml") continue;
    CAPTURE(entry.path());
    ++files;
    // Digits stand in for sets that may not be here.
    RunOptions options = on_threads(1);
    options.dry_run = true;
    const RunResult walked = run(
        study(entry.path(), {"data.name=digits", "data.partition.kind=iid", "until=20.5", "data.samples_per_client=50"}), options);
    CHECK(walked.messages.sent > 0);
  }
  CHECK(files >= 8);
}

TEST_CASE("DeceFL on graphs whose edges or nodes come and go ends within 0.01 of the graph that stays") {
  if (!fs::exists(data_dir() / "breast-cancer")) {
    MESSAGE("skipped: breast-cancer is neither in RUBATO_DATA nor in ../shared/data");
    return;
  }
  std::map<std::string, double> accuracy;
  for (const char* name : {"static", "edge_varying", "node_varying"}) {
    RunOptions options = on_threads(1);
    options.data_dir = data_dir();
    // The mean over the last third of the samples: 114 test rows make steps of almost 0.01.
    double sum = 0;
    const RunResult result = run(study(papers / "decefl" / (std::string(name) + ".toml"), {"metrics.every_seconds=25.0"}), options);
    const std::size_t used = result.samples.size() / 3;
    for (std::size_t i = result.samples.size() - used; i < result.samples.size(); ++i) sum += result.samples[i].accuracy_mean;
    accuracy[name] = sum / static_cast<double>(used);
  }
  CHECK(accuracy["static"] > 0.93);
  CHECK(accuracy["edge_varying"] == doctest::Approx(accuracy["static"]).epsilon(0.01));
  CHECK(accuracy["node_varying"] == doctest::Approx(accuracy["static"]).epsilon(0.01));
}
