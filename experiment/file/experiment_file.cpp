#include "experiment/file/experiment_file.hpp"

#include <algorithm>
#include <fstream>
#include <ostream>
#include <system_error>

#include "experiment/file/check.hpp"
#include "experiment/file/document.hpp"
#include "experiment/file/keys.hpp"
#include "experiment/file/override.hpp"
#include "experiment/file/parse.hpp"
#include "experiment/file/relations.hpp"

namespace rubato::config {

namespace {

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

Experiment parse_experiment(std::string_view text, const std::filesystem::path& file, std::span<const std::string> overrides,
                            std::ostream& notes) {
  Table root = parsed(text, file);
  Faults faults(file.string());
  apply_overrides(root, overrides, faults, notes);
  const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  absorb_churn_file(root, folder);
  check_experiment(root, folder, faults);
  if (!faults.none()) throw BadExperiment(faults.sorted());
  return experiment_of(root);
}

Experiment validate(const Experiment& experiment, std::span<const std::string_view> own) {
  const auto is_own = [&](std::string_view table) { return std::ranges::find(own, table) != own.end(); };
  Experiment judged = experiment;
  if (is_own("algorithm")) judged.algorithm = {};
  if (is_own("data")) judged.data = {};
  if (is_own("model")) judged.model = {};
  const Table all = tree_of(judged);
  Table root = chosen_in(all);
  if (is_own("model")) root.find("model")->as<Table>()->set("batch", {experiment.model.batch});
  Table& algorithm = *root.find("algorithm")->as<Table>();
  for (const Entry& entry : all.find("algorithm")->as<Table>()->entries)  // an option is there because it was set
    if (judged.algorithm.options.has(entry.name) && !algorithm.find(entry.name)) algorithm.entries.push_back(entry);
  const std::filesystem::path folder = std::filesystem::current_path();
  absorb_churn_file(root, folder);
  Faults found("experiment");
  check_experiment(root, folder, found);
  std::vector<Fault> faults = found.sorted();
  std::erase_if(faults, [&](const Fault& fault) {
    const bool is_of_transport =
        fault.key.starts_with("roster[") && (fault.key.ends_with("].address") || fault.key.ends_with("].bind"));
    return is_of_transport || (fault.key != "model.batch" && is_own(std::string_view(fault.key).substr(0, fault.key.find('.'))));
  });
  if (!faults.empty()) throw BadExperiment(std::move(faults));
  Experiment complete = experiment_of(root);
  if (is_own("algorithm")) complete.algorithm = experiment.algorithm;
  if (is_own("data")) complete.data = experiment.data;
  if (is_own("model")) complete.model = experiment.model;
  return complete;
}

Experiment read_experiment(const std::filesystem::path& file, std::span<const std::string> overrides, std::ostream& notes) {
  return parse_experiment(contents_of(file), file, overrides, notes);
}

std::string write_experiment(const Experiment& experiment) { return to_document(tree_of(experiment)); }

}  // namespace rubato::config
