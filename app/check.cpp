#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/check_faults.hpp"
#include "app/commands.hpp"
#include "app/run_check.hpp"
#include "experiment/file/experiment_file.hpp"
#include "results/comparison_table.hpp"
#include "web/run_files.hpp"

namespace rubato::app {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  for (const char letter : line) {
    if (letter == '"') is_quoted = !is_quoted;
    if (letter == ',' && !is_quoted)
      fields.emplace_back();
    else if (letter != '"')
      fields.back() += letter;
  }
  return fields;
}

void check_comparison(const fs::path& folder, CheckFaults& faults) {
  const ResultJson table = ResultJson::parse(web::text_of(folder / "table.json"));
  std::istringstream curves(web::text_of(folder / "curves.csv"));
  std::string line;
  std::getline(curves, line);
  const std::vector<std::string> names = fields_of(line);
  using Row = std::map<std::string, double>;
  std::map<std::string, std::map<std::string, Row>> ends;  // by setting and seed
  while (std::getline(curves, line)) {
    const std::vector<std::string> fields = fields_of(line);
    Row& end = ends[fields.at(0)][fields.at(4)];
    for (std::size_t i = 5; i < names.size(); ++i) {
      const double value = std::stod(fields.at(i));
      const bool is_axis =
          std::ranges::any_of(columns_as(Role::axis), [&](const auto& axis) { return axis.curve.name == names[i]; });
      if (is_axis && end.contains(names[i]))
        faults.require(end[names[i]] <= value, "curves.csv: ", names[i], " falls to ", value, " in ", fields[0], ", seed ",
                       fields[4]);
      end[names[i]] = value;
    }
  }
  for (const ResultJson& setting : table.at("settings")) {
    const std::string label = setting.at("setting");
    for (const auto& [name, any] : ends[label].empty() ? Row{} : ends[label].begin()->second) {
      std::vector<double> values;
      for (auto& [seed, row] : ends[label]) values.push_back(row[name]);
      const Spread spread = spread_of(values);
      faults.same("table.json and curves.csv differ in " + name + " of " + label,
                  number_at(setting, ("/" + name + "/mean").c_str()), std::isfinite(spread.mean) ? spread.mean : not_known);
      faults.same("table.json and curves.csv differ in the deviation of " + name + " of " + label,
                  number_at(setting, ("/" + name + "/std").c_str()),
                  std::isfinite(spread.deviation) ? spread.deviation : not_known);
    }
    for (const ResultJson& run : setting.at("runs")) {
      const fs::path file = folder / run.at("experiment").get<std::string>();
      std::ostringstream notes;
      faults.require(fs::exists(file) && config::read_experiment(file, {}, notes).seed == run.at("seed").get<std::int64_t>(),
                     "there is no experiment of ", label, ", seed ", run.at("seed").get<std::int64_t>());
    }
  }
}

}  // namespace

int check(const std::vector<fs::path>& folders, const fs::path& data) {
  std::size_t broken = 0;
  for (const fs::path& folder : folders) {
    CheckFaults faults;
    if (fs::exists(folder / "table.json"))
      check_comparison(folder, faults);
    else
      check_run(folder, data, faults);
    for (const std::string& sentence : faults.sentences()) std::cout << folder.string() << ": " << sentence << "\n";
    if (faults.sentences().empty()) std::cout << folder.string() << ": " << faults.checks() << " checks hold\n";
    broken += faults.sentences().size();
  }
  return broken == 0 ? ok : failed;
}

}  // namespace rubato::app
