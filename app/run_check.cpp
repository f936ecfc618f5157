#include "app/run_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>

#include "actors/core/run_parts.hpp"
#include "actors/run.hpp"
#include "experiment/digest.hpp"
#include "experiment/file/experiment_file.hpp"
#include "results/run_folder.hpp"
#include "results/sample_scores.hpp"
#include "results/stop_rule.hpp"
#include "results/summary.hpp"
#include "runtime/record.hpp"
#include "web/report_data.hpp"
#include "web/run_files.hpp"
#include "web/score.hpp"

namespace rubato::app {

namespace {

namespace fs = std::filesystem;
using web::Table;

constexpr double of_scores = 1e-5;     // of losses in float32
constexpr double of_consensus = 1e-4;  // of squares that nearly cancel

double sum_of(const Table& table, std::string_view column) {
  const std::vector<double> values = table.values_of(table.column(column));
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// ---- a run ---------------------------------------------------------------------------------------------------------

class RunCheck {
 public:
  RunCheck(const fs::path& folder, const fs::path& data, CheckFaults& faults)
      : folder_{folder},
        data_{data},
        faults_{faults},
        summary_(ResultJson::parse(web::text_of(folder / "summary.json"))),
        resolved_{resolve(folder / "experiment.toml", {}, notes_)},
        experiment_{resolved_.experiment},
        metrics_{folder / "metrics.csv"},
        clients_{folder / "clients.csv"},
        has_models_{!summary_.value("model_digest", "").empty()},
        is_own_part_{!summary_.value("gathered_by", "").empty()},
        is_of_hosts_{!summary_.value("host", "").empty()},
        has_all_records_{!is_of_hosts_ || experiment_.clock == config::ClockKind::virtual_time} {}

  void check() {
    if (!has_columns() || !has_keys() || !has_clients()) return;
    check_files();
    check_summary();
    check_rows();
    if (metrics_.rows() > 0 && has_last_sample()) check_last_row();
    if (fs::exists(folder_ / "samples.npz")) check_samples();
    check_clients();
    check_outcomes();
    check_exchanges();
    if (fs::exists(folder_ / "links.csv")) {
      const Table links(folder_ / "links.csv");
      if (check_link_ends(links) && has_all_records_) check_links(links);
    }
    check_timing();
    if (fs::exists(folder_ / "partition.csv")) check_partition(Table(folder_ / "partition.csv"));
    if (fs::exists(folder_ / "collaboration.csv")) check_collaboration(Table(folder_ / "collaboration.csv"));
    if (fs::exists(folder_ / "classes.csv"))
      check_lines("classes.csv", web::text_of(folder_ / "classes.csv"), classes_csv(experiment_));
    if (!summary_.value("record_cut", false)) check_record();
    if (web::has_record(folder_)) check_course();
    if (!has_models_ || !fs::exists(folder_ / "models/models.npy")) return;
    if (is_own_part_)
      check_own_models();
    else
      check_models();
  }

 private:
  double count(const std::string& name) const { return number_at(summary_, "/messages/" + name); }
  bool is_virtual() const { return experiment_.clock == config::ClockKind::virtual_time; }
  double at(const Table& table, std::size_t row, std::string_view column) const { return table.row(row)[table.column(column)]; }
  // In virtual time what was measured, and the models, are with the first of the hosts.
  bool is_measured_elsewhere() const {
    return is_of_hosts_ && is_virtual() && metrics_.rows() == 0 && number_at(summary_, "/loss/mean") == 0;
  }
  bool was_stopped() const { return summary_.value("stopped_early", false); }

  // A folder of another version has other numbers.
  bool has_columns() {
    std::vector<std::string> names;
    for (const SampleColumn& column : sample_columns()) names.emplace_back(column.name);
    faults_.require(metrics_.columns() == names, "metrics.csv has not the columns of this version");
    return metrics_.columns() == names;
  }

  bool has_keys() {
    const ResultJson all = summary_of(experiment_, RunResult{}).flatten();
    bool has_all = true;
    for (const auto& [pointer, none] : all.items()) {
      const bool has_it = summary_.contains(ResultJson::json_pointer(pointer));
      has_all = has_all && has_it;
      faults_.require(has_it, "summary.json has no ", pointer.substr(1));
    }
    return has_all;
  }

  // Other tables and files are compared with these rows by the client's number.
  bool has_clients() {
    const auto count = static_cast<std::size_t>(experiment_.clients.count);
    const std::size_t before = faults_.sentences().size();
    faults_.require(clients_.rows() == count, "clients.csv has ", clients_.rows(), " rows, the run has ", count, " clients");
    for (std::size_t i = 0; i < std::min(clients_.rows(), count); ++i)
      if (at(clients_, i, "client") != static_cast<double>(i) && faults_.sentences().size() == before)
        faults_.require(false, "clients.csv, row ", i, " is of another client");
    return faults_.sentences().size() == before;
  }

  // A file that the run has written, if it has.
  struct Written {
    const char* file;
    bool is_expected;
    std::string_view end = "";  ///< of a file that was written to its end
  };

  void check_files() {
    const bool has_record = experiment_.record.kind != config::Record::Kind::off, has_all = has_models_ && !is_own_part_;
    const std::size_t models = is_own_part_ ? own_clients().size() : is_measured_elsewhere() ? 0 : clients_.rows();
    const double model_bytes = number_at(summary_, "/dimension") * static_cast<double>(size_of(experiment_.precision));
    const Written files[] = {
        {"report.html", true, "</html>\n"},
        {"timeline.rbt", has_record},
        {"trace.json", has_record, "}}\n"},
        {"links.csv", has_record && resolved_.timing->graph.links() > 0},
        {"partition.csv", !task().class_counts().empty()},
        {"classes.csv", !experiment_.clients.classes.empty()},
        {"collaboration.csv", has_all && experiment_.algorithm.name == "kdpdfl"},
        {"samples.npz", bytes_of_scores() > 0 && bytes_of_scores() <= most_scores},
        {"models/models.npy", has_models_ && models > 0 && static_cast<double>(models) * model_bytes <= most_kept_bytes}};
    for (const Written& written : files) {
      const fs::path file = folder_ / written.file;
      faults_.require(!written.is_expected || fs::exists(file), "there is no ", written.file, ", which the run has written");
      if (fs::exists(file)) faults_.require(has_end(file, written.end), written.file, " ends early");
    }
  }

  std::uintmax_t bytes_of_scores() const {
    std::uintmax_t bytes = 0;
    for (std::size_t i = 0; i < metrics_.rows(); ++i)
      bytes += bytes_of_row(static_cast<std::size_t>(std::max(at(metrics_, i, "clients_measured"), 0.0)));
    return bytes;
  }

  // A file of no byte has none.
  static bool has_end(const fs::path& file, std::string_view end) {
    std::ifstream stream(file, std::ios::binary);
    std::string last(std::max<std::size_t>(end.size(), 1), ' ');
    stream.seekg(-static_cast<std::streamoff>(last.size()), std::ios::end);
    return stream.read(last.data(), static_cast<std::streamsize>(last.size())) && last.ends_with(end);
  }

  // The summary, in itself and beside the experiment.
  void check_summary() {
    const auto is_said = [&](const char* key, const ResultJson& value) {
      faults_.require(summary_.value(key, ResultJson()) == value, "summary.json and experiment.toml differ in ", key, ": ",
                      summary_.value(key, ResultJson()).dump(), " and ", value.dump());
    };
    is_said("experiment", experiment_.name);
    is_said("algorithm", experiment_.algorithm.name);
    is_said("clock", std::string(word_of(experiment_.clock)));
    is_said("seed", experiment_.seed);
    is_said("clients", experiment_.clients.count);
    is_said("precision", std::string(word_of(experiment_.precision)));
    const auto number = [&](const char* pointer) { return number_at(summary_, pointer); };
    const double seconds = std::max(number("/wall_seconds"), 1e-9);
    faults_.same("summary.json: events in wall_seconds, and events_per_second", number("/events") / seconds,
                 number("/events_per_second"));
    faults_.same("summary.json: steps in wall_seconds, and steps_per_second", number("/steps") / seconds,
                 number("/steps_per_second"));
    const double available = number("/threads") * number("/wall_seconds") - number("/evaluation_seconds");
    faults_.same("summary.json: math_seconds of what the threads had, and efficiency",
                 available > 0 ? number("/math_seconds") / available : 0, number("/efficiency"));
    const bool is_told = !summary_.at("stopped_by").is_null();
    faults_.require(was_stopped() || !is_told, "summary.json: something has stopped the run, but it was not stopped early");
    faults_.require(number("/virtual_seconds") <= experiment_.until, "summary.json: the run went on after its end");
    faults_.require(was_stopped() || is_own_part_ || number("/virtual_seconds") == experiment_.until,
                    "summary.json: the run ended at ", number("/virtual_seconds"), " s, but it was not stopped early");
    faults_.require(count("hand_overs") <= count("models") && count("models_lost") <= count("models"),
                    "summary.json: more models were handed over or lost than sent");
    faults_.require(metrics_.rows() > 0 || !(std::abs(number("/loss/mean")) > 0),
                    "metrics.csv has no rows, and summary.json the loss of the last");
    check_trouble();
    if (!summary_.at("energy").is_null())
      faults_.same("summary.json: joules are not those of computing and sending", number("/energy/joules"),
                   number("/energy/transmit_joules") + number("/energy/compute_joules"));
    if (!summary_.at("rates").is_null()) check_rates();
    faults_.require(summary_.at("rates").is_null() || !is_virtual(), "summary.json: rates are known in virtual time");
  }

  void check_trouble() {
    double first = std::numeric_limits<double>::infinity();
    for (const ResultJson& client : summary_.at("diverged_clients")) first = std::min(first, client.at("seconds").get<double>());
    const double diverged_at = number_at(summary_, "/diverged_at");
    faults_.require(std::isinf(first) || diverged_at <= first, "summary.json: diverged_at is not when the first client diverged");
    const std::string silence = summary_.at("silence").is_null() ? "" : summary_.at("silence").get<std::string>();
    const bool nothing_happened = number_at(summary_, "/computations") == 0 && count("sent") == 0;
    faults_.require((silence == "nothing happened") == nothing_happened,
                    "summary.json: silence is not what computations and messages say");
    faults_.require(silence != "nothing arrived" || count("delivered") == 0, "summary.json: nothing arrived, and messages did");
  }

  void check_rates() {
    std::map<std::string, double> sums;
    for (const ResultJson& client : summary_.at("rates").at("by_client")) {
      const auto row = client.at("client").get<std::size_t>();
      faults_.require(row < clients_.rows(), "summary.json: rates are of client ", row, ", which is not there");
      if (row >= clients_.rows()) continue;
      for (const auto& [key, column] :
           {std::pair{"requested", "requested_rate"}, {"achieved", "achieved_rate"}, {"skipped_ticks", "skipped_ticks"}}) {
        sums[key] += client.at(key).get<double>();
        faults_.same("summary.json and clients.csv differ in " + std::string(column) + " of client " + std::to_string(row),
                     client.at(key).get<double>(), at(clients_, row, column));
      }
    }
    for (const auto& [key, sum] : sums)
      faults_.same("summary.json: rates of all clients, and their sum, " + key, sum, number_at(summary_, "/rates/" + key));
  }

  // What is spent stays spent; a row agrees with itself.
  void check_rows() {
    for (const SampleColumn& column : sample_columns() | std::views::filter(is_spent))
      for (std::size_t at = metrics_.column(column.name), i = 1; i < metrics_.rows(); ++i)
        faults_.require(metrics_.row(i - 1)[at] <= metrics_.row(i)[at], "metrics.csv: ", column.name, " falls from ",
                        metrics_.row(i - 1)[at], " to ", metrics_.row(i)[at], " in row ", i);
    const auto clients = static_cast<double>(clients_.rows());
    for (std::size_t i = 0; i < metrics_.rows(); ++i) {
      const auto value = [&](std::string_view name) { return at(metrics_, i, name); };
      const auto holds = [&](bool is_right, const char* what) { faults_.require(is_right, "metrics.csv, row ", i, ": ", what); };
      const bool may_begin_anew = is_of_hosts_ && !is_virtual();
      const double expected = i == 0 ? 0 : at(metrics_, i - 1, "sample") + 1;
      holds(value("sample") == expected || (value("sample") == 0 && may_begin_anew), "sample does not count the rows");
      holds(value("clients_measured") <= clients, "more clients are measured than there are");
      faults_.same("metrics.csv, row " + std::to_string(i) + ": consensus_mean of all, and consensus",
                   value("consensus_mean") * value("clients_measured"), value("consensus"));
      holds(!(value("mass_defect") < 0), "mass_defect is negative");
      holds(!(value("owed_mass") < 0), "owed_mass is negative");
      for (const SampleColumn& column : sample_columns())
        faults_.require(is_measured_by(column, experiment_.metrics) || std::isnan(value(column.name)), "metrics.csv, row ", i, ": ",
                        column.name, " was not measured");
      if (std::isnan(value("accuracy_mean"))) continue;
      const bool are_unlike = std::isnan(value("consensus"));  // models of unlike architecture, which have no mean
      for (const std::string_view share :
           {"accuracy_mean", "accuracy_mean_model", "accuracy_min", "f1_macro", "f1_macro_mean_model"})
        holds((value(share) >= 0 && value(share) <= 1 + 1e-9) ||
                  (are_unlike && std::string_view(share).ends_with("_model") && std::isnan(value(share))),
              "a score is no share of 1");
      holds(value("accuracy_std") >= 0 && value("accuracy_std") <= 0.5 + 1e-9, "accuracy_std is no deviation of shares");
      holds(value("accuracy_min") <= value("accuracy_mean") + 1e-9, "the lowest accuracy is above the mean");
      holds(value("accuracy_min_client") < clients, "the client of the lowest accuracy is not there");
    }
  }

  // None is taken at the end where no client is there that is measured.
  bool has_last_sample() const {
    const auto& measured = resolved_.timing->conductor.measured;
    const std::vector<ClientId> away = absent();
    for (std::uint32_t i = 0; i < clients_.rows(); ++i)
      if (!std::ranges::binary_search(away, ClientId{i}) && (!measured || std::ranges::binary_search(*measured, ClientId{i})))
        return true;
    return false;
  }

  double last(std::string_view column) const { return metrics_.row(metrics_.rows() - 1)[metrics_.column(column)]; }

  void check_last_row() {
    const auto compare = [&](std::string_view column, double whole) {
      const double value = std::isfinite(last(column)) ? last(column) : not_known;  // JSON has no infinity
      faults_.same("metrics.csv, last row, and summary.json differ in " + std::string(column), value, whole);
    };
    for (const SampleColumn& column : sample_columns())
      if (!column.summary.empty()) compare(column.name, number_at(summary_, std::string(column.summary)));
    const std::pair<const char*, const char*> same[] = {
        {"computations", "/computations"},      {"bytes_wire", "/bytes/wire"},
        {"paper_bits", "/bytes/paper_bits"},    {"gradients", "/gradients"},
        {"seconds", "/virtual_seconds"},        {"messages_delivered", "/messages/delivered"},
        {"cumulated_delay", "/cumulated_delay"}};
    for (const auto& [column, key] : same)
      if (!std::isnan(number_at(summary_, key))) compare(column, number_at(summary_, key));
    compare("messages_sent", count("sent") + count("models"));
    compare("messages_lost", count("lost") + count("lost_to_partition") + count("lost_to_absence"));
    compare("joules", summary_.at("energy").is_null() ? 0 : number_at(summary_, "/energy/joules"));
    if (is_virtual()) compare("events", number_at(summary_, "/events"));
    faults_.require(last("seconds") <= experiment_.until, "metrics.csv ends at ", last("seconds"), " s, after the run");
  }

  void check_samples() try {
    const std::vector<SampleScores> samples = read_samples(web::text_of(folder_ / "samples.npz"));
    if (is_of_hosts_) return;  // the last row of metrics.csv may be of other clients
    faults_.require(samples.size() == metrics_.rows(), "samples.npz has ", samples.size(), " samples, metrics.csv ",
                    metrics_.rows());
    if (samples.size() != metrics_.rows()) return;
    for (std::size_t row = 0; row < samples.size(); ++row) {
      const SampleScores& sample = samples[row];
      const std::size_t before = faults_.sentences().size();
      const auto agrees = [&](std::string_view column, double value) {
        faults_.same("samples.npz and row " + std::to_string(row) + " of metrics.csv differ in " + std::string(column), value,
                     at(metrics_, row, column));
      };
      agrees("sample", sample.number);
      agrees("seconds", sample.seconds);
      const bool lacks_clients = static_cast<double>(sample.losses.size()) < at(metrics_, row, "clients_measured");
      if (lacks_clients && std::isnan(at(metrics_, row, "loss_mean"))) continue;  // those of which nothing is known
      agrees("clients_measured", static_cast<double>(sample.losses.size()));
      agrees("loss_mean", mean(sample.losses));
      if (std::isnan(at(metrics_, row, "accuracy_min"))) continue;  // nothing to classify
      if (!sample.accuracies.empty()) check_accuracies(sample.accuracies, sample.clients, agrees);
      if (faults_.sentences().size() > before) return;  // rows of another run would be as many faults
    }
  } catch (const std::invalid_argument& fault) {
    faults_.require(false, "samples.npz: ", fault.what());
  }

  // What metrics.csv says of the accuracies of these clients; `compare` takes a column and what it should be.
  template <class Compare>
  void check_accuracies(const std::vector<double>& accuracies, const std::vector<double>& clients, Compare compare) {
    const auto at = [&](auto place) { return clients[static_cast<std::size_t>(place - accuracies.begin())]; };
    const auto lowest = std::ranges::min_element(accuracies), highest = std::ranges::max_element(accuracies);
    compare("accuracy_mean", rubato::mean(accuracies));
    compare("accuracy_std", population_deviation(accuracies));
    compare("accuracy_min", *lowest);
    compare("accuracy_min_client", at(lowest));
    compare("accuracy_max", *highest);
    compare("accuracy_max_client", at(highest));
    std::vector<double> ascending = accuracies;
    std::ranges::sort(ascending);
    for (const auto& [column, share] : {std::pair{"accuracy_p5", 0.05}, {"accuracy_p50", 0.5}, {"accuracy_p95", 0.95}}) {
      double whole = 0;
      const double rest = std::modf(share * static_cast<double>(ascending.size() - 1), &whole);
      const auto below = static_cast<std::size_t>(whole);
      compare(column, rest > 0 ? (1 - rest) * ascending[below] + rest * ascending[below + 1] : ascending[below]);
    }
  }

  void check_clients() {
    const auto compare = [&](const std::string& column, double whole) {
      faults_.same("clients.csv and summary.json differ in " + column, sum_of(clients_, column), whole);
    };
    for (const std::string name : {"sent", "lost", "kept", "late", "capped", "superseded", "copies", "lost_to_partition",
                                   "lost_to_absence", "duplicates", "surplus", "stale", "misshapen"})
      compare(name, count(name == "kept" ? "delivered" : name));
    compare("computations", number_at(summary_, "/computations"));
    compare("publications", number_at(summary_, "/publications"));
    const bool knows_traffic = !is_of_hosts_ || metrics_.rows() > 0;
    if (!has_models_ || !knows_traffic) return;
    compare("bytes_wire", number_at(summary_, "/bytes/wire"));
    compare("paper_bits", number_at(summary_, "/bytes/paper_bits"));
    compare("gradients", number_at(summary_, "/gradients"));
  }

  void check_outcomes() {
    if (summary_.at("messages").at("under_way").is_null()) return check_own_part();
    double outcomes = count("under_way") + count("lost_between_hosts");
    for (const char* name : {"delivered", "late", "capped", "duplicates", "surplus", "stale", "misshapen", "lost",
                             "lost_to_partition", "lost_to_absence"})
      outcomes += count(name);
    faults_.same("summary.json: what was sent is not the sum of what became of it",
                 count("sent") + count("copies") + count("from_lost_hosts"), outcomes);
  }

  void check_exchanges() {
    const ResultJson exchanges = summary_.value("exchanges", ResultJson());
    if (exchanges.is_null()) return;
    const auto sum = [&](std::initializer_list<const char*> names) {
      double all = 0;
      for (const char* name : names) all += number_at(exchanges, std::string("/") + name);
      return all;
    };
    const double attempts = sum({"begun", "retried"});
    if (is_virtual() || !is_of_hosts_ || absent().empty())  // else partners count what askers elsewhere have begun
      faults_.same("summary.json: attempts of exchanges are not the sum of what became of them", attempts,
                   sum({"met", "refused", "void", "late", "waiting", "unheard"}));
    faults_.same("summary.json: messages are not the requests and replies of exchanges", count("sent"), attempts + sum({"met"}));
  }

  // Of one host's clients alone: their messages are for others, too, and come from others.
  void check_own_part() {
    faults_.require(is_of_hosts_ && !is_virtual(),
                    "summary.json: messages under way are not known, though the run is not of one host among several");
    faults_.require(count("lost") + count("lost_to_partition") <= count("sent") + count("copies"),
                    "summary.json: more was lost than sent");
  }

  // A row for each link of the graph, in its order.
  bool check_link_ends(const Table& links) {
    const Graph& graph = resolved_.timing->graph;
    faults_.require(links.rows() == graph.links(), "links.csv has ", links.rows(), " rows, the graph has ", graph.links(),
                    " links");
    if (links.rows() != graph.links()) return false;
    for (std::uint32_t i = 0; i < links.rows(); ++i) {
      const Edge ends = graph.ends_of(LinkIndex{i});
      const bool is_its = at(links, i, "sender") == ends.source.value && at(links, i, "receiver") == ends.target.value;
      faults_.require(is_its, "links.csv, row ", i, ", is not of the link from ", ends.source.value, " to ", ends.target.value);
      if (!is_its) return false;
    }
    return true;
  }

  // In real time rounds refuse what they had kept: which link it came over is not looked up any more.
  void check_links(const Table& links) {
    const bool is_exact = is_virtual();
    for (std::size_t i = 0; i < links.rows(); ++i) {
      const bool may_know_norms = experiment_.mailbox.norm_limit > 0;
      faults_.require(may_know_norms || (std::isnan(at(links, i, "norm_mean")) && std::isnan(at(links, i, "cosine_mean"))),
                      "links.csv, row ", i, ": norms are known without mailbox.norm_limit");
    }
    for (const char* name : {"not_finite", "beyond_norm", "unauthorised", "unasked"})
      faults_.require(sum_of(links, name) <= count(name), "links.csv and summary.json differ in ", name);
    faults_.require(experiment_.mailbox.norm_limit > 0 || count("beyond_norm") == 0,
                    "summary.json: messages were beyond a limit that is not set");
    faults_.require(!is_exact || (count("unauthorised") == 0 && count("unasked") == 0),
                    "summary.json: messages were refused as they are in real time alone");
    for (const char* name : {"sent", "lost", "copies", "lost_to_partition", "lost_to_absence", "surplus", "stale", "misshapen"})
      compare_links(links, {name});
    if (!is_exact) return compare_links(links, {"kept", "late", "capped", "duplicates"});
    for (const char* name : {"kept", "late", "capped", "duplicates"}) compare_links(links, {name});
    double open = 0;
    for (std::size_t i = 0; i < links.rows(); ++i) {
      const auto at = [&](const char* name) { return links.row(i)[links.column(name)]; };
      const double left =
          at("sent") + at("copies") - at("lost") - at("lost_to_partition") - at("lost_to_absence") - at("kept") - at("refused");
      faults_.require(left >= 0, "links.csv: from ", at("sender"), " to ", at("receiver"), " more arrived than was sent");
      open += left;
    }
    faults_.same("links.csv and summary.json differ in what is under way", open, count("under_way"));
  }

  void compare_links(const Table& links, std::initializer_list<const char*> names) {
    double by_link = 0, by_client = 0;
    for (const char* name : names) by_link += sum_of(links, name), by_client += sum_of(clients_, name);
    faults_.same(std::string("links.csv and clients.csv differ in ") + *names.begin(), by_link, by_client);
  }

  // A row for each link, of the receiver and the sender; none twice, none negative.
  void check_collaboration(const Table& weights) {
    const Graph& graph = resolved_.timing->graph;
    faults_.require(is_of_hosts_ || weights.rows() == graph.links(), "collaboration.csv has ", weights.rows(),
                    " rows, the graph has ", graph.links(), " links");
    std::set<std::pair<double, double>> pairs;
    for (std::size_t i = 0; i < weights.rows(); ++i) {
      const auto number = [&](const char* name) { return weights.row(i)[weights.column(name)]; };
      const double client = number("client"), peer = number("peer"), count = static_cast<double>(clients_.rows());
      const bool are_clients = client >= 0 && client < count && peer >= 0 && peer < count && client != peer;
      faults_.require(are_clients, "collaboration.csv, row ", i, ": ", client, " and ", peer, " are not two clients of the run");
      faults_.require(pairs.emplace(client, peer).second, "collaboration.csv has client ", client, " and peer ", peer, " twice");
      faults_.require(number("weight") >= 0 && std::isfinite(number("weight")), "collaboration.csv: client ", client,
                      " weighs peer ", peer, " with ", number("weight"), ", which is no weight");
    }
  }

  void check_partition(const Table& partition) {
    std::map<double, double> rows;
    for (std::size_t i = 0; i < partition.rows(); ++i) {
      rows[at(partition, i, "client")] += at(partition, i, "rows");
      const auto place = [&](std::size_t row) { return std::pair{at(partition, row, "client"), at(partition, row, "class")}; };
      faults_.require(i == 0 || place(i - 1) < place(i), "partition.csv, row ", i, " is not in the order of clients and classes");
    }
    for (std::size_t i = 0; i < clients_.rows(); ++i)
      faults_.same("partition.csv and clients.csv differ in the rows of client " + std::to_string(i), rows[static_cast<double>(i)],
                   at(clients_, i, "training_samples"));
    faults_.same("partition.csv and clients.csv differ in rows", sum_of(partition, "rows"), sum_of(clients_, "training_samples"));
    check_classes_again(partition);
  }

  // The timing walked once more, without models, and what is known before a run.
  void check_timing() {
    if (!is_virtual() || was_stopped()) return;
    RunOptions options;
    options.data_dir = data_;
    options.dry_run = options.counts_links = true;
    std::optional<RunResult> again;
    try {
      again = rubato::run(experiment_, options);
    } catch (const std::invalid_argument& fault) {
      if (std::string_view(fault.what()).find("depends on") == std::string_view::npos) throw;
      return;  // on the models
    }
    const ResultJson expected = ResultJson::parse(summary_json(experiment_, *again));
    const auto compare = [&](const std::string& name, const ResultJson& is, const ResultJson& should_be) {
      const bool are_numbers = is.is_number() && should_be.is_number();
      if (are_numbers)
        return faults_.same("summary.json and the timing walked again differ in " + name, is.get<double>(),
                            should_be.get<double>());
      faults_.require(is == should_be, "summary.json and the timing walked again differ in ", name, ": ", is.dump(), " and ",
                      should_be.dump());
    };
    for (const char* key :
         {"timeline_digest", "virtual_seconds", "events", "steps", "computations", "publications", "unifications",
          "cumulated_delay", "absent_clients", "dimension", "measured_clients", "clients_below_batch", "class_names"})
      compare(key, summary_.at(key), expected.at(key));
    for (const char* table : {"messages", "rounds", "orders", "exchanges", "energy", "staleness_seconds", "churn", "sampling"}) {
      const std::set<std::string> of_models{"not_finite", "beyond_norm", "unauthorised", "unasked"};
      if (!expected.at(table).is_object() || !summary_.at(table).is_object())
        compare(table, summary_.at(table), expected.at(table));
      else
        for (const auto& [key, value] : expected.at(table).items())
          if (!of_models.contains(key)) compare(std::string(table) + "." + key, summary_.at(table).value(key, ResultJson()), value);
    }
    check_clients_again(*again);
    if (fs::exists(folder_ / "links.csv")) check_links_again(*again, Table(folder_ / "links.csv"));
  }

  void check_clients_again(const RunResult& again) {
    const std::set<std::string_view> of_models{"accuracy", "loss", "bytes_wire", "paper_bits", "gradients"};
    const std::vector<ClientRow> rows = client_rows(again);
    for (const ClientColumn& column : client_columns())
      for (std::uint32_t i = 0; !column.needs_paces && !of_models.contains(column.name) && i < clients_.rows(); ++i)
        faults_.same(
            "clients.csv and the timing walked again differ in " + std::string(column.name) + " of client " + std::to_string(i),
            at(clients_, i, column.name), to_double(column.read(rows[i])));
  }

  void check_classes_again(const Table& partition) {
    const std::span<const ClassCount> again = task().class_counts();
    const auto is_same = [&](std::size_t row, const ClassCount& count) {
      return at(partition, row, "client") == count.client.value && at(partition, row, "class") == count.label &&
             at(partition, row, "rows") == static_cast<double>(count.rows);
    };
    faults_.require(partition.rows() == again.size(), "partition.csv has ", partition.rows(), " rows, the data dealt again ",
                    again.size());
    for (std::size_t i = 0; i < partition.rows() && partition.rows() == again.size(); ++i)
      faults_.require(is_same(i, again[i]), "partition.csv and the data dealt again differ in row ", i);
  }

  void check_links_again(const RunResult& again, const Table& links) {
    faults_.require(links.rows() == again.by_link.size(), "links.csv has ", links.rows(), " links, the graph ",
                    again.by_link.size());
    const std::set<std::string_view> of_models{"not_finite", "beyond_norm", "unauthorised", "unasked", "norm_mean", "cosine_mean"};
    if (links.rows() != again.by_link.size()) return;
    for (const auto& column : link_columns())
      for (std::uint32_t i = 0; !of_models.contains(column.name) && i < links.rows(); ++i)
        faults_.same("links.csv and the timing walked again differ in " + std::string(column.name) + ", row " + std::to_string(i),
                     at(links, i, column.name), to_double(column.read(link_row(again, i))));
  }

  // What steps so far say.
  struct SoFar {
    double computations = 0, gradients = 0, messages = 0;

    void add(const Step& step) {
      computations += step.kind == StepKind::compute;
      gradients += step.kind == StepKind::compute && step.with_gradient;
      if (step.kind == StepKind::publish) messages += static_cast<double>(step.entries.size());
    }
  };

  // The record, step by step: a host's is of its own clients.
  void check_record() {
    const fs::path file = folder_ / "timeline.rbt";
    std::error_code none;
    if (!fs::exists(file) || fs::file_size(file, none) == 0) return;
    RecordReader reader(file);
    faults_.require(reader.clients() == clients_.rows(), "timeline.rbt has ", reader.clients(), " clients, the run has ",
                    clients_.rows());
    if (reader.clients() != clients_.rows()) return;
    std::vector<StepHash> hashes(reader.clients());
    std::vector<double> sent(reader.clients()), publications(reader.clients());
    std::vector<SoFar> by_client(reader.clients());
    SoFar before, so_far;  // before the newest instant, and with it
    Time now{};
    std::size_t row = 0;
    const auto check_rows_before = [&](Time next) {
      for (; row < metrics_.rows() && Time{from_seconds(at(metrics_, row, "seconds"))} < next; ++row)
        check_row(row, Time{from_seconds(at(metrics_, row, "seconds"))} == now ? before : so_far, so_far);
    };
    std::set<std::size_t> there;
    while (const Step* step = reader.next()) {
      const std::size_t client = step->client.value;
      there.insert(client);
      hashes[client].add(*step);
      if (is_virtual() && step->at > now) {
        check_rows_before(step->at);
        before = so_far, now = step->at;
      }
      so_far.add(*step), by_client[client].add(*step);
      if (step->kind == StepKind::publish && step->message != MessageKind::model)
        sent[client] += static_cast<double>(step->entries.size()), ++publications[client];
    }
    faults_.require(!reader.is_incomplete(), "timeline.rbt ends early");
    if (is_virtual()) check_rows_before(Time::max());
    for (const std::size_t client : there) {
      const auto compare = [&](const char* column, double recorded) {
        faults_.same(std::string("timeline.rbt and clients.csv differ in ") + column + " of client " + std::to_string(client),
                     recorded, at(clients_, client, column));
      };
      compare("sent", sent[client]);
      compare("computations", by_client[client].computations);
      faults_.require(is_of_hosts_ || at(clients_, client, "publications") <= publications[client],
                      "clients.csv has more publications of client ", client, " than timeline.rbt");  // whole states come beside
      if (!is_of_hosts_ && has_models_) compare("gradients", by_client[client].gradients);
    }
    if (!has_all_records_) return;
    faults_.require(timeline_of(hashes, absent()) == summary_.value("timeline_digest", ""),
                    "timeline.rbt has another digest than summary.json");
  }

  // The tables beside the report, made once more from the other files.
  void check_course() try {
    for (const auto& [name, text] : web::report_data(folder_, resolved_).tables) {
      faults_.require(fs::exists(folder_ / name), "there is no ", name, ", which the run has written");
      if (fs::exists(folder_ / name)) check_lines(name, web::text_of(folder_ / name), text);
    }
    if (fs::exists(folder_ / "events.csv")) check_events(web::text_of(folder_ / "events.csv"));
  } catch (const std::invalid_argument& fault) {  // a table that the report reads
    faults_.require(false, fault.what());
  }

  void check_lines(const std::string& name, const std::string& text, const std::string& expected) {
    std::istringstream is(text), should_be(expected);
    for (std::size_t number = 1; is || should_be; ++number) {
      std::string line, other;
      std::getline(is, line), std::getline(should_be, other);
      faults_.require(line == other, name, ", line ", number, ", is not what the other files say: \"", line, "\" and \"", other,
                      "\"");
      if (line != other) return;
    }
  }

  void check_events(const std::string& text) {
    std::istringstream lines(text);
    std::string line, seconds, what;
    std::getline(lines, line);
    std::map<std::string, double> counts;
    double before = 0;
    while (std::getline(lines, line)) {
      std::istringstream fields(line);
      std::getline(fields, seconds, ','), std::getline(fields, what, ',');
      const double at = std::strtod(seconds.c_str(), nullptr);
      faults_.require(before <= at && at <= number_at(summary_, "/virtual_seconds"), "events.csv: ", what, " at ", at,
                      " s is not between what was before and the end of the run");
      before = at, ++counts[what];
    }
    if (!is_virtual() || number_at(summary_, "/events") >= static_cast<double>(web::ScoreLimits{}.events)) return;
    const auto compare = [&](const char* word, double number) {
      faults_.same(std::string("events.csv and summary.json differ in how often there was: ") + word, counts[word], number);
    };
    compare("unification", number_at(summary_, "/unifications"));
    compare("hand-over", count("hand_overs"));
    if (summary_.at("churn").is_null()) return;
    for (const auto& [word, key] :
         {std::pair{"leave", "leaves"}, {"crash", "crashes"}, {"pause", "pauses"}, {"partition", "partitions"}})
      compare(word, number_at(summary_, std::string("/churn/") + key));
    compare("come", number_at(summary_, "/churn/joins") + number_at(summary_, "/churn/restarts"));
  }

  // A sample is taken at its instant, before, between or after what happens then.
  void check_row(std::size_t row, const SoFar& least, const SoFar& most) {
    const auto compare = [&](const char* column, double low, double high) {
      const double value = at(metrics_, row, column);
      faults_.require(low <= value && value <= high, "metrics.csv, row ", row, ", and timeline.rbt differ in ", column, ": ", value,
                      " and ", high);
    };
    compare("computations", least.computations, most.computations);
    compare("messages_sent", least.messages, most.messages);
    compare("gradients", least.gradients, most.gradients);
  }

  // Read when it is asked for.
  const Task& task() try {
    RunOptions options;
    options.data_dir = data_;
    if (!task_) task_ = make_task(experiment_, options);
    return *task_;
  } catch (const std::invalid_argument& fault) {
    throw NoData(fault.what());
  }

  std::vector<ClientId> absent() const {
    std::vector<ClientId> absent;
    for (const ResultJson& client : summary_.value("absent_clients", ResultJson::array()))
      absent.push_back({client.get<std::uint32_t>()});
    return absent;
  }

  // Of a host whose last states another has taken; none where that was of an earlier life, which alone knew them.
  std::vector<ClientId> own_clients() const {
    std::vector<ClientId> own;
    std::istringstream ranges(summary_.value("host_clients", ""));
    for (std::string range; std::getline(ranges, range, ',');) {
      std::istringstream ends(range);
      std::uint32_t first = 0, last = 0;
      char dash = 0;
      if (!(ends >> first)) continue;
      if (!(ends >> dash >> last)) last = first;
      for (; first <= last && first < clients_.rows(); ++first) own.push_back({first});
    }
    const std::vector<ClientId> away = absent();
    if (std::ranges::all_of(own, [&](ClientId client) { return std::ranges::binary_search(away, client); })) own.clear();
    return own;
  }

  // Those of a host's own clients, which it has not scored for all.
  void check_own_models() {
    const std::vector<ClientId> own = own_clients(), away = absent();
    if (own.empty()) return;
    const std::string text = web::text_of(folder_ / "models/models.npy");
    const std::size_t bytes = summary_.at("dimension").get<std::size_t>() * size_of(experiment_.precision);
    const bool has_models = text.size() == bytes_of_head(text) + own.size() * bytes;
    faults_.require(has_models, "models.npy has another size than its models");
    if (!has_models) return;
    Sha256 digest;
    for (std::size_t row = 0; row < own.size(); ++row)
      if (!std::ranges::binary_search(away, own[row]))
        digest.add({reinterpret_cast<const std::byte*>(text.data() + bytes_of_head(text) + row * bytes), bytes});
    faults_.require(digest.hex() == summary_.value("model_digest", ""), "models.npy has another digest than summary.json");
  }

  // Of an .npy file.
  static std::size_t bytes_of_head(const std::string& text) {
    const auto byte = [&](std::size_t place) { return place < text.size() ? static_cast<unsigned char>(text[place]) : 0u; };
    return 10 + byte(8) + 256 * byte(9);
  }

  // models.npy, scored once more, model by model.
  void check_models() {
    const std::string text = web::text_of(folder_ / "models/models.npy");
    const std::size_t head = bytes_of_head(text);
    const std::size_t scalar_bytes = size_of(experiment_.precision), clients = clients_.rows();
    const auto dimension = summary_.at("dimension").get<std::size_t>();
    const std::size_t bytes = dimension * scalar_bytes;
    const std::vector<ClientId> absent = this->absent();
    std::size_t present = 0;
    for (std::uint32_t i = 0; i < clients; ++i) present += !std::ranges::binary_search(absent, ClientId{i});
    const bool lacks_absent = !has_all_records_ && text.size() == head + present * bytes;
    const bool has_models = text.size() == head + (lacks_absent ? present : clients) * bytes;
    faults_.require(has_models, "models.npy has another size than its models");
    if (!has_models) return;
    std::vector<Tensor> models;
    Sha256 digest;
    std::size_t row = 0;
    for (std::uint32_t i = 0; i < clients; ++i) {
      models.push_back(pool_.make(experiment_.precision, dimension));
      if (lacks_absent && std::ranges::binary_search(absent, ClientId{i})) continue;  // nor was it measured
      std::copy_n(reinterpret_cast<const std::byte*>(text.data() + head + row++ * bytes), bytes,
                  models.back().writable<std::byte>());
      if (!std::ranges::binary_search(absent, ClientId{i})) digest.add({models.back().data<std::byte>(), bytes});
    }
    faults_.require(digest.hex() == summary_.value("model_digest", ""), "models.npy has another digest than summary.json");
    if (metrics_.rows() > 0 && has_last_sample() && !experiment_.algorithm.name.ends_with("fedavg_plus"))
      check_scores(models);  // it fine-tunes to measure
  }

  void check_scores(const std::vector<Tensor>& models) {
    const Task* const task = &this->task();
    faults_.require(models.front().count() == task->dimension(), "models.npy has models of ", models.front().count(),
                    " numbers, those of the experiment have ", task->dimension());
    if (models.front().count() != task->dimension()) return;
    ThreadMemory memory;
    const std::size_t accuracy = clients_.column("accuracy"), loss = clients_.column("loss");
    std::vector<double> accuracies, losses, f1;
    ConsensusSum consensus;
    std::vector<std::uint32_t> measured;
    for (std::uint32_t i = 0; i < models.size(); ++i) {
      if (std::isnan(clients_.row(i)[loss]) && std::isnan(clients_.row(i)[accuracy])) continue;
      const Score score = task->evaluation().score({i}, models[i], Part::test, memory);
      measured.push_back(i);
      accuracies.push_back(score.accuracy()), losses.push_back(score.mean_loss()), f1.push_back(score.macro_f1());
      if (!task->evaluation().are_unlike()) task->evaluation().add(consensus, models[i]);
      const std::string name = "clients.csv and models.npy differ in the ";
      if (!std::isnan(clients_.row(i)[accuracy]) || !std::isnan(last("accuracy_mean")))
        faults_.same(name + "accuracy of client " + std::to_string(i), clients_.row(i)[accuracy], score.accuracy());
      faults_.same(name + "loss of client " + std::to_string(i), clients_.row(i)[loss], score.mean_loss(), of_scores);
    }
    faults_.same("metrics.csv and clients.csv differ in clients_measured", last("clients_measured"),
                 static_cast<double>(measured.size()));
    if (measured.empty()) return;
    const auto compare = [&](std::string_view column, double value, double tolerance = CheckFaults::rounding) {
      faults_.same("metrics.csv and models.npy differ in " + std::string(column), last(column), value, tolerance);
    };
    const bool are_unlike = task->evaluation().are_unlike();
    const Score of_mean = are_unlike ? Score{} : task->evaluation().score_mean(consensus.mean_model(), memory);
    if (!std::isnan(last("accuracy_mean"))) {
      check_accuracies(accuracies, {measured.begin(), measured.end()}, compare);
      compare("f1_macro", rubato::mean(f1));
      if (!are_unlike) compare("accuracy_mean_model", of_mean.accuracy());
      if (!are_unlike) compare("f1_macro_mean_model", of_mean.macro_f1());
    }
    compare("loss_mean", rubato::mean(losses), of_scores);
    if (are_unlike) return;
    compare("loss_mean_model", of_mean.mean_loss(), of_scores);
    compare("consensus", distance(models, measured), of_consensus);
  }

  // The sum of squared distances to the mean model, in two passes. Models are taken from the first one: numbers that are large and
  // nearly equal have a sum that rounds away what they differ in.
  double distance(const std::vector<Tensor>& models, const std::vector<std::uint32_t>& measured) const {
    const auto at = [&](std::uint32_t client, std::size_t k) {
      return experiment_.precision == Scalar::float64 ? models[client].data<double>()[k]
                                                      : static_cast<double>(models[client].data<float>()[k]);
    };
    double sum = 0;
    for (std::size_t k = 0; k < models.front().count(); ++k) {
      const double origin = at(measured.front(), k);
      double centre = 0;
      for (const std::uint32_t client : measured) centre += (at(client, k) - origin) / static_cast<double>(measured.size());
      for (const std::uint32_t client : measured) sum += std::pow(at(client, k) - origin - centre, 2);
    }
    return sum;
  }

  fs::path folder_, data_;
  CheckFaults& faults_;
  std::ostringstream notes_;
  ResultJson summary_;
  ResolvedExperiment resolved_;
  const config::Experiment& experiment_;
  Table metrics_, clients_;
  bool has_models_, is_own_part_, is_of_hosts_, has_all_records_;
  TensorPool pool_;
  std::unique_ptr<Task> task_;
};

}  // namespace

void check_run(const fs::path& folder, const fs::path& data, CheckFaults& faults) { RunCheck(folder, data, faults).check(); }

}  // namespace rubato::app
