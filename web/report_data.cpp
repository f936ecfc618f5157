#include "web/report_data.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "experiment/roster.hpp"
#include "results/columns.hpp"
#include "results/result_text.hpp"
#include "web/bounds_json.hpp"
#include "web/course_events.hpp"
#include "web/course_tables.hpp"
#include "web/page_json.hpp"
#include "web/page_tables.hpp"
#include "web/report.hpp"
#include "web/run_files.hpp"
#include "web/score_json.hpp"
#include "web/score_walk.hpp"
#include "web/shown.hpp"

namespace rubato::web {

namespace fs = std::filesystem;

namespace {

using Json = ResultJson;

Json summary_in(const fs::path& file) try {
  Json summary = Json::parse(text_of(file));
  if (!summary.is_object()) throw std::invalid_argument(file.string() + " is damaged: it holds no object");
  return summary;
} catch (const nlohmann::json::exception& error) {
  throw std::invalid_argument(file.string() + " is damaged: " + error.what());
}

Json samples_of(const Table& metrics) {
  Json rows = Json::array();
  for (const std::size_t i : evenly(metrics.rows(), most_samples)) {
    Json row = Json::array();
    for (const double value : metrics.row(i)) row.push_back(page_number(value));
    rows.push_back(std::move(row));
  }
  for (const char* column : {"seconds", "bytes_wire", "accuracy_mean", "loss_mean", "consensus"}) metrics.column(column);
  return {{"columns", metrics.columns()}, {"rows", std::move(rows)}, {"total", metrics.rows()}, {"parted_at", nullptr}};
}

// The last row of the host that gathers is of all clients: no line leads there from those of its own.
void part_populations(Json& samples, const Table& metrics, const Json& summary) {
  if (summary.value("host_clients", "").empty() || metrics.rows() < 2) return;
  const std::size_t measured = metrics.column("clients_measured"), last = metrics.rows() - 1;
  if (metrics.row(last)[measured] != metrics.row(last - 1)[measured]) samples["parted_at"] = samples["rows"].size() - 1;
}

// What the head of the page and its stories take from the experiment.
Json about(const config::Experiment& experiment) {
  std::string model = experiment.model.name;
  for (const std::int64_t hidden : experiment.model.hidden) model += " " + std::to_string(hidden);
  Json made = {{"data", experiment.data.name}, {"model", model}, {"until", experiment.until}};
  if (experiment.unification.period) made["unification_period"] = *experiment.unification.period;
  if (experiment.metrics.before_unifications) made["before_unifications"] = true;
  if (experiment.mailbox.window > 0) made["window"] = experiment.mailbox.window;
  if (experiment.mailbox.deadline) made["deadline"] = *experiment.mailbox.deadline;
  if (experiment.mailbox.cap) made["cap"] = *experiment.mailbox.cap;
  return made;
}

// What the page says of time and of clients.
Json words_of(const Json& summary, const config::Experiment& experiment) {
  const bool is_virtual = experiment.clock == config::ClockKind::virtual_time;
  const std::string host = summary.value("host", ""), own = summary.value("host_clients", ""),
                    measured = summary.value("measured_clients", "");
  constexpr std::size_t longest = 60;  // of a list that can be read
  const std::string sampled = std::to_string(summary.contains("sampling") ? summary["sampling"].value("clients", 0) : 0);
  const bool is_part = !host.empty() && !summary.value("gathered_by", "").empty();
  const std::string all = std::to_string(summary.value("clients", std::size_t{0})) + " clients";
  Json words = {{"clock", is_virtual ? "virtual time" : "time of the experiment"},
                {"population", is_part ? "host " + host + ", clients " + own : all},
                {"measured", measured.size() > longest ? sampled + " of " + all + ", drawn"
                             : measured.empty()        ? ""
                                                       : "clients " + measured},
                {"part", ""}};
  if (is_part)
    words["part"] = "This page is of host " + host + " alone, of clients " + own + ". What all clients came to is with host " +
                    summary.value("gathered_by", "") + ".";
  else if (!own.empty())
    words["part"] =
        "What was measured in the course of the run is of host " + host + ", clients " + own + "; the last sample is of all.";
  words["about"] = about(experiment);
  return words;
}

// Which host has which client; null: one process has all.
Json hosts_of(const config::Experiment& experiment, const Json& summary) {
  if (summary.value("host", "").empty() || experiment.roster.empty()) return nullptr;
  Json of_client = Json::array();
  for (const HostId host : hosts_of_clients(experiment)) of_client.push_back(host.value);
  return {{"names", host_names(experiment)}, {"of_client", std::move(of_client)}};
}

// Training rows by client and class: a column of the picture is a client or, where there are many, several next to each
// other.
Json partition_of(const Table& partition, std::size_t clients) {
  const std::size_t client = partition.column("client"), label = partition.column("class"), rows = partition.column("rows");
  const std::size_t per_column = std::max<std::size_t>(1, (clients + most_bars - 1) / most_bars);
  std::map<std::pair<std::uint64_t, std::size_t>, double> cells;  // by class and column
  for (std::size_t i = 0; i < partition.rows(); ++i) {
    const auto row = partition.row(i);
    if (!(row[label] >= 0 && row[label] < 65536))
      throw std::invalid_argument("partition.csv is damaged: it names a class that cannot be");
    cells[{static_cast<std::uint64_t>(row[label]), client_in(row[client], clients, "partition.csv") / per_column}] += row[rows];
  }
  Json all = Json::array();
  for (const auto& [place, count] : cells) all.push_back({place.first, place.second, count});
  return {{"cells", std::move(all)}, {"per_column", per_column}, {"clients", clients}};
}

// What the page needs besides samples and record.
struct RunTables {
  Json summary;
  Table clients;
  std::optional<Table> links{}, partition{};
};

template <class Columns, class Rows>
Table table_of(const char* file, Columns columns, const Rows& rows) {
  std::vector<std::string> names;
  for (const auto& column : columns) names.emplace_back(column.name);
  std::vector<double> values;
  for (const auto& row : rows)
    for (const auto& column : columns) values.push_back(to_double(column.read(row)));
  return {file, std::move(names), std::move(values)};
}

Table partition_table(const std::vector<ClassCount>& counts) {
  std::vector<double> values;
  for (const ClassCount& count : counts)
    values.insert(values.end(),
                  {static_cast<double>(count.client.value), static_cast<double>(count.label), static_cast<double>(count.rows)});
  return {"partition.csv", {"client", "class", "rows"}, std::move(values)};
}

// Where consensus changes most from one sample to the next.
double largest_jump(const Table& metrics) {
  const std::size_t consensus = metrics.column("consensus"), seconds = metrics.column("seconds");
  double largest = -1, at = 0;
  for (std::size_t i = 1; i < metrics.rows(); ++i) {
    const double jump = std::abs(metrics.row(i)[consensus] - metrics.row(i - 1)[consensus]);
    if (!(jump > largest)) continue;
    largest = jump;
    at = (metrics.row(i)[seconds] + metrics.row(i - 1)[seconds]) / 2;
  }
  return at;
}

double number_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

ScoredRun facts_of(const Json& summary, const config::Experiment& experiment, const Table& metrics) {
  ScoredRun facts;
  facts.is_virtual = experiment.clock == config::ClockKind::virtual_time;
  facts.seconds = number_in(summary, "virtual_seconds");
  facts.dimension = static_cast<std::size_t>(number_in(summary, "dimension"));
  facts.marks = static_cast<std::uint64_t>(number_in(summary, "computations") + number_in(summary, "publications"));
  if (summary.contains("messages")) facts.marks += static_cast<std::uint64_t>(number_in(summary["messages"], "sent"));
  facts.stopped_early = summary.value("stopped_early", false);
  facts.timeline_digest = summary.value("timeline_digest", "");
  facts.largest_jump = largest_jump(metrics);
  return facts;
}

void add_score(Json& data, const RunScore& score, std::size_t clients, std::uint64_t marks, const ResolvedExperiment& resolved) {
  data["timeline"] = {{"is_incomplete", score.is_cut || data["summary"].value("record_cut", false)}};
  data["course"] = course_json(score);
  data["ages"] = ages_json(score, resolved.window() ? to_seconds(*resolved.window()) : 0);
  data["waits"] = waits_json(score);
  data["score"] = score_json(score, clients, marks);
}

ReportData page_data(const fs::path& folder, const ResolvedExperiment& resolved, const RunTables& tables) {
  const Table metrics(folder / "metrics.csv");
  const auto& [summary, clients, links, partition] = tables;
  const Table* const counted = links ? &*links : nullptr;
  const ScoredRun facts = facts_of(summary, resolved.experiment, metrics);
  std::optional<RunScore> score;
  if (has_record(folder)) score = read_score(folder, facts);
  const RunScore* const known = score ? &*score : nullptr;
  Json data = {{"summary", summary}, {"samples", samples_of(metrics)}};
  part_populations(data["samples"], metrics, summary);
  if (Json bounds = bounds_json(resolved, data["samples"]); !bounds.is_null()) data["bounds"] = std::move(bounds);
  data["words"] = words_of(summary, resolved.experiment);
  data["hosts"] = hosts_of(resolved.experiment, summary);
  data["clients"] = clients_json(clients, resolved.experiment, known);
  data["links"] = links_json(counted, resolved.timing->graph, clients.rows(), known);
  data["graph"] = graph_json(counted, *resolved.timing, clients.rows());
  data["graph"]["kind"] = std::string(rubato::word_of(resolved.experiment.topology.kind));
  if (partition) data["partition"] = partition_of(*partition, clients.rows());
  const std::vector<CourseEvent> events = course_events(resolved, summary, known, facts.seconds);
  data["events"] = page_events(events);
  if (score) add_score(data, *score, clients.rows(), facts.marks, resolved);
  ReportData made{.json = in_script(data.dump(-1, ' ', true, Json::error_handler_t::replace))};
  if (score) made.tables = course_tables(events, *score);
  return made;
}

}  // namespace

bool has_record(const fs::path& folder) {
  std::error_code none;
  const auto bytes = fs::file_size(folder / "timeline.rbt", none);
  return !none && bytes > 0;
}

ReportData report_data(const fs::path& folder, const ResolvedExperiment& resolved, const RunResult& result) {
  RunTables tables{.summary = summary_of(resolved.experiment, result),
                   .clients = table_of("clients.csv", client_columns(), client_rows(result))};
  if (!result.by_link.empty()) tables.links = table_of("links.csv", link_columns(), link_rows(result));
  if (!result.class_counts.empty()) tables.partition = partition_table(result.class_counts);
  return page_data(folder, resolved, tables);
}

ReportData report_data(const fs::path& folder, const ResolvedExperiment& resolved) {
  RunTables tables{.summary = summary_in(folder / "summary.json"), .clients = Table(folder / "clients.csv")};
  if (fs::exists(folder / "links.csv")) tables.links.emplace(folder / "links.csv");
  if (fs::exists(folder / "partition.csv")) tables.partition.emplace(folder / "partition.csv");
  return page_data(folder, resolved, tables);
}

}  // namespace rubato::web
