#include "actors/config.hpp"

#include <fstream>
#include <ostream>
#include <system_error>

#include "actors/config_bind.hpp"
#include "actors/config_check.hpp"
#include "actors/config_document.hpp"
#include "actors/config_override.hpp"
#include "actors/config_parse.hpp"
#include "actors/config_relations.hpp"
#include "actors/config_words.hpp"

namespace rubato::config {

namespace {

std::string in_lines(const std::vector<Fault>& faults) {
  std::string text;
  for (const Fault& fault : faults) text += (text.empty() ? "" : "\n") + to_string(fault);
  return text;
}

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
  Value* churn = root.find("churn");
  Table* table = churn ? churn->as<Table>() : nullptr;
  Value* name = table ? table->find("file") : nullptr;
  if (!name || !name->as<std::string>() || name->is_text("none") || name->is_text("")) return;
  const std::filesystem::path file = (folder / *name->as<std::string>()).lexically_normal();
  if (!std::filesystem::is_regular_file(file)) return;  // said with the other faults
  Table lines = parsed(contents_of(file), file);
  Faults faults(file.string());
  check_churn_file(lines, root, file.parent_path(), faults);
  if (!faults.none()) throw BadExperiment(faults.sorted());
  for (const std::string_view key : {"events", "random"}) {
    if (!table->find(key)) table->set(key, {List{}});
    List* all = table->find(key)->as<List>();
    if (!all) continue;  // a fault of its own
    const List& more = *lines.find(key)->as<List>();
    all->insert(all->end(), more.begin(), more.end());
  }
  *table->find("file") = {std::string("none")};
}

}  // namespace

Law Law::constant(double value) {
  Law law;
  law.value = value;
  return law;
}

TimerLaw TimerLaw::poisson(double rate_per_second) {
  TimerLaw timer;
  timer.rate = Law::constant(rate_per_second);
  return timer;
}

TimerLaw TimerLaw::coupled() {
  TimerLaw timer;
  timer.law = TimerKind::coupled;
  return timer;
}

std::string to_string(const Fault& fault) {
  std::string text = fault.file;
  if (fault.line > 0) text += ':' + std::to_string(fault.line);
  text += ": ";
  if (!fault.key.empty()) text += fault.key + (fault.value.empty() ? ": " : " = " + fault.value + ": ");
  text += fault.allowed;
  return fault.suggestion.empty() ? text : text + "; did you mean " + fault.suggestion + '?';
}

BadExperiment::BadExperiment(std::vector<Fault> faults)
    : std::invalid_argument(in_lines(faults)), faults_{std::move(faults)} {}

Experiment parse_experiment(std::string_view text, const std::filesystem::path& file,
                            std::span<const std::string> overrides, std::ostream& notes) {
  Table root = parsed(text, file);
  Faults faults(file.string());
  apply_overrides(root, overrides, faults, notes);
  const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  absorb_churn_file(root, folder);
  check_experiment(root, folder, faults);
  if (!faults.none()) throw BadExperiment(faults.sorted());
  Experiment experiment = experiment_of(root);
  warn(experiment, notes);
  return experiment;
}

Experiment read_experiment(const std::filesystem::path& file, std::span<const std::string> overrides,
                           std::ostream& notes) {
  return parse_experiment(contents_of(file), file, overrides, notes);
}

std::string write_experiment(const Experiment& experiment) {
  return to_document(tree_of(experiment));
}

std::string_view name_of(ClockKind choice) {
  return word_of(choice);
}
std::string_view name_of(Precision choice) {
  return word_of(choice);
}
std::string_view name_of(LawKind choice) {
  return word_of(choice);
}
std::string_view name_of(TimerKind choice) {
  return word_of(choice);
}
std::string_view name_of(TopologyKind choice) {
  return word_of(choice);
}
std::string_view name_of(Symmetrise choice) {
  return word_of(choice);
}
std::string_view name_of(ChannelKind choice) {
  return word_of(choice);
}
std::string_view name_of(HubKind choice) {
  return word_of(choice);
}
std::string_view name_of(UnifyVia choice) {
  return word_of(choice);
}
std::string_view name_of(ProtocolKind choice) {
  return word_of(choice);
}
std::string_view name_of(MissingRule choice) {
  return word_of(choice);
}
std::string_view name_of(LateWork choice) {
  return word_of(choice);
}
std::string_view name_of(MixingKind choice) {
  return word_of(choice);
}
std::string_view name_of(WeightKind choice) {
  return word_of(choice);
}
std::string_view name_of(SnapshotAt choice) {
  return word_of(choice);
}
std::string_view name_of(ChurnKind choice) {
  return word_of(choice);
}
std::string_view name_of(PartitionKind choice) {
  return word_of(choice);
}
std::string_view name_of(InitKind choice) {
  return word_of(choice);
}
std::string_view name_of(ActivationKind choice) {
  return word_of(choice);
}
std::string_view name_of(HingeKind choice) {
  return word_of(choice);
}
std::string_view name_of(NormalisationKind choice) {
  return word_of(choice);
}

}  // namespace rubato::config
