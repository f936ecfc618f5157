#include "web/live/folder_run.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "experiment/file/experiment_file.hpp"
#include "results/columns.hpp"
#include "results/metrics_rows.hpp"
#include "results/run_folder.hpp"
#include "results/whole_file.hpp"
#include "web/live/live_run.hpp"
#include "web/page_json.hpp"
#include "web/run_files.hpp"
#include "web/shown.hpp"

namespace rubato::web {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_rows_sent = 1000, most_of_line = 32;

fs::path partial_of(const fs::path& place) {
  fs::path partial = place;
  return partial += ".partial";
}

bool has_experiment(const fs::path& folder) {
  std::error_code none;
  return fs::is_regular_file(folder / "experiment.toml", none);
}

std::string file_text(const fs::path& file) { return read_whole(file).value_or(""); }

// A last line without its end is still being written.
std::string whole_lines(std::string text) {
  text.resize(text.rfind('\n') == text.npos ? 0 : text.rfind('\n') + 1);
  return text;
}

// A run has a folder of its own from its beginning, which is renamed at its end.
std::string life_of(const fs::path& folder, std::size_t rewinds) {
  struct stat facts {};
  if (::stat(folder.c_str(), &facts) != 0) return {};
  return fmt::format("{:x}-{:x}-{}", facts.st_dev, facts.st_ino, rewinds);
}

ResultJson facts_of(const fs::path& file) {
  std::ostringstream nowhere;
  const config::Experiment experiment = config::read_experiment(file, {}, nowhere);
  return {{"name", experiment.name},   {"algorithm", experiment.algorithm.name}, {"clock", rubato::word_of(experiment.clock)},
          {"until", experiment.until}, {"clients", experiment.clients.count},    {"seed", experiment.seed},
          {"toml", file_text(file)}};
}

}  // namespace

std::optional<std::string> data_of_report(const fs::path& folder) {
  const std::string page = file_text(folder / "report.html");
  constexpr std::string_view before = R"(<script type="application/json" id="data">)", behind = "</script>";
  const std::size_t begin = page.find(before);
  const std::size_t end = page.find(behind, begin == page.npos ? 0 : begin);
  if (begin == page.npos || end == page.npos) return std::nullopt;
  return page.substr(begin + before.size(), end - begin - before.size());
}

fs::path contents_of(const fs::path& place) { return has_experiment(partial_of(place)) ? partial_of(place) : place; }

std::vector<fs::path> runs_at(const fs::path& given) {
  fs::path folder = fs::absolute(given).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  if (folder.extension() == ".partial") folder.replace_extension();
  if (FolderRun::is_at(folder)) return {folder};
  std::vector<fs::path> runs;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, none)) {
    fs::path place = entry.path();
    if (place.extension() == ".previous" || place.extension() == ".failed") continue;
    if (place.extension() == ".partial") place.replace_extension();
    if (FolderRun::is_at(place)) runs.push_back(place);
  }
  std::ranges::sort(runs);
  runs.erase(std::ranges::unique(runs).begin(), runs.end());
  return runs;
}

FolderRun::FolderRun(fs::path place) : place_{std::move(place)} {}

bool FolderRun::is_at(const fs::path& place) { return has_experiment(place) || has_experiment(partial_of(place)); }

std::unique_lock<std::mutex> FolderRun::looked() const {
  std::unique_lock lock(mutex_);
  look_again();
  return lock;
}

// With the lock. A run that is at work comes before an older one at the same place.
void FolderRun::look_again() const {
  std::error_code error;
  const fs::path folder = contents_of(place_);
  const std::uintmax_t bytes = fs::file_size(folder / "metrics.csv", error);
  const std::uintmax_t known = error ? 0 : bytes;
  // In the folder that is being filled the summary comes before the report: the run has ended when the folder is in its place.
  const bool is_in_place = folder == place_;
  const bool has_ended = summary_.is_null() && is_in_place && fs::exists(folder / "summary.json", error);
  const bool was_at_work = std::exchange(is_at_work_, is_at_work(folder).value_or(true));
  if (folder == folder_ && known == metrics_bytes_ && is_at_work_ == was_at_work && !has_ended) return;
  if (known < metrics_bytes_) ++rewinds_;  // it was resumed from a checkpoint
  run_id_ = life_of(folder, rewinds_);
  folder_ = folder, metrics_bytes_ = known;
  ++ticks_;
  try {
    facts_ = facts_of(folder / "experiment.toml");
  } catch (const std::exception& fault) {  // of another version, or changed by hand
    facts_ = {{"name", place_.filename().string()},
              {"algorithm", ""},
              {"clock", ""},
              {"until", 0},
              {"clients", 0},
              {"seed", 0},
              {"toml", ""},
              {"fault", fault.what()}};
  }
  std::istringstream lines(whole_lines(file_text(folder / "metrics.csv")));
  columns_.clear(), rows_.clear();
  std::string line;
  if (std::getline(lines, line)) {
    std::istringstream names(line);
    for (std::string name; std::getline(names, name, ',');) columns_.push_back(name);
  }
  while (std::getline(lines, line)) rows_.push_back(numbers_in(line));
  summary_ = is_in_place ? ResultJson::parse(file_text(folder / "summary.json"), nullptr, false) : nullptr;
  if (!summary_.is_object()) summary_ = nullptr;
  clients_.reset();
  try {
    if (!summary_.is_null()) clients_.emplace(folder / "clients.csv");
  } catch (const std::invalid_argument&) {  // damaged: rubato check says so
  }
}

// With the lock.
const char* FolderRun::state() const {
  if (!summary_.is_null()) return summary_.value("stopped_early", false) ? "stopped" : "complete";
  return is_at_work_ ? "running" : "interrupted";
}

// With the lock.
std::optional<std::size_t> FolderRun::place_of(std::string_view column) const {
  const auto found = std::ranges::find(columns_, column);
  return found == columns_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - columns_.begin()));
}

// With the lock: of the last row.
ResultJson FolderRun::last(const char* column) const {
  const auto place = place_of(column);
  return place && !rows_.empty() && *place < rows_.back().size() ? page_number(rows_.back()[*place]) : ResultJson(nullptr);
}

// With the lock. Of a run at work metrics.csv counts models with the messages that were sent, so that number is not told.
ResultJson FolderRun::messages() const {
  if (summary_.is_object() && summary_.contains("messages")) return summary_["messages"];
  return {{"sent", nullptr}, {"delivered", last("messages_delivered")}, {"lost", last("messages_lost")}};
}

// With the lock. At the end.
ResultJson FolderRun::present() const {
  if (!summary_.is_object() || !summary_.contains("absent_clients")) return nullptr;
  const std::size_t clients = summary_.value("clients", std::size_t{0});
  return clients - std::min(clients, summary_["absent_clients"].size());
}

Revision FolderRun::revision() const {
  const auto lock = looked();
  return {.ticks = ticks_, .samples = rows_.size(), .is_over = !summary_.is_null()};
}

ResultJson FolderRun::hello() const {
  const auto lock = looked();
  ResultJson hello = {{"type", "hello"}, {"protocol", 1}, {"run_id", run_id_}, {"id", 0}, {"kind", "folder"}};
  hello["state"] = state();
  for (const auto& [name, value] : facts_.items()) hello[name] = value;
  hello["folder"] = place_.string();
  for (const char* name : {"host", "command", "started_at", "machine"})
    hello[name] = summary_.is_null() ? ResultJson("") : summary_.value(name, ResultJson(""));
  hello["version"] = summary_.is_null() ? ResultJson("") : summary_.value("rubato", ResultJson(""));
  hello["hosts"] = ResultJson::array();
  ResultJson columns = ResultJson::array();
  for (const ResultJson& known : sample_columns_json())
    if (place_of(known["name"].get<std::string>())) columns.push_back(known);
  hello["columns"] = std::move(columns);
  hello["mark_kinds"] = ResultJson::array();
  return hello;
}

ResultJson FolderRun::tick() const {
  const auto lock = looked();
  return {{"type", "tick"},
          {"state", state()},
          {"seconds", last("seconds")},
          {"until", facts_["until"]},
          {"real_seconds", summary_.is_null() ? ResultJson(nullptr) : summary_.value("wall_seconds", ResultJson(nullptr))},
          {"events", last("events")},
          {"events_per_second", nullptr},
          {"speed", nullptr},
          {"left_seconds", nullptr},
          {"accuracy", last("accuracy_mean")},
          {"messages", messages()},
          {"computations", last("computations")},
          {"publications", nullptr},
          {"unifications", nullptr},
          {"clients_present", present()},
          {"skipped_ticks", nullptr},
          {"staleness", nullptr}};
}

// In the order of the known columns, as hello lists them.
std::string FolderRun::samples(std::uint64_t from) const {
  const auto lock = looked();
  std::vector<std::size_t> places;
  for (const SampleColumn& column : sample_columns())
    if (const auto place = place_of(column.name)) places.push_back(*place);
  const std::size_t begin = std::min<std::size_t>(from, rows_.size()), end = std::min(begin + most_rows_sent, rows_.size());
  ResultJson rows = ResultJson::array();
  for (std::size_t i = begin; i < end; ++i) {
    ResultJson row = ResultJson::array();
    for (const std::size_t place : places) row.push_back(page_number(place < rows_[i].size() ? rows_[i][place] : not_known));
    rows.push_back(std::move(row));
  }
  ResultJson clients = ResultJson::array(), accuracies = ResultJson::array(), losses = ResultJson::array();
  if (end == rows_.size() && clients_)
    for (std::size_t i = 0; i < clients_->rows(); ++i) {
      const auto client = clients_->row(i);
      if (std::isnan(client[clients_->column("loss")])) continue;  // not measured, or away
      clients.push_back(static_cast<std::uint64_t>(client[clients_->column("client")]));
      accuracies.push_back(page_number(client[clients_->column("accuracy")]));
      losses.push_back(page_number(client[clients_->column("loss")]));
    }
  return page_text({{"type", "samples"},
                    {"first", begin},
                    {"next", end},
                    {"more", end < rows_.size()},
                    {"clients", std::move(clients)},
                    {"accuracies", std::move(accuracies)},
                    {"losses", std::move(losses)},
                    {"rows", std::move(rows)}});
}

std::string FolderRun::end() const {
  const auto lock = looked();
  return page_text(
      {{"type", "end"}, {"state", state()}, {"summary", summary_}, {"has_report", data_of_report(folder_).has_value()}});
}

std::optional<std::string> FolderRun::report() const {
  const auto lock = looked();
  return data_of_report(folder_);
}

ResultJson FolderRun::line() const {
  const auto lock = looked();
  std::vector<double> accuracies;
  if (const auto place = place_of("accuracy_mean"))
    for (const auto& row : rows_)
      if (*place < row.size()) accuracies.push_back(row[*place]);
  ResultJson spark = ResultJson::array();
  for (const std::size_t i : evenly(accuracies.size(), most_of_line)) spark.push_back(page_number(accuracies[i]));
  return {{"id", 0},
          {"run_id", run_id_},
          {"name", facts_["name"]},
          {"algorithm", facts_["algorithm"]},
          {"state", state()},
          {"seconds", last("seconds")},
          {"until", facts_["until"]},
          {"accuracy", last("accuracy_mean")},
          {"spark", std::move(spark)},
          {"folder", place_.string()},
          {"seed", facts_["seed"]}};
}

RunNumbers FolderRun::numbers() const {
  const auto lock = looked();
  RunNumbers numbers;
  for (const char* label : {"name", "algorithm", "clock"}) numbers.labels.emplace_back(label, facts_[label].get<std::string>());
  numbers.labels.emplace_back("kind", "folder");
  numbers.labels.emplace_back("folder", place_.filename().string());
  const ResultJson seconds = last("seconds"), events = last("events");
  numbers.seconds = seconds.is_number() ? seconds.get<double>() : 0;
  numbers.events = events.is_number() ? static_cast<std::uint64_t>(events.get<double>()) : 0;
  return numbers;
}

}  // namespace rubato::web
