#include "tests/web/support.hpp"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "actors/run.hpp"
#include "experiment/file/experiment_file.hpp"
#include "results/run_folder.hpp"
#include "web/run_files.hpp"

namespace rubato::web {

namespace fs = std::filesystem;

TempFolder::TempFolder() {
  std::string name = (fs::temp_directory_path() / "rubato-web-XXXXXX").string();
  if (!mkdtemp(name.data())) throw std::runtime_error("no folder for a test");
  path_ = name;
}

TempFolder::~TempFolder() {
  std::error_code none;
  fs::remove_all(path_, none);
}

void TempFolder::write(const std::string& name, const std::string& text) const {
  std::ofstream(file(name), std::ios::binary) << text;
}

config::Experiment small_experiment(const std::string& overrides) {
  const std::string text = R"(
until = 9.5
clients.count = 5
topology.kind = "ring"
channel = { kind = "random", delay = { law = "exponential", mean = 0.1 }, loss = 0.1 }
mailbox = { window = 0.05, deadline = 0.3 }
unification = { period = 3.0 }
algorithm = { name = "draco", self_apply = true }
data = { name = "quadratic", dimension = 3 }
model = { name = "quadratic" }
metrics = { every_events = 20 }
)";
  std::ostringstream notes;
  return config::parse_experiment(overrides + text, "small.toml", {}, notes);
}

fs::path run_folder(const TempFolder& temp, const config::Experiment& experiment, bool dry_run, RunResult* result) {
  RunFolder folder(temp.file("run"));
  RunOptions options;
  options.dry_run = dry_run;
  if (experiment.record.kind != config::Record::Kind::off) {
    options.record = folder.record();
    options.counts_links = true;
  }
  folder.write("metrics.csv", metrics_csv_head());
  options.on_sample = [&](const Sample& sample) { folder.append("metrics.csv", metrics_csv_row(sample)); };
  RunResult made = run(experiment, options);
  write_results(folder, experiment, made);
  if (result) *result = std::move(made);
  folder.complete();
  return temp.file("run");
}

Json json_in(const fs::path& file) { return Json::parse(text_of(file)); }

Json data_in(const fs::path& report) {
  const std::string page = text_of(report);
  const std::string start = R"(<script type="application/json" id="data">)";
  const std::size_t from = page.find(start) + start.size();
  return Json::parse(page.substr(from, page.find("</script>", from) - from));
}

}  // namespace rubato::web
