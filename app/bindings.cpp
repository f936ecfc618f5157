#include "app/bindings.hpp"

#include <fstream>
#include <stdexcept>
#include <system_error>

#include "actors/core/run_parts.hpp"
#include "app/outcome.hpp"
#include "experiment/build/learners.hpp"
#include "experiment/build/world.hpp"
#include "experiment/file/experiment_file.hpp"
#include "experiment/file/resolve.hpp"
#include "runtime/world/changing.hpp"
#include "runtime/world/report.hpp"
#include "web/report.hpp"
#include "web/run_files.hpp"

namespace rubato {

namespace {

namespace fs = std::filesystem;

// A folder of this process that is gone afterwards.
class PassingFolder {
 public:
  PassingFolder() {
    std::string name = (fs::temp_directory_path() / "rubato-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::system_error(errno, std::generic_category(), "cannot make a folder in " + name);
    place_ = name;
  }
  ~PassingFolder() {
    std::error_code none;
    fs::remove_all(place_, none);
  }
  PassingFolder(const PassingFolder&) = delete;
  PassingFolder& operator=(const PassingFolder&) = delete;
  const fs::path& place() const { return place_; }

 private:
  fs::path place_;
};

void write_metrics(const fs::path& file, const std::vector<Sample>& samples) {
  std::ofstream stream(file);
  stream << metrics_csv_head();
  for (const Sample& sample : samples) stream << metrics_csv_row(sample);
}

RunResult run_and_complete(ResolvedExperiment& resolved, RunFolder& folder, const RunOptions& options, const Provenance& origin) {
  RunResult result = run(resolved, options);
  app::RunArguments arguments;
  arguments.origin = origin;
  app::complete(arguments, resolved, result, folder);
  return result;
}

}  // namespace

RunResult run_into(const fs::path& place, const config::Experiment& experiment, RunOptions options, const Provenance& origin) {
  ResolvedExperiment resolved = resolve(experiment, options);
  RunFolder folder(place);
  if (!options.dry_run) folder.write("experiment.toml", config::write_experiment(resolved.experiment));
  app::keep_in(folder, resolved.experiment, options);
  folder.write("metrics.csv", metrics_csv_head());
  return run_and_complete(resolved, folder, options, origin);
}

RunResult resume_in(const fs::path& given, const config::Experiment& experiment, RunOptions options, const Provenance& origin,
                    const std::function<void(const std::string&)>& say) {
  const fs::path place = app::place_of_run(given);
  if (app::remains_of_run(place, given) == Remains::finished)
    throw std::invalid_argument("the run in " + place.string() + " is complete");
  ResolvedExperiment resolved = resolve(experiment, options);
  app::refuse_real_time(resolved.experiment, place);
  const auto folder = RunFolder::reopen(place);
  app::keep_in(*folder, resolved.experiment, options);
  app::go_on(*folder, options, say);
  return run_and_complete(resolved, *folder, options, origin);
}

fs::path experiment_in(const fs::path& given) {
  const fs::path place = app::place_of_run(given);
  app::remains_of_run(place, given);
  return experiment_of_remains(place);
}

ReplayedRun replay_in(const fs::path& place, const config::Experiment& experiment, const RunOptions& options) {
  const RecordedEnd end = end_of_summary(web::text_of(place / "summary.json"));
  if (end.digests.model.empty()) throw std::invalid_argument("this was a dry run: it has no models to replay");
  const fs::path record = place / "timeline.rbt";
  if (!fs::exists(record))
    throw std::invalid_argument(place.string() + " has no timeline.rbt: the run was made with record = \"off\"");
  const RunResult again = replay(experiment, std::vector{record}, end.absent, options);
  return {end.digests, again.digests};
}

std::string report_page(const config::Experiment& experiment, const RunResult& result, const RunOptions& options) {
  const PassingFolder folder;
  write_metrics(folder.place() / "metrics.csv", result.samples);
  web::write_report(folder.place(), resolve(experiment, options), result);
  return web::text_of(folder.place() / "report.html");
}

namespace {

template <class Real>
DataTable<Real> table_of(const Samples<Real>& samples) {
  DataTable<Real> table{{}, samples.labels, samples.targets};
  const Index rows = samples.features.rows(), columns = samples.features.cols();
  table.features.resize(static_cast<std::size_t>(rows * columns));
  for (Index row = 0; row < rows; ++row) samples.features.copy_row(row, table.features.data() + row * columns);
  return table;
}

}  // namespace

template <class Real>
DataOfExperiment<Real> data_of(const config::Experiment& experiment, const fs::path& data_dir) {
  DealtDataset<Real> dealt = read_and_deal<Real>(experiment, data_dir);
  const Dataset<Real>& dataset = *dealt.dataset;
  DataOfExperiment<Real> data{{dataset.shape.channels, dataset.shape.height, dataset.shape.width},
                              dataset.classes,
                              table_of(dataset.train),
                              table_of(dataset.test),
                              std::move(dealt.parts.rows),
                              std::move(dealt.parts.test_rows),
                              dataset.notes};
  data.notes.insert(data.notes.end(), dealt.parts.notes.begin(), dealt.parts.notes.end());
  return data;
}

template DataOfExperiment<float> data_of(const config::Experiment&, const fs::path&);
template DataOfExperiment<double> data_of(const config::Experiment&, const fs::path&);

std::vector<std::vector<std::uint32_t>> deal_labels(const config::Experiment& experiment, const std::vector<std::uint32_t>& labels,
                                                    std::uint32_t classes) {
  return deal_rows(experiment, {labels, classes}, {{}, classes}).rows;
}

TopologyInfo topology_of(const config::Experiment& experiment) {
  const std::vector<Graph> graphs = make_graphs(experiment);
  const Graph whole = joined(graphs);
  TopologyInfo info{whole.clients(), whole.is_directed(), {}, describe(whole)};
  if (graphs.size() > 1) info.text += describe_changes(graphs);
  for (LinkIndex link = 0; link < whole.links(); ++link) {
    const Edge ends = whole.ends_of(link);
    info.links.emplace_back(ends.source.value, ends.target.value);
  }
  return info;
}

}  // namespace rubato
