#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "app/check_faults.hpp"
#include "app/commands.hpp"
#include "app/run_check.hpp"
#include "experiment/file/experiment_file.hpp"
#include "results/comparison_table.hpp"
#include "results/grid.hpp"
#include "web/run_files.hpp"

namespace rubato::app {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool is_quote = line[i] == '"', is_doubled = is_quote && is_quoted && line.substr(i + 1, 1) == "\"";
    if (is_quote && !is_doubled) is_quoted = !is_quoted;
    if (is_doubled) ++i;
    if (line[i] == ',' && !is_quoted)
      fields.emplace_back();
    else if (!is_quote || is_doubled)
      fields.back() += line[i];
  }
  return fields;
}

// A table whose fields may be words, each row with as many as there are names.
struct Rows {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> rows;
};

Rows rows_in(const fs::path& file) {
  std::istringstream lines(web::text_of(file));
  std::string line;
  std::getline(lines, line);
  Rows read{fields_of(line), {}};
  for (std::size_t number = 2; std::getline(lines, line); ++number) {
    read.rows.push_back(fields_of(line));
    if (read.rows.back().size() != read.names.size())
      throw std::invalid_argument(file.string() + ":" + std::to_string(number) +
                                  " is damaged: " + std::to_string(read.names.size()) + " fields are expected");
  }
  return read;
}

double number_of(const std::string& field) {
  char* end = nullptr;
  const double value = std::strtod(field.c_str(), &end);
  if (field.empty() || *end) throw std::invalid_argument("\"" + field + "\" stands where a number is expected");
  return value;
}

// JSON has no infinity.
double or_unknown(double value) { return std::isfinite(value) ? value : not_known; }

constexpr std::string_view word_columns[] = {"setting", "file", "algorithm", "grid", "refusal"};  // of table.csv

// The words of a setting in table.csv and table.json; no null.
std::string word_in_json(const ResultJson& setting, const std::string& column) {
  if (column != "grid") return setting.at(column).is_string() ? setting.at(column).get<std::string>() : "";
  GridPoint point;
  for (const auto& [key, value] : setting.at("grid").items()) point.emplace_back(key, value.get<std::string>());
  return to_text(point);
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
  const Rows csv = rows_in(folder / "table.csv");
  const ResultJson& settings = table.at("settings");
  faults.require(csv.rows.size() == settings.size(), "table.csv has ", csv.rows.size(), " settings, table.json ", settings.size());
  if (csv.rows.size() != settings.size()) return;
  for (std::size_t row = 0; row < settings.size(); ++row) {
    const std::string label = settings[row].at("setting");
    for (std::size_t i = 0; i < csv.names.size(); ++i) {
      const std::string& name = csv.names[i];
      const std::string differ = "table.csv and table.json differ in " + name + " of " + label;
      if (std::ranges::find(word_columns, name) != std::end(word_columns))
        faults.require(csv.rows[row][i] == word_in_json(settings[row], name), differ);
      else
        faults.same(differ, or_unknown(number_of(csv.rows[row][i])), in_json(settings[row], name));
    }
  }
}

void check_comparison(const fs::path& folder, CheckFaults& faults) {
  const ResultJson table = ResultJson::parse(web::text_of(folder / "table.json"));
  const Rows curves = rows_in(folder / "curves.csv");
  using Row = std::map<std::string, double>;
  std::map<std::string, std::map<std::string, Row>> ends;     // by setting and seed
  std::map<std::string, std::map<std::string, double>> best;  // accuracy, likewise
  for (const std::vector<std::string>& fields : curves.rows) {
    Row& end = ends[fields.at(0)][fields.at(4)];
    for (std::size_t i = 5; i < curves.names.size(); ++i) {
      const std::string& name = curves.names[i];
      const double value = number_of(fields[i]);
      const bool is_axis = std::ranges::any_of(columns_as(Role::axis), [&](const auto& axis) { return axis.curve.name == name; });
      if (is_axis && end.contains(name))
        faults.require(end[name] <= value, "curves.csv: ", name, " falls to ", value, " in ", fields[0], ", seed ", fields[4]);
      end[name] = value;
      if (name == "accuracy") best[fields[0]][fields[4]] = std::fmax(best[fields[0]][fields[4]], value);
    }
  }
  for (const auto& [label, runs] : ends)
    faults.require(std::ranges::any_of(table.at("settings"), [&](const ResultJson& each) { return each.at("setting") == label; }),
                   "curves.csv has ", label, ", which is no setting of table.json");
  check_table_csv(folder, table, faults);
  faults.require(fs::exists(folder / "report.html"), "there is no report.html, which the comparison has written");
  for (const ResultJson& setting : table.at("settings")) {
    const std::string label = setting.at("setting");
    for (const auto& [name, any] : ends[label].empty() ? Row{} : ends[label].begin()->second) {
      std::vector<double> values;
      for (auto& [seed, row] : ends[label]) values.push_back(row[name]);
      const Spread spread = spread_of(values);
      faults.same("table.json and curves.csv differ in " + name + " of " + label, number_at(setting, "/" + name + "/mean"),
                  or_unknown(spread.mean));
      faults.same("table.json and curves.csv differ in the deviation of " + name + " of " + label,
                  number_at(setting, "/" + name + "/std"), or_unknown(spread.deviation));
      faults.same("table.json and curves.csv differ in the runs that have " + name + " of " + label,
                  number_at(setting, "/" + name + "/n"), static_cast<double>(spread.count));
    }
    for (const ResultJson& target : setting.at("targets")) {
      const auto is_reached = [&](const auto& run) { return run.second >= target.at("accuracy").template get<double>(); };
      faults.same("table.json and curves.csv differ in runs of " + label + " that reached " + target.at("accuracy").dump(),
                  target.at("reached").get<double>(), static_cast<double>(std::ranges::count_if(best[label], is_reached)));
    }
    const auto with_curve =
        std::ranges::count_if(setting.at("runs"), [](const ResultJson& run) { return !run.at("end").is_null(); });
    faults.require(static_cast<std::size_t>(with_curve) == ends[label].size(), "table.json has ", with_curve, " runs of ", label,
                   ", curves.csv ", ends[label].size());
    for (const ResultJson& run : setting.at("runs")) {
      for (const auto& [name, value] : ends[label][run.at("seed").dump()])
        faults.same("table.json and curves.csv differ in " + name + " of " + label + ", seed " + run.at("seed").dump(),
                    number_at(run, "/end/" + name), or_unknown(value));
      const fs::path file = folder / run.at("experiment").get<std::string>();
      std::ostringstream notes;
      faults.require(fs::exists(file) && config::read_experiment(file, {}, notes).seed == run.at("seed").get<std::int64_t>(),
                     "there is no experiment of ", label, ", seed ", run.at("seed").get<std::int64_t>());
    }
  }
}

// What cannot be read ends the checks of this folder, and is a fault.
void check_folder(const fs::path& folder, const fs::path& data, CheckFaults& faults) {
  const bool is_comparison = fs::exists(folder / "table.json") || fs::exists(folder / "table.csv");
  if (!is_comparison && !fs::exists(folder / "summary.json") && !fs::exists(folder / "experiment.toml"))
    throw std::invalid_argument(folder.string() + " is the folder neither of a run nor of a comparison");
  try {
    if (is_comparison)
      check_comparison(folder, faults);
    else
      check_run(folder, data, faults);
  } catch (const NoData&) {
    throw;
  } catch (const ResultJson::exception&) {
    faults.require(false, is_comparison ? "table.json" : "summary.json", " is damaged: it is not what Rubato writes there");
  } catch (const std::exception& fault) {
    faults.require(false, fault.what());
  }
}

}  // namespace

int check(const std::vector<fs::path>& folders, const fs::path& data) {
  bool is_faulted = false, is_unknown = false;
  for (const fs::path& folder : folders) try {
      CheckFaults faults;
      web::require_ended_run(folder);
      check_folder(folder, data, faults);
      for (const std::string& sentence : faults.sentences()) std::cout << folder.string() << ": " << sentence << "\n";
      if (faults.sentences().empty()) std::cout << folder.string() << ": " << faults.checks() << " checks hold\n";
      is_faulted = is_faulted || !faults.sentences().empty();
    } catch (const std::invalid_argument& fault) {  // no folder of a run that has ended, or no data
      std::cerr << "rubato: " << fault.what() << "\n";
      is_unknown = true;
    }
  return is_faulted ? failed : is_unknown ? bad_input : ok;
}

}  // namespace rubato::app
