#include <algorithm>
#include <cmath>
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

// A number of table.csv as table.json has it; the column's name says where.
double in_json(const ResultJson& setting, const std::string& column) {
  if (column == "runs") return static_cast<double>(setting.at("runs").size());
  if (column == "failed") return static_cast<double>(setting.at("failures").size());
  if (column == "diverged")
    return static_cast<double>(
        std::ranges::count_if(setting.at("runs"), [](const ResultJson& run) { return !run.at("diverged_at").is_null(); }));
  const bool is_deviation = column.ends_with("_std");
  std::string name = is_deviation ? column.substr(0, column.size() - 4) : column;
  const std::string part = is_deviation ? "/std" : "/mean";
  const bool is_reached = name.starts_with("reached_");
  const std::size_t to = is_reached ? 0 : name.find("_to_");
  if (to == std::string::npos) return number_at(setting, "/" + name + part);
  const std::string target = name.substr(is_reached ? 8 : to + 4);
  for (const ResultJson& each : setting.at("targets"))
    if (shortest(each.at("accuracy").get<double>()) == target)
      return is_reached ? each.at("reached").get<double>() : number_at(each, "/" + name.substr(0, to) + part);
  return not_known;
}

void check_table_csv(const fs::path& folder, const ResultJson& table, CheckFaults& faults) {
  std::istringstream rows(web::text_of(folder / "table.csv"));
  std::string line;
  std::getline(rows, line);
  const std::vector<std::string> names = fields_of(line);
  for (const ResultJson& setting : table.at("settings")) {
    std::getline(rows, line);
    const std::vector<std::string> fields = fields_of(line);
    const std::string label = setting.at("setting");
    faults.require(fields.size() == names.size() && fields[0] == label, "table.csv has no row of ", label, " at its place");
    if (fields.size() != names.size()) return;
    for (std::size_t i = 4; i < names.size(); ++i)
      if (names[i] != "refusal") {
        const double value = std::stod(fields[i]);
        faults.same("table.csv and table.json differ in " + names[i] + " of " + label, std::isfinite(value) ? value : not_known,
                    in_json(setting, names[i]));
      }
  }
}

void check_comparison(const fs::path& folder, CheckFaults& faults) {
  const ResultJson table = ResultJson::parse(web::text_of(folder / "table.json"));
  std::istringstream curves(web::text_of(folder / "curves.csv"));
  std::string line;
  std::getline(curves, line);
  const std::vector<std::string> names = fields_of(line);
  using Row = std::map<std::string, double>;
  std::map<std::string, std::map<std::string, Row>> ends;     // by setting and seed
  std::map<std::string, std::map<std::string, double>> best;  // accuracy, likewise
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
      if (names[i] == "accuracy") best[fields[0]][fields[4]] = std::fmax(best[fields[0]][fields[4]], value);
    }
  }
  check_table_csv(folder, table, faults);
  for (const ResultJson& setting : table.at("settings")) {
    const std::string label = setting.at("setting");
    for (const auto& [name, any] : ends[label].empty() ? Row{} : ends[label].begin()->second) {
      std::vector<double> values;
      for (auto& [seed, row] : ends[label]) values.push_back(row[name]);
      const Spread spread = spread_of(values);
      faults.same("table.json and curves.csv differ in " + name + " of " + label, number_at(setting, "/" + name + "/mean"),
                  std::isfinite(spread.mean) ? spread.mean : not_known);
      faults.same("table.json and curves.csv differ in the deviation of " + name + " of " + label,
                  number_at(setting, "/" + name + "/std"), std::isfinite(spread.deviation) ? spread.deviation : not_known);
    }
    for (const ResultJson& target : setting.at("targets")) {
      const auto is_reached = [&](const auto& run) { return run.second >= target.at("accuracy").template get<double>(); };
      faults.same("table.json and curves.csv differ in runs of " + label + " that reached " + target.at("accuracy").dump(),
                  target.at("reached").get<double>(), static_cast<double>(std::ranges::count_if(best[label], is_reached)));
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
    web::require_ended_run(folder);
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
