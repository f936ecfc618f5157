#include "web/report_data.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "results/columns.hpp"
#include "results/result_text.hpp"
#include "web/report.hpp"
#include "web/run_files.hpp"
#include "web/timeline.hpp"

namespace rubato::web {

namespace fs = std::filesystem;

namespace {

using Json = ResultJson;

Json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Json summary_in(const fs::path& file) try {
  Json summary = Json::parse(text_of(file));
  if (!summary.is_object()) throw std::invalid_argument(file.string() + " is damaged: it holds no object");
  return summary;
} catch (const nlohmann::json::exception& error) {
  throw std::invalid_argument(file.string() + " is damaged: " + error.what());
}

Json samples_of(const Table& metrics) {
  Json rows = Json::array();
  const std::size_t shown = std::min(metrics.rows(), most_samples);
  for (std::size_t i = 0; i < shown; ++i) {
    Json row = Json::array();
    const std::size_t index = shown == 1 ? 0 : i * (metrics.rows() - 1) / (shown - 1);
    for (const double value : metrics.row(index)) row.push_back(number(value));
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
  return words;
}

std::size_t client_in(double value, std::size_t clients, const char* file = "links.csv") {
  if (value >= 0 && value < static_cast<double>(clients)) return static_cast<std::size_t>(value);
  throw std::invalid_argument(std::string(file) + " is damaged: it names a client that clients.csv does not have");
}

// Of a message, the sender knows that it was lost; its receiver is known to links.csv alone.
std::vector<double> lost_by_receiver(const Table* links, std::size_t clients) {
  if (!links) return {};
  std::vector<double> lost(clients);
  const std::size_t receiver = links->column("receiver");
  for (const char* reason : {"lost", "lost_to_partition", "lost_to_absence"})
    for (std::size_t i = 0; i < links->rows(); ++i)
      lost[client_in(links->row(i)[receiver], clients)] += links->row(i)[links->column(reason)];
  return lost;
}

struct Outcomes {
  double absorbed = 0, superseded = 0, late = 0, capped = 0, lost = 0;
};

class ClientOutcomes {
 public:
  ClientOutcomes(const Table& clients, std::vector<double> lost)
      : clients_{clients},
        kept_{clients.column("kept")},
        superseded_{clients.column("superseded")},
        surplus_{clients.column("surplus")},
        late_{clients.column("late")},
        capped_{clients.column("capped")},
        lost_{std::move(lost)} {}

  Json bar(std::size_t first, std::size_t end) const {
    Outcomes sum;
    for (std::size_t i = first; i < end; ++i) add(i, sum);
    const double count = static_cast<double>(end - first);
    return {{"first", first},
            {"last", end - 1},
            {"absorbed", sum.absorbed / count},
            {"superseded", sum.superseded / count},
            {"late", sum.late / count},
            {"capped", sum.capped / count},
            {"lost", sum.lost / count}};
  }

 private:
  void add(std::size_t client, Outcomes& sum) const {
    const auto row = clients_.row(client);
    sum.absorbed += row[kept_] - (row[superseded_] - row[surplus_]);  // what was surplus was never kept
    sum.superseded += row[superseded_];
    sum.late += row[late_];
    sum.capped += row[capped_];
    if (!lost_.empty()) sum.lost += lost_[client];
  }

  const Table& clients_;
  std::size_t kept_, superseded_, surplus_, late_, capped_;
  std::vector<double> lost_;
};

Json clients_of(const Table& clients, const Table* links) {
  const ClientOutcomes outcomes(clients, lost_by_receiver(links, clients.rows()));
  const std::size_t per_bar = std::max<std::size_t>(1, (clients.rows() + most_bars - 1) / most_bars);
  Json bars = Json::array();
  for (std::size_t first = 0; first < clients.rows(); first += per_bar)
    bars.push_back(outcomes.bar(first, std::min(first + per_bar, clients.rows())));
  return {{"bars", std::move(bars)}, {"per_bar", per_bar}, {"knows_lost", links != nullptr}};
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

// Rows of source, target and, where they were counted, sent, lost, kept and refused.
struct Links {
  std::size_t width;
  std::span<const double> values;
  std::size_t size() const { return values.size() / width; }
  std::span<const double> operator[](std::size_t link) const { return values.subspan(link * width, width); }
};

Json degrees_of(const Links& links, std::size_t end, std::size_t clients) {
  std::vector<std::uint64_t> degrees(clients);
  for (std::size_t i = 0; i < links.size(); ++i) ++degrees[client_in(links[i][end], clients)];
  std::map<std::uint64_t, std::uint64_t> counts;
  for (const std::uint64_t degree : degrees) ++counts[degree];
  return counts;
}

Json edges_of(const Links& links) {
  Json edges = Json::array();
  for (std::size_t i = 0; i < links.size(); ++i) edges.push_back(std::vector<double>(links[i].begin(), links[i].end()));
  return edges;
}

Json graph_of(const Links& links, std::size_t clients) {
  Json graph = {{"clients", clients}, {"links", links.size()}};
  graph["out_degrees"] = degrees_of(links, 0, clients);
  graph["in_degrees"] = degrees_of(links, 1, clients);
  if (clients <= most_drawn_clients) graph["edges"] = edges_of(links);
  return graph;
}

Json graph_in(const Graph& graph, std::size_t clients) {
  std::vector<double> ends;
  for (LinkIndex link = 0; link < graph.links(); ++link)
    for (const ClientId end : {graph.ends_of(link).source, graph.ends_of(link).target}) ends.push_back(end.value);
  return graph_of({2, ends}, clients);
}

Json marks_of(const std::vector<Timeline::Mark>& marks) {
  Json all = Json::array();
  for (const Timeline::Mark& mark : marks) all.push_back({mark.at, mark.client, mark.other});
  return all;
}

Json stretches_of(const std::vector<Timeline::Stretch>& stretches) {
  Json all = Json::array();
  for (const Timeline::Stretch& one : stretches) all.push_back({one.from, one.to, one.sender, one.receiver});
  return all;
}

Json ages_of(const Timeline& timeline) {
  Json bins = Json::array();
  const auto edge = [](int bin) { return bin < 0 ? 0.0 : std::exp2(bin / 4.0) * 1e-9; };
  for (const auto& [bin, count] : timeline.ages) bins.push_back({edge(bin), edge(bin + 1), count});
  return bins;
}

Json course_of(const Timeline& timeline, double seconds) {
  Json course = Json::array();
  const double slice = seconds / static_cast<double>(std::max<std::size_t>(1, timeline.course.size()));
  for (std::size_t i = 0; i < timeline.course.size(); ++i) {
    const Timeline::Staleness& part = timeline.course[i];
    if (part.messages == 0) continue;
    course.push_back(
        {(static_cast<double>(i) + 0.5) * slice, part.sum / static_cast<double>(part.messages), part.largest, part.messages});
  }
  return course;
}

Json timeline_of(const fs::path& record, std::optional<Duration> window, double seconds) {
  TimelineLimits limits;
  limits.seconds = seconds;
  limits.window = window;
  const Timeline timeline = read_timeline(record, limits);
  return {{"clients", timeline.clients},
          {"end", timeline.end},
          {"computations", marks_of(timeline.computations)},
          {"publications", marks_of(timeline.publications)},
          {"messages", stretches_of(timeline.messages)},
          {"windows", stretches_of(timeline.windows)},
          {"drops", marks_of(timeline.drops)},
          {"losses", marks_of(timeline.losses)},
          {"unifications", marks_of(timeline.unifications)},
          {"hand_overs", marks_of(timeline.hand_overs)},
          {"knows_windows", limits.window.has_value()},
          {"ages", ages_of(timeline)},
          {"course", course_of(timeline, seconds)},
          {"steps", timeline.steps},
          {"was_read_whole", timeline.was_read_whole},
          {"is_incomplete", timeline.is_incomplete}};
}

double seconds_of(const Json& summary) {
  const auto found = summary.find("virtual_seconds");
  return found != summary.end() && found->is_number() ? found->get<double>() : 0;
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

std::string page_data(const fs::path& folder, const ResolvedExperiment& resolved, const RunTables& tables) {
  const Table metrics(folder / "metrics.csv");
  const auto& [summary, clients, links, partition] = tables;
  Json data = {{"summary", summary}, {"samples", samples_of(metrics)}};
  part_populations(data["samples"], metrics, summary);
  data["words"] = words_of(summary, resolved.experiment);
  data["clients"] = clients_of(clients, links ? &*links : nullptr);
  data["graph"] = links ? graph_of({links->columns().size(), links->values()}, clients.rows())
                        : graph_in(resolved.timing->graph, clients.rows());
  data["graph"]["kind"] = std::string(word_of(resolved.experiment.topology.kind));
  if (partition) data["partition"] = partition_of(*partition, clients.rows());
  if (has_record(folder)) data["timeline"] = timeline_of(folder / "timeline.rbt", resolved.window(), seconds_of(summary));
  return in_script(data.dump(-1, ' ', true, Json::error_handler_t::replace));
}

}  // namespace

bool has_record(const fs::path& folder) {
  std::error_code none;
  const auto bytes = fs::file_size(folder / "timeline.rbt", none);
  return !none && bytes > 0;
}

std::string report_data(const fs::path& folder, const ResolvedExperiment& resolved, const RunResult& result) {
  RunTables tables{.summary = summary_of(resolved.experiment, result),
                   .clients = table_of("clients.csv", client_columns(), client_rows(result))};
  if (!result.by_link.empty()) tables.links = table_of("links.csv", link_columns(), link_rows(result));
  if (!result.class_counts.empty()) tables.partition = partition_table(result.class_counts);
  return page_data(folder, resolved, tables);
}

std::string report_data(const fs::path& folder, const ResolvedExperiment& resolved) {
  RunTables tables{.summary = summary_in(folder / "summary.json"), .clients = Table(folder / "clients.csv")};
  if (fs::exists(folder / "links.csv")) tables.links.emplace(folder / "links.csv");
  if (fs::exists(folder / "partition.csv")) tables.partition.emplace(folder / "partition.csv");
  return page_data(folder, resolved, tables);
}

}  // namespace rubato::web
