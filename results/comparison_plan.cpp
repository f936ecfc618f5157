#include "results/comparison_plan.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <sstream>

#include "experiment/file/experiment_file.hpp"
#include "experiment/file/keys.hpp"
#include "results/result_text.hpp"

namespace rubato {

namespace {

using config::Experiment;

constexpr std::int64_t last_seed = std::numeric_limits<std::int64_t>::max();

bool is_choice(const std::string& key) {
  const auto [path, name] = config::parted(key);
  return config::is_selector(path, name);
}

// False only where the choices of the experiment do not know a key that others do: what no experiment knows is a fault, and
// reading will say so.
bool knows(const Experiment& experiment, const std::string& key) {
  const auto [path, name] = config::parted(key);
  const auto spec = config::table_at(path);
  config::Table root = config::tree_of(experiment);
  const config::Value* const at_path = config::place_of(root, path).value;  // a number may stand in the place of a law
  const config::Table* const table = path.empty() ? &root : at_path ? at_path->as<config::Table>() : nullptr;
  const config::Key* found = spec && table ? config::find_key(*spec, name, *table) : nullptr;
  return !found || config::belongs(*spec, *found, *table) != config::Belongs::no;
}

class Planner {
 public:
  explicit Planner(const ComparisonRequest& request) : request_{request} {}

  ComparisonPlan plan() {
    if (request_.files.empty()) throw std::invalid_argument("there is no experiment to compare");
    if (request_.seeds == 0) throw std::invalid_argument("seeds must be at least 1");
    for (const std::string& key : varied_keys())
      if (key == "seed") throw std::invalid_argument("--grid seed: seeds are no setting; --seeds says how many there are");
    const std::vector<GridPoint> points = all_points();
    for (const auto& file : request_.files) read_plain(file);
    refuse_faults();
    for (std::size_t i = 0; i < request_.files.size(); ++i)
      for (const GridPoint& point : points) add(i, point);
    refuse_impossible_files();
    refuse_unknown_keys();
    name_files_apart();
    compare_files();
    sample_by_time();
    choose_seeds();
    return std::move(plan_);
  }

 private:
  std::vector<std::string> varied_keys() const {
    std::vector<std::string> keys;
    for (const GridKey& grid : request_.grid) keys.push_back(grid.key);
    for (const SampledKey& sampled : request_.samples) keys.push_back(sampled.key);
    return keys;
  }

  std::vector<GridPoint> all_points() const {
    const std::vector<GridPoint> grid = grid_points(request_.grid);
    if (request_.samples.empty()) return grid;
    for (const GridKey& key : request_.grid)
      if (std::ranges::find(request_.samples, key.key, &SampledKey::key) != request_.samples.end())
        throw std::invalid_argument("--sample " + key.key + ": has values of --grid already");
    return all_with_all(grid, sampled_points(request_.samples, request_.points, request_.sample_seed));
  }

  std::optional<Experiment> read(const std::filesystem::path& file, const std::vector<std::string>& overrides) {
    std::ostringstream notes;
    try {
      Experiment experiment = config::read_experiment(file, overrides, notes, request_.own);
      std::istringstream lines(notes.str());
      for (std::string line; std::getline(lines, line);) note(file.filename().string() + ": " + line);
      return experiment;
    } catch (const BadExperiment& error) {
      std::vector<config::Fault> faults = error.faults();
      std::ranges::for_each(faults, [&](config::Fault& fault) { name_option(fault); });
      refusal_ = BadExperiment(faults).what();
      for (const config::Fault& fault : faults)
        if (said_faults_.insert(to_string(fault)).second) faults_.push_back(fault);
      return std::nullopt;
    }
  }

  // Of a value that a grid or a sample brings.
  void name_option(config::Fault& fault) const {
    const auto is_of = [&](const auto& key) { return key.key == fault.key; };
    if (fault.file != "--set") return;
    if (std::ranges::any_of(request_.grid, is_of)) fault.file = "--grid";
    if (std::ranges::any_of(request_.samples, is_of)) fault.file = "--sample";
  }

  // The file as it is, without the grid. What it lacks, the grid may bring: then only the points are read.
  void read_plain(const std::filesystem::path& file) {
    plain_.push_back(varied_keys().empty() ? read(file, request_.set) : read_if_whole(file, request_.set));
  }

  std::optional<Experiment> read_if_whole(const std::filesystem::path& file, const std::vector<std::string>& overrides) const try {
    std::ostringstream notes;
    return config::read_experiment(file, overrides, notes, request_.own);
  } catch (const BadExperiment&) {
    return std::nullopt;
  }

  void add(std::size_t file, const GridPoint& point) {
    ComparedSetting setting;
    setting.file = request_.files[file];
    setting.values = known_part(file, point);
    const auto is_same = [&](const ComparedSetting& s) { return s.file == setting.file && s.values == setting.values; };
    if (std::ranges::any_of(plan_.settings, is_same)) return;
    std::vector<std::string> overrides = request_.set;
    for (const auto& [key, value] : setting.values) overrides.push_back(key + "=" + value);
    if (auto experiment = read(setting.file, overrides))
      setting.experiment = std::move(*experiment);
    else
      setting.refusal = refusal_;
    plan_.settings.push_back(std::move(setting));
  }

  // Where all points of a file are impossible, the fault is hardly the grid's.
  void refuse_impossible_files() const {
    for (const auto& file : request_.files) {
      const auto is_possible = [&](const ComparedSetting& s) { return s.file == file && s.refusal.empty(); };
      if (std::ranges::none_of(plan_.settings, is_possible)) refuse_faults();
    }
  }

  // Choices first: they decide which of the other keys are known.
  GridPoint known_part(std::size_t file, const GridPoint& point) {
    std::vector<std::string> overrides = request_.set;
    for (const auto& [key, value] : point)
      if (is_choice(key)) overrides.push_back(key + "=" + value);
    const auto experiment = read_if_whole(request_.files[file], overrides);  // nothing: it lacks what other keys bring
    GridPoint known;
    for (const auto& [key, value] : point) {
      if (experiment && !knows(*experiment, key)) {
        note(request_.files[file].filename().string() + ", " + experiment->algorithm.name + ": does not know " + key +
             " and runs without it");
        continue;
      }
      known_keys_.insert(key);
      known.emplace_back(key, value);
    }
    return known;
  }

  void refuse_faults() const {
    if (!faults_.empty()) throw BadExperiment(faults_);
  }

  void refuse_unknown_keys() const {
    for (const std::string& key : varied_keys())
      if (!known_keys_.contains(key)) throw std::invalid_argument("--grid " + key + ": none of the experiments knows this key");
  }

  // Stems, or whole paths where stems are the same.
  void name_files_apart() {
    for (ComparedSetting& setting : plan_.settings) {
      const auto has_stem = [&](const ComparedSetting& s) { return s.file.stem() == setting.file.stem(); };
      const bool is_unique =
          std::ranges::all_of(plan_.settings, [&](const ComparedSetting& s) { return s.file == setting.file || !has_stem(s); });
      setting.label = (is_unique ? setting.file.stem() : setting.file).string();
      if (!setting.values.empty()) setting.label += " " + to_text(setting.values);
    }
  }

  // What the grid varies is meant to differ, so files are compared as they are.
  void compare_files() {
    std::size_t first = 0;
    while (first < plain_.size() && !plain_[first]) ++first;
    std::string fault;
    for (std::size_t i = first + 1; i < plain_.size(); ++i) {
      if (!plain_[i]) continue;
      const std::string both = request_.files[first].string() + " and " + request_.files[i].string() + " differ in ";
      const Differences found = differences(*plain_[first], *plain_[i]);
      for (const std::string& what : found.notes) note(both + what);
      for (const std::string& what : found.faults) fault += (fault.empty() ? "" : "\n") + both + what + ": they cannot be compared";
    }
    if (!fault.empty()) throw std::invalid_argument(fault);
  }

  // While clients compute so often at the usual rate: a budget may end runs long before `until`.
  static double usual_period(const Experiment& experiment) {
    const double rate = experiment.clients.compute.rate.value;
    const std::int64_t clients = experiment.clients.count, usual = std::max<std::int64_t>(500, clients);
    const double computations = static_cast<double>(clients) * (rate > 0 ? rate : 1);
    return static_cast<double>(std::max<std::int64_t>(experiment.metrics.every_events.value_or(usual), 1)) / computations;
  }

  // Numbers of events come at other instants with every seed and algorithm; curves are compared at the same ones.
  void sample_by_time() {
    constexpr double samples = 60;
    const auto is_asked = [](const std::string& text) { return text.starts_with("metrics.every_"); };
    if (std::ranges::any_of(request_.set, is_asked)) return;
    if (std::ranges::any_of(varied_keys(), is_asked)) return;
    const Experiment& first = first_possible(plan_.settings).experiment;
    const double named = first.metrics.every_seconds.value_or(0);
    const double period = named > 0 ? named : std::min(first.until / samples, usual_period(first));
    bool is_news = false;
    for (ComparedSetting& setting : plan_.settings) {
      if (!setting.refusal.empty()) continue;
      config::Metrics& metrics = setting.experiment.metrics;
      const bool is_open = !metrics.every_events && !metrics.every_seconds;
      is_news = is_news || metrics.every_events.value_or(0) > 0;
      if (is_open || metrics.every_events.value_or(0) > 0) metrics.every_events = 0, metrics.every_seconds = period;
    }
    if (is_news)
      note("all runs are measured every " + shortest(period) + " s, at the same instants, instead of by numbers of events");
  }

  void choose_seeds() {
    const ComparedSetting& first = first_possible(plan_.settings);
    plan_.first_seed = first.experiment.seed;
    plan_.seeds = request_.seeds;
    if (static_cast<std::uint64_t>(last_seed - plan_.first_seed) < request_.seeds - 1)
      throw std::invalid_argument("seed " + std::to_string(plan_.first_seed) + " leaves no room for " +
                                  std::to_string(request_.seeds) + " seeds");
    for (const ComparedSetting& setting : plan_.settings)
      if (setting.refusal.empty() && setting.experiment.seed != plan_.first_seed)
        note("all runs begin with seed " + std::to_string(plan_.first_seed) + ", that of " + first.file.filename().string());
  }

  void note(std::string text) {
    if (said_notes_.insert(text).second) plan_.notes.push_back(std::move(text));
  }

  const ComparisonRequest& request_;
  ComparisonPlan plan_;
  std::vector<std::optional<Experiment>> plain_;  // a file that is none without the grid: nothing
  std::vector<config::Fault> faults_;
  std::string refusal_;  // of the experiment that was read last
  std::set<std::string> said_faults_, said_notes_, known_keys_;
};

}  // namespace

Differences differences(const Experiment& one, const Experiment& other) {
  Differences found;
  const auto fault_if = [&](bool is_other, const char* what) {
    if (is_other) found.faults.emplace_back(what);
  };
  const auto note_if = [&](bool is_other, const char* what) {
    if (is_other) found.notes.emplace_back(what);
  };
  fault_if(one.clients.count != other.clients.count, "clients.count");
  fault_if(!(one.data == other.data), "[data]");
  fault_if(!(one.model == other.model), "[model]");
  fault_if(!(one.budget == other.budget), "[budget]");
  const bool has_budget = one.budget.bits || one.budget.gradients;
  note_if(!(one.clients.compute == other.clients.compute), "[clients.compute]");
  note_if(!(one.topology == other.topology), "[topology]");
  note_if(!(one.channel == other.channel), "[channel]");
  note_if(!(one.metrics == other.metrics), "[metrics]");
  note_if(one.precision != other.precision, "precision");
  note_if(one.until != other.until && !has_budget, "until");
  return found;
}

ComparisonPlan plan_comparison(const ComparisonRequest& request) { return Planner(request).plan(); }

}  // namespace rubato
