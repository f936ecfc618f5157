// The studies of examples/papers: their files are in order and run, and DeceFL's finding holds on one seed.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "experiment/file/experiment_file.hpp"
#include "tests/actors/support.hpp"
#include "tests/support/large_data.hpp"

using namespace rubato;
using namespace rubato::test;

namespace fs = std::filesystem;

namespace {

const fs::path papers = RUBATO_SOURCE_DIR "/examples/papers";

std::vector<fs::path> files_of_studies() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(papers))
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

bool sends(const config::Experiment& of) { return of.algorithm.name != "local_only"; }

// A computation every ten seconds in the mean, so rounds of most of a minute.
bool computes_seldom(const fs::path& file) { return file.stem().string().starts_with("draco_main"); }

bool is_made_up(const config::Experiment& of) { return of.data.name.starts_with("pame_") || of.data.name == "quadratic"; }

// Of its own kind, or digits with a linear model, which stand in for sets that may not be here.
std::vector<std::string> small_data(const config::Experiment& of) {
  if (of.data.name == "quadratic") return {};
  if (is_made_up(of)) return {"data.samples_per_client=20", "data.dimension=300"};
  const bool is_of_images = of.model.name.starts_with("cnn") || of.model.name.starts_with("resnet");
  std::vector<std::string> instead{"data.name=digits", "data.partition={kind=\"iid\"}", "data.samples_per_client=40",
                                   "data.train_rows=0"};
  if (is_of_images) instead.push_back("model.name=softmax");
  if (of.data.clip > 0) instead.push_back("data.clip=0");
  if (is_of_images && of.algorithm.options.has("k")) instead.push_back("algorithm.k=100");
  return instead;
}

}  // namespace

TEST_CASE("each file of each study can be run: its timing is walked without a model") {
  const std::vector<fs::path> files = files_of_studies();
  for (const fs::path& file : files) {
    CAPTURE(file);
    RunOptions options = on_threads(1);
    options.dry_run = true;
    const config::Experiment whole = experiment_of(file);
    const std::string until = "until=" + std::to_string(std::min(whole.until, computes_seldom(file) ? 200.5 : 20.5));
    const RunResult walked = run(experiment_of(file, small_data(whole) + std::vector<std::string>{until}), options);
    CHECK((walked.messages.sent > 0) == sends(whole));
  }
  CHECK(files.size() >= 33);
}

// Nightly on its own data; else on few rows, and without the deep networks.
TEST_CASE("every file of every study learns for a few rounds") {
  for (const fs::path& file : files_of_studies()) {
    CAPTURE(file);
    const config::Experiment whole = experiment_of(file);
    if (!is_nightly() && whole.model.name == "decefl_dnn") continue;
    if (is_nightly() && !is_made_up(whole) && !fs::exists(large_data() / whole.data.name)) {
      MESSAGE("skipped: " << whole.data.name << " is not in RUBATO_DATA");
      continue;
    }
    RunOptions options = on_threads(2);
    options.data_dir = large_data();
    const bool trains_for_epochs = whole.algorithm.options.numbers("local_epochs", 0).front() > 0;
    const bool pulls = whole.algorithm.name == "kdpdfl";                 // every twentieth round
    const bool waits_for_mean = whole.algorithm.name == "kgt_directed";  // of 1 / p rounds: fewer than twenty here
    const std::string until = "until=" + std::to_string(trains_for_epochs       ? 2.5
                                                        : computes_seldom(file) ? 60.5
                                                        : pulls                 ? 45.5
                                                        : waits_for_mean        ? 25.5
                                                                                : 14.5);
    const std::vector<std::string> data = is_nightly() ? std::vector<std::string>{} : small_data(whole);
    const RunResult result = run(experiment_of(file, data + std::vector<std::string>{until, "metrics.test_samples=100"}), options);
    CHECK((result.messages.sent > 0) == sends(whole));
    CHECK(result.traffic.gradients > 0);
    const bool are_unlike = std::ranges::any_of(whole.clients.classes, [](const auto& one) { return one.model || one.hidden; });
    CHECK(std::isfinite(are_unlike ? result.samples.back().loss_mean : result.samples.back().loss_mean_model));
  }
}

TEST_CASE("what PaME is compared with sends as many messages as PaME: equal period and participation") {
  std::map<std::string, double> sent;
  for (const char* name : {"pame_ex2", "pame_ex2_dpsgd", "pame_ex2_dfedsam", "pame_ex2_beer", "pame_ex2_anq_nids"}) {
    const RunResult result = run(experiment_of(papers / "pame" / (std::string(name) + ".toml"),
                                               {"until=200.5", "data.samples_per_client=5", "data.dimension=200"}),
                                 on_threads(2));
    sent[name] = static_cast<double>(result.messages.sent);
    CHECK(std::isfinite(result.samples.back().loss_mean_model));
  }
  // PaME's periods are 3 to 7, their inverses 0.218 in the mean and not 1/5; BEER sends twice in an exchange.
  for (const char* name : {"pame_ex2_dpsgd", "pame_ex2_dfedsam", "pame_ex2_anq_nids"})
    CHECK(std::abs(sent[name] / sent["pame_ex2"] - 1) < 0.35);
  CHECK(sent["pame_ex2_dpsgd"] == sent["pame_ex2_dfedsam"]);
  CHECK(std::abs(sent["pame_ex2_beer"] / sent["pame_ex2_anq_nids"] - 2) < 0.2);
}

TEST_CASE("DeceFL on graphs whose edges or nodes come and go ends within 0.01 of the graph that stays") {
  if (!fs::exists(large_data() / "breast-cancer")) {
    MESSAGE("skipped: breast-cancer is neither in RUBATO_DATA nor in ../shared/data");
    return;
  }
  std::map<std::string, double> accuracy;
  for (const char* name : {"static", "edge_varying", "node_varying"}) {
    RunOptions options = on_threads(1);
    options.data_dir = large_data();
    // The mean over the last third of the samples: 114 test rows make steps of almost 0.01.
    double sum = 0;
    const RunResult result =
        run(experiment_of(papers / "decefl" / (std::string(name) + ".toml"), {"metrics.every_seconds=25.0"}), options);
    const std::size_t used = result.samples.size() / 3;
    for (std::size_t i = result.samples.size() - used; i < result.samples.size(); ++i) sum += result.samples[i].accuracy_mean;
    accuracy[name] = sum / static_cast<double>(used);
  }
  CHECK(accuracy["static"] > 0.93);
  CHECK(accuracy["edge_varying"] == doctest::Approx(accuracy["static"]).epsilon(0.01));
  CHECK(accuracy["node_varying"] == doctest::Approx(accuracy["static"]).epsilon(0.01));
}
