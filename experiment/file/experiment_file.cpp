#include "experiment/file/experiment_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <ostream>
#include <sstream>
#include <system_error>

#include "experiment/build/architectures.hpp"
#include "experiment/build/learners.hpp"
#include "experiment/file/check.hpp"
#include "experiment/file/keys.hpp"
#include "experiment/file/parse.hpp"
#include "experiment/file/resolve.hpp"

namespace rubato::config {

namespace {

// An experiment that has been judged key by key and key against key.
struct Draft {
  Table root;  // with defaults filled in
  Faults faults;
  Experiment experiment{};    // its values: those in order, others as declared
  bool has_own_data = false;  // that a program brings along
};

[[noreturn]] void refuse(const std::filesystem::path& file, int line, std::string reason) {
  throw BadExperiment({{file.string(), line, "", "", std::move(reason), ""}});
}

std::string contents_of(const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) refuse(file, 0, "cannot be read: it is a folder");
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in) refuse(file, 0, "cannot be read: " + std::generic_category().message(errno));
  std::string text(max_experiment_bytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) refuse(file, 0, "cannot be read to its end");
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

Table parsed(std::string_view text, const std::filesystem::path& file) {
  if (text.size() > max_experiment_bytes) refuse(file, 0, "is larger than 16 MB, the limit of an experiment file");
  auto document = parse_document(text);
  if (auto* error = std::get_if<SyntaxError>(&document)) refuse(file, error->line, "is not TOML: " + error->reason);
  return std::get<Table>(std::move(document));
}

// The events and absences of the file that [churn] names become those of the experiment.
void absorb_churn_file(Table& root, const std::filesystem::path& folder) {
  const auto [table, key, name] = place_of(root, "churn.file");
  if (!name || !name->as<std::string>() || name->is_text("none") || name->is_text("")) return;
  const std::filesystem::path file = (folder / *name->as<std::string>()).lexically_normal();
  if (!std::filesystem::is_regular_file(file)) return;  // said with the other faults
  Table lines = parsed(contents_of(file), file);
  Faults faults(file.string());
  check_churn_file(lines, root, file.parent_path(), faults);
  faults.throw_if_any();
  for (const std::string_view part : {"events", "random"}) {
    if (!table->find(part)) table->set(part, {List{}});
    List* all = table->find(part)->as<List>();
    if (!all) continue;  // a fault of its own
    const List& more = *lines.find(part)->as<List>();
    all->insert(all->end(), more.begin(), more.end());
  }
  *table->find("file") = {std::string("none")};
}

// A rule has all that it needs, or there is none.
void judge_stop(const Stop& stop, Faults& faults) {
  if (stop.metric && !stop.below) faults.refuse("metrics.stop.metric: the rule needs a bound; set metrics.stop.below");
  if (!stop.metric && stop != Stop{}) faults.refuse("metrics.stop needs metric, the column of metrics.csv that the rule looks at");
  if (stop.metric && stop.window == 1 && stop.by == StopBy::deviation)
    faults.refuse("metrics.stop.window = 1: must be at least 2 for by = \"deviation\", because one value does not deviate");
}

void judge_starts(const Experiment& experiment, Faults& faults) {
  if (experiment.model.starts != StartsKind::centre) return;
  if (experiment.data.name != "quadratic")
    faults.refuse("model.starts = \"centre\" needs data.name = \"quadratic\": other losses have no centre that is known");
  if (experiment.model.init_from)
    faults.refuse("model.init_from cannot be where model.starts = \"centre\" says where clients begin");
}

// Only virtual time stands still for a sample; a round ends with its unification.
void judge_samples(const Experiment& experiment, ProtocolKind protocol, Faults& faults) {
  if (!experiment.metrics.before_unifications) return;
  const std::string key = "metrics.before_unifications is true";
  if (!experiment.unification.period) faults.refuse(key + "; there are none without unification.period");
  if (experiment.clock == ClockKind::wall_time)
    faults.refuse(key + ", but clients do not stand still for a sample in real time; use clock = \"virtual\"");
  if (protocol == ProtocolKind::rounds) faults.refuse(key + ", but a round ends with its unification; use metrics.every_seconds");
}

// Gradients at a mean model are those of all clients' losses alone; trackers are those of algorithms that have one.
void judge_gradients(const Experiment& experiment, Faults& faults) {
  const Metrics& metrics = experiment.metrics;
  const std::string key = "metrics.gradient_norm is true";
  if (metrics.gradient_norm && metrics.clients.value_or(0) > 0)
    faults.refuse(key + ", which needs all clients; leave metrics.clients out");
  if (metrics.gradient_norm && (experiment.model.clip > 0 || experiment.model.weight_decay > 0))
    faults.refuse(key + ", which is of the loss alone; leave model.clip and model.weight_decay out");
  if (!metrics.gradient_norm && metrics.mean_weights != MeanWeights::none)
    faults.refuse("metrics.mean_weights: the norm of a gradient at a weighted mean needs metrics.gradient_norm = true");
  if (!metrics.stationarity && metrics.tracker != TrackerScale::as_is)
    faults.refuse("metrics.tracker: needs metrics.stationarity = true, which compares nu with gradients");
  if (!metrics.tracked) return;
  std::vector<std::string_view> names;
  for (const CatalogueEntry* entry : catalogue())
    if (!entry->tracks.empty()) names.push_back(entry->name);
  if (std::ranges::find(names, experiment.algorithm.name) == names.end())
    faults.refuse(fmt::format("metrics.tracked is true; algorithm.name is \"{}\", and only {} have a tracker",
                              experiment.algorithm.name, fmt::join(names, ", ")));
}

// What stationarity is measured with is the tracker and the gradients of depositum, of all clients.
void judge_stationarity(const Experiment& experiment, Faults& faults) {
  if (!experiment.metrics.stationarity) return;
  const std::string key = "metrics.stationarity is true";
  if (experiment.algorithm.name != "depositum")
    faults.refuse(fmt::format("{}; algorithm.name is \"{}\", and only depositum has the tracker that it compares", key,
                              experiment.algorithm.name));
  if (experiment.metrics.clients.value_or(0) > 0) faults.refuse(key + ", which needs all clients; leave metrics.clients out");
  const Model& model = experiment.model;
  if (model.clip > 0 || model.weight_decay > 0 || model.normalisation == Normalisation::batch)
    faults.refuse(
        key + ", which needs the gradients of the loss alone; leave model.clip, model.weight_decay and batch normalisation out");
}

// The collaboration matrix is that of kdpdfl, and has a row of every client.
void judge_joint_objective(const Experiment& experiment, Faults& faults) {
  if (!experiment.metrics.joint_objective) return;
  const std::string key = "metrics.joint_objective is true";
  if (experiment.algorithm.name != "kdpdfl")
    faults.refuse(fmt::format("{}; algorithm.name is \"{}\", and only kdpdfl has the collaboration matrix that it weighs", key,
                              experiment.algorithm.name));
  if (experiment.metrics.clients.value_or(0) > 0) faults.refuse(key + ", which needs all clients; leave metrics.clients out");
  constexpr std::int64_t most = 1000;
  if (experiment.clients.count > most)
    faults.refuse(fmt::format("{}, which compares all pairs of clients; there are more than {}", key, most));
}

// What has a fault is taken out of the tree: the entry of the innermost table on the way to it.
Table without_faults(Table root, const Faults& faults) {
  for (const Fault& fault : faults.all()) {
    const Place place = place_of(root, fault.key);
    std::erase_if(place.table->entries, [&](const Entry& entry) { return entry.name == place.name; });
  }
  return root;
}

void judge(Draft& draft, const std::filesystem::path& folder) {
  absorb_churn_file(draft.root, folder);
  check_experiment(draft.root, folder, draft.faults);
  if (draft.faults.is_full()) return;  // what is beyond is not known, and could not be taken out
  draft.experiment = experiment_of(without_faults(draft.root, draft.faults));
  check_relations(draft.experiment, draft.root, draft.faults);
}

Experiment finished(Draft draft) {
  draft.faults.throw_if_any();
  return std::move(draft.experiment);
}

// What is wrong with tables that are the program's own is no fault, but for the size of its mini-batches.
void forgive(Draft& draft, std::span<const std::string_view> own) {
  draft.faults.drop_if([&](const Fault& fault) {
    return fault.key != "model.batch" &&
           std::ranges::find(own, std::string_view(fault.key).substr(0, fault.key.find('.'))) != own.end();
  });
  draft.has_own_data = draft.has_own_data || std::ranges::find(own, "data") != own.end();
}

// With the tables that own learners stand for.
std::vector<std::string_view> with_own_learners(std::span<const std::string_view> own) {
  std::vector<std::string_view> tables(own.begin(), own.end());
  if (own_learners()) tables.insert(tables.end(), {"data", "model"});
  return tables;
}

Draft drafted(std::string_view text, const std::filesystem::path& file, std::span<const std::string> overrides,
              std::ostream& notes) {
  Draft draft{parsed(text, file), Faults(file.string())};
  apply_overrides(draft.root, overrides, draft.faults, notes);
  judge(draft, std::filesystem::absolute(file).parent_path());
  forgive(draft, with_own_learners({}));
  return draft;
}

Draft drafted(const Experiment& experiment, std::span<const std::string_view> of_program) {
  const std::vector<std::string_view> own = with_own_learners(of_program);
  const auto is_own = [&](std::string_view table) { return std::ranges::find(own, table) != own.end(); };
  Experiment judged = experiment;
  if (is_own("algorithm")) judged.algorithm = {};
  if (is_own("data")) judged.data = {};
  if (is_own("model")) judged.model = {}, judged.model.batch = experiment.model.batch;
  const Table all = tree_of(judged);
  Draft draft{chosen_in(all), Faults("experiment")};
  Table& algorithm = *draft.root.find("algorithm")->as<Table>();
  for (const Entry& entry : all.find("algorithm")->as<Table>()->entries)  // an option is there because it was set
    if (judged.algorithm.options.has(entry.name) && !algorithm.find(entry.name)) algorithm.entries.push_back(entry);
  judge(draft, std::filesystem::current_path());
  draft.faults.drop_if([](const Fault& fault) {  // of transports
    return fault.key.starts_with("roster[") && (fault.key.ends_with("].address") || fault.key.ends_with("].bind"));
  });
  forgive(draft, own);
  if (is_own("algorithm")) draft.experiment.algorithm = experiment.algorithm;
  if (is_own("data")) draft.experiment.data = experiment.data;
  if (is_own("model")) draft.experiment.model = experiment.model;
  return draft;
}

Draft drafted(const std::filesystem::path& file, std::span<const std::string> overrides, std::ostream& notes) {
  return drafted(contents_of(file), file, overrides, notes);
}

// Of a program's own algorithm, or of the file's.
ResolvedExperiment resolved(Draft draft, const std::optional<ResolvedAlgorithm>& own) {
  const Experiment& experiment = draft.experiment;
  Faults& faults = draft.faults;
  if (faults.is_full()) faults.throw_if_any();
  faults.locate([&](std::string_view key) { return line_of(draft.root, key); });
  ResolvedAlgorithm algorithm = own.value_or(ResolvedAlgorithm{});
  if (!own) faults.attempt({"algorithm.name", "protocol.kind"}, [&] { algorithm = resolve_algorithm(experiment); });
  std::ostringstream notes;
  warn(experiment, notes);
  auto timing = std::make_unique<Timing>(experiment, algorithm, faults, notes);
  judge_samples(experiment, algorithm.protocol, faults);
  judge_stationarity(experiment, faults);
  judge_gradients(experiment, faults);
  judge_joint_objective(experiment, faults);
  if (!own && !draft.has_own_data) judge_architectures(experiment, faults);
  judge_stop(experiment.metrics.stop, faults);
  if (!draft.has_own_data) judge_starts(experiment, faults);
  if (!draft.has_own_data) judge_data(experiment, faults);
  faults.throw_if_any();
  ResolvedExperiment made{std::move(draft.experiment), algorithm, std::move(timing)};
  std::istringstream lines(notes.str());
  for (std::string line; std::getline(lines, line);) made.notes.push_back(line);
  return made;
}

}  // namespace

Experiment parse_experiment(std::string_view text, const std::filesystem::path& file, std::span<const std::string> overrides,
                            std::ostream& notes) {
  return finished(drafted(text, file, overrides, notes));
}

Experiment judge_experiment(std::string_view text, const std::filesystem::path& file, std::span<const std::string> overrides,
                            std::ostream& notes, std::span<const std::string_view> own) {
  Draft draft = drafted(text, file, overrides, notes);
  forgive(draft, own);
  return resolved(std::move(draft), {}).experiment;
}

Experiment validate(const Experiment& experiment, std::span<const std::string_view> own) {
  return finished(drafted(experiment, own));
}

Experiment read_experiment(const std::filesystem::path& file, std::span<const std::string> overrides, std::ostream& notes,
                           std::span<const std::string_view> own) {
  Draft draft = drafted(file, overrides, notes);
  forgive(draft, own);
  return finished(std::move(draft));
}

std::string write_experiment(const Experiment& experiment) { return to_document(tree_of(experiment)); }

}  // namespace rubato::config

namespace rubato {

std::optional<Duration> ResolvedExperiment::window() const {
  if (algorithm.protocol != ProtocolKind::push || algorithm.needs.absorb != AbsorbAt::window) return {};
  return from_seconds(experiment.mailbox.window);
}

ResolvedExperiment resolve(const std::filesystem::path& file, std::span<const std::string> overrides, std::ostream& notes) {
  return config::resolved(config::drafted(file, overrides, notes), {});
}

template <class Real>
ResolvedExperiment resolve(const config::Experiment& experiment, const OwnParts<Real>& own) {
  std::vector<std::string_view> tables;
  if (own.learner) tables = {"data", "model"};
  std::optional<ResolvedAlgorithm> algorithm;
  if (own.algorithm) {
    tables.push_back("algorithm");
    const bool in_rounds = experiment.protocol.kind == ProtocolKind::rounds;
    algorithm = {own.needs, own.merge, own.share, in_rounds ? ProtocolKind::rounds : ProtocolKind::push, nullptr};
  }
  return config::resolved(config::drafted(experiment, tables), algorithm);
}

template ResolvedExperiment resolve(const config::Experiment&, const OwnParts<float>&);
template ResolvedExperiment resolve(const config::Experiment&, const OwnParts<double>&);

}  // namespace rubato
