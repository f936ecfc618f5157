#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "actors/core/run_parts.hpp"
#include "app/commands.hpp"
#include "experiment/digest.hpp"
#include "experiment/file/experiment_file.hpp"
#include "results/comparison_table.hpp"
#include "results/result_text.hpp"
#include "runtime/record.hpp"
#include "web/run_files.hpp"

namespace rubato::app {

namespace {

namespace fs = std::filesystem;
using web::Table;

constexpr double rounding = 1e-9;      // of sums that were added up in another order
constexpr double of_scores = 1e-5;     // of losses in float32
constexpr double of_consensus = 1e-4;  // of squares that nearly cancel

class Faults {
 public:
  template <class... Parts>
  void require(bool holds, const Parts&... parts) {
    ++checks_;
    if (holds) return;
    std::ostringstream text;
    text.precision(17);
    (text << ... << parts);
    sentences_.push_back(text.str());
  }
  void same(const std::string& what, double one, double other, double tolerance = rounding) {
    const bool holds = (std::isnan(one) && std::isnan(other)) || one == other ||
                       std::abs(one - other) <= tolerance * std::max({1.0, std::abs(one), std::abs(other)});
    require(holds, what, ": ", one, " and ", other);
  }
  std::size_t checks() const { return checks_; }
  const std::vector<std::string>& sentences() const { return sentences_; }

 private:
  std::size_t checks_ = 0;
  std::vector<std::string> sentences_;
};

double number_at(const ResultJson& json, const char* pointer) {
  const ResultJson::json_pointer place(pointer);
  return json.contains(place) && json.at(place).is_number() ? json.at(place).get<double>() : not_known;
}

double sum_of(const Table& table, std::string_view column) {
  double sum = 0;
  for (std::size_t i = 0, at = table.column(column); i < table.rows(); ++i) sum += table.row(i)[at];
  return sum;
}

// ---- a run ---------------------------------------------------------------------------------------------------------

class RunCheck {
 public:
  RunCheck(const fs::path& folder, const fs::path& data, Faults& faults)
      : folder_{folder},
        data_{data},
        faults_{faults},
        summary_(ResultJson::parse(web::text_of(folder / "summary.json"))),
        experiment_{config::read_experiment(folder / "experiment.toml", {}, notes_)},
        metrics_{folder / "metrics.csv"},
        clients_{folder / "clients.csv"},
        has_models_{!summary_.value("model_digest", "").empty()},
        is_own_part_{!summary_.value("gathered_by", "").empty()},
        is_of_hosts_{!summary_.value("host", "").empty()},
        has_all_records_{!is_of_hosts_ || experiment_.clock == config::ClockKind::virtual_time} {}

  void check() {
    check_columns();
    check_axes();
    if (metrics_.rows() > 0) check_last_row();
    check_clients();
    check_outcomes();
    if (fs::exists(folder_ / "links.csv") && has_all_records_) check_links(Table(folder_ / "links.csv"));
    if (fs::exists(folder_ / "partition.csv")) check_partition(Table(folder_ / "partition.csv"));
    if (!summary_.value("record_cut", false)) check_record();
    if (has_models_ && !is_own_part_ && fs::exists(folder_ / "models/models.npy")) check_models();
  }

 private:
  double count(const std::string& name) const { return number_at(summary_, ("/messages/" + name).c_str()); }

  void check_columns() {
    std::vector<std::string> names;
    for (const SampleColumn& column : sample_columns()) names.emplace_back(column.name);
    faults_.require(metrics_.columns() == names, "metrics.csv has not the columns of this version");
  }

  // What is spent stays spent.
  void check_axes() {
    std::vector<std::string_view> names{"events", "computations", "messages_sent", "bytes_wire"};
    for (const SampleColumn& axis : columns_as(Role::axis)) names.push_back(axis.name);
    for (const std::string_view name : names)
      for (std::size_t at = metrics_.column(name), i = 1; i < metrics_.rows(); ++i)
        faults_.require(metrics_.row(i - 1)[at] <= metrics_.row(i)[at], "metrics.csv: ", name, " falls from ",
                        metrics_.row(i - 1)[at], " to ", metrics_.row(i)[at], " in row ", i);
  }

  double last(std::string_view column) const { return metrics_.row(metrics_.rows() - 1)[metrics_.column(column)]; }

  void check_last_row() {
    const std::pair<const char*, const char*> same[] = {
        {"computations", "/computations"}, {"bytes_wire", "/bytes/wire"},       {"paper_bits", "/bytes/paper_bits"},
        {"gradients", "/gradients"},       {"seconds", "/virtual_seconds"},     {"messages_delivered", "/messages/delivered"},
        {"consensus", "/consensus"},       {"accuracy_mean", "/accuracy/mean"}, {"accuracy_mean_model", "/accuracy/mean_model"},
        {"loss_mean", "/loss/mean"}};
    for (const auto& [column, key] : same)
      if (!std::isnan(number_at(summary_, key)))
        faults_.same(std::string("metrics.csv, last row, and summary.json differ in ") + column, last(column),
                     number_at(summary_, key));
    faults_.same("metrics.csv, last row, and summary.json differ in messages_sent", last("messages_sent"),
                 count("sent") + count("models"));
    faults_.require(last("seconds") <= experiment_.until, "metrics.csv ends at ", last("seconds"), " s, after the run");
  }

  void check_clients() {
    const auto compare = [&](const std::string& column, double whole) {
      faults_.same("clients.csv and summary.json differ in " + column, sum_of(clients_, column), whole);
    };
    for (const char* name : {"sent", "lost", "late", "capped", "superseded", "copies", "lost_to_partition", "lost_to_absence",
                             "duplicates", "surplus", "stale", "misshapen"})
      compare(name, count(name));
    compare("kept", count("delivered"));
    compare("computations", number_at(summary_, "/computations"));
    compare("publications", number_at(summary_, "/publications"));
    const bool knows_traffic = !is_of_hosts_ || metrics_.rows() > 0;
    if (!has_models_ || !knows_traffic) return;
    compare("bytes_wire", number_at(summary_, "/bytes/wire"));
    compare("paper_bits", number_at(summary_, "/bytes/paper_bits"));
    compare("gradients", number_at(summary_, "/gradients"));
  }

  void check_outcomes() {
    if (is_of_hosts_ && experiment_.clock == config::ClockKind::wall_time)
      return;  // what was on the way to lost hosts is not known
    double outcomes = count("under_way");
    for (const char* name : {"delivered", "late", "capped", "duplicates", "surplus", "stale", "misshapen", "lost",
                             "lost_to_partition", "lost_to_absence"})
      outcomes += count(name);
    faults_.same("summary.json: what was sent is not the sum of what became of it", count("sent") + count("copies"), outcomes);
  }

  // In real time rounds refuse what they had kept: which link it came over is not looked up any more.
  void check_links(const Table& links) {
    const bool is_exact = experiment_.clock == config::ClockKind::virtual_time;
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

  void check_partition(const Table& partition) {
    faults_.same("partition.csv and clients.csv differ in rows", sum_of(partition, "rows"), sum_of(clients_, "training_samples"));
  }

  // The record, step by step: a host's is of its own clients.
  void check_record() {
    const fs::path file = folder_ / "timeline.rbt";
    std::error_code none;
    if (!fs::exists(file) || fs::file_size(file, none) == 0) return;
    RecordReader reader(file);
    std::vector<StepHash> hashes(reader.clients());
    std::vector<double> sent(reader.clients()), computations(reader.clients());
    std::set<std::size_t> there;
    while (const Step* step = reader.next()) {
      const std::size_t client = step->client.value;
      there.insert(client);
      hashes[client].add(*step);
      if (step->kind == StepKind::publish && step->message != MessageKind::model)
        sent[client] += static_cast<double>(step->entries.size());
      computations[client] += step->kind == StepKind::compute;
    }
    faults_.require(!reader.is_incomplete(), "timeline.rbt ends early");
    for (const std::size_t client : there) {
      const std::string of_client = " of client " + std::to_string(client), both = "timeline.rbt and clients.csv differ in ";
      faults_.same(both + "sent" + of_client, sent[client], clients_.row(client)[clients_.column("sent")]);
      faults_.same(both + "computations" + of_client, computations[client], clients_.row(client)[clients_.column("computations")]);
    }
    if (!has_all_records_) return;
    faults_.require(timeline_of(hashes, absent()) == summary_.value("timeline_digest", ""),
                    "timeline.rbt has another digest than summary.json");
  }

  std::vector<ClientId> absent() const {
    std::vector<ClientId> absent;
    for (const ResultJson& client : summary_.value("absent_clients", ResultJson::array()))
      absent.push_back({client.get<std::uint32_t>()});
    return absent;
  }

  // models.npy, scored once more, model by model.
  void check_models() {
    const std::string text = web::text_of(folder_ / "models/models.npy");
    const std::size_t head = 10 + static_cast<unsigned char>(text.at(8)) + 256u * static_cast<unsigned char>(text.at(9));
    const std::size_t scalar_bytes = size_of(experiment_.precision), clients = clients_.rows();
    const auto dimension = summary_.at("dimension").get<std::size_t>();
    const std::size_t bytes = dimension * scalar_bytes;
    const std::vector<ClientId> absent = this->absent();
    const bool lacks_absent = !has_all_records_ && text.size() == head + (clients - absent.size()) * bytes;
    const std::size_t rows = clients - (lacks_absent ? absent.size() : 0);
    faults_.require(text.size() == head + rows * bytes, "models.npy has another size than its models");
    if (text.size() != head + rows * bytes) return;
    std::vector<Tensor> models;
    Sha256 digest;
    std::size_t row = 0;
    for (std::uint32_t i = 0; i < clients; ++i) {
      models.push_back(pool_.make(experiment_.precision, dimension));
      if (lacks_absent && is_among(absent, {i})) continue;  // nor was it measured
      std::copy_n(reinterpret_cast<const std::byte*>(text.data() + head + row++ * bytes), bytes,
                  models.back().writable<std::byte>());
      if (!is_among(absent, {i})) digest.add({models.back().data<std::byte>(), bytes});
    }
    faults_.require(digest.hex() == summary_.value("model_digest", ""), "models.npy has another digest than summary.json");
    if (metrics_.rows() > 0 && !experiment_.algorithm.name.starts_with("fedavg_plus"))
      check_scores(models);  // it fine-tunes to measure
  }

  void check_scores(const std::vector<Tensor>& models) {
    RunOptions options;
    options.data_dir = data_;
    const std::unique_ptr<Task> task = make_task(experiment_, options);
    ThreadMemory memory;
    const std::size_t accuracy = clients_.column("accuracy"), loss = clients_.column("loss");
    std::vector<double> accuracies, losses, mean(models.front().count());
    std::vector<std::uint32_t> measured;
    for (std::uint32_t i = 0; i < models.size(); ++i) {
      if (std::isnan(clients_.row(i)[loss]) && std::isnan(clients_.row(i)[accuracy])) continue;
      const Score score = task->evaluation().score({i}, models[i], memory);
      measured.push_back(i);
      accuracies.push_back(score.accuracy()), losses.push_back(score.mean_loss());
      const std::string name = "clients.csv and models.npy differ in the ";
      if (!std::isnan(clients_.row(i)[accuracy]))
        faults_.same(name + "accuracy of client " + std::to_string(i), clients_.row(i)[accuracy], score.accuracy());
      faults_.same(name + "loss of client " + std::to_string(i), clients_.row(i)[loss], score.mean_loss(), of_scores);
    }
    faults_.same("metrics.csv and clients.csv differ in clients_measured", last("clients_measured"),
                 static_cast<double>(measured.size()));
    if (measured.empty()) return;
    if (!std::isnan(last("accuracy_mean"))) {
      faults_.same("metrics.csv and models.npy differ in accuracy_mean", last("accuracy_mean"), rubato::mean(accuracies));
      faults_.same("metrics.csv and models.npy differ in accuracy_min", last("accuracy_min"),
                   *std::ranges::min_element(accuracies));
    }
    faults_.same("metrics.csv and models.npy differ in loss_mean", last("loss_mean"), rubato::mean(losses), of_scores);
    faults_.same("metrics.csv and models.npy differ in consensus", last("consensus"), distance(models, measured), of_consensus);
  }

  // The sum of squared distances to the mean model, in two passes.
  double distance(const std::vector<Tensor>& models, const std::vector<std::uint32_t>& measured) const {
    const auto at = [&](std::uint32_t client, std::size_t k) {
      return experiment_.precision == Scalar::float64 ? models[client].data<double>()[k]
                                                      : static_cast<double>(models[client].data<float>()[k]);
    };
    double sum = 0;
    for (std::size_t k = 0; k < models.front().count(); ++k) {
      double centre = 0;
      for (const std::uint32_t client : measured) centre += at(client, k) / static_cast<double>(measured.size());
      for (const std::uint32_t client : measured) sum += (at(client, k) - centre) * (at(client, k) - centre);
    }
    return sum;
  }

  fs::path folder_, data_;
  Faults& faults_;
  std::ostringstream notes_;
  ResultJson summary_;
  config::Experiment experiment_;
  Table metrics_, clients_;
  bool has_models_, is_own_part_, is_of_hosts_, has_all_records_;
  TensorPool pool_;
};

// ---- a comparison --------------------------------------------------------------------------------------------------

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

void check_comparison(const fs::path& folder, Faults& faults) {
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
    Faults faults;
    if (fs::exists(folder / "table.json"))
      check_comparison(folder, faults);
    else
      RunCheck(folder, data, faults).check();
    for (const std::string& sentence : faults.sentences()) std::cout << folder.string() << ": " << sentence << "\n";
    if (faults.sentences().empty()) std::cout << folder.string() << ": " << faults.checks() << " checks hold\n";
    broken += faults.sentences().size();
  }
  return broken == 0 ? ok : failed;
}

}  // namespace rubato::app
