#include "results/run_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "experiment/build/devices.hpp"
#include "experiment/file/experiment_file.hpp"
#include "results/columns.hpp"
#include "results/metrics_rows.hpp"
#include "results/result_text.hpp"
#include "results/sample_scores.hpp"
#include "results/summary.hpp"
#include "results/whole_file.hpp"
#include "runtime/npy.hpp"
#include "runtime/record.hpp"

namespace rubato {

namespace fs = std::filesystem;

namespace {

bool is_run(const fs::path& folder) { return fs::exists(folder / "summary.json") && fs::exists(folder / "experiment.toml"); }

fs::path without_slash(fs::path place) {
  place = fs::absolute(place).lexically_normal();
  return place.has_filename() ? place : place.parent_path();
}

template <class Columns>
std::string csv_head(Columns columns) {
  std::string text;
  for (const auto& column : columns) text += std::string(column.name) + ",";
  text.back() = '\n';
  return text;
}

// Numbers are the shortest text that reads back as the same.
template <class Columns, class Row>
std::string csv_line(Columns columns, const Row& row) {
  std::string text;
  for (const auto& column : columns) {
    const Number number = column.read(row);
    const auto* count = std::get_if<std::uint64_t>(&number);
    text += (count ? std::to_string(*count) : shortest(std::get<double>(number))) + ",";
  }
  text.back() = '\n';
  return text;
}

template <class Columns, class Rows>
std::string csv(Columns columns, const Rows& rows) {
  std::string text = csv_head(columns);
  for (const auto& row : rows) text += csv_line(columns, row);
  return text;
}

constexpr const char* mark = ".rubato-run";  // lies in folders that are ours and not complete

bool is_empty_folder(const fs::path& folder) {
  std::error_code error;
  return fs::is_directory(folder, error) && fs::is_empty(folder, error);
}

// Nothing is overwritten or removed that is not a run.
void refuse_strangers(const fs::path& place) {
  const auto refuse = [&](const fs::path& folder) {
    throw std::invalid_argument("--out " + place.string() + (folder == place ? "" : ": " + folder.string()) +
                                " holds something that is not a run of Rubato; choose another folder");
  };
  std::error_code error;
  const auto is_strange = [&](const fs::path& folder) {
    return fs::exists(folder, error) && !is_run(folder) && !is_empty_folder(folder);
  };
  if (is_strange(place)) refuse(place);
  if (is_strange(beside(place, ".previous"))) refuse(beside(place, ".previous"));
  for (const char* ending : {".partial", ".failed"}) {
    const fs::path ours = beside(place, ending);
    if (is_strange(ours) && !fs::exists(ours / mark, error)) refuse(ours);
  }
}

bool has_checkpoint(const fs::path& partial) {
  std::error_code none;
  const auto is_checkpoint = [](const fs::directory_entry& entry) { return entry.path().extension() == ".rbc"; };
  return std::ranges::any_of(fs::directory_iterator(partial / "checkpoint", none), fs::directory_iterator(), is_checkpoint);
}

bool has_record(const fs::path& partial) {
  std::error_code none;
  const auto size = fs::file_size(partial / "timeline.rbt", none);
  return !none && size > 0;
}

// A record without steps is that of a start that came to nothing.
bool has_steps(const fs::path& partial) try {
  return has_record(partial) && RecordReader(partial / "timeline.rbt").next() != nullptr;
} catch (const std::runtime_error&) {  // of another version
  return true;
}

bool is_worth_keeping(const fs::path& partial) { return has_steps(partial) || has_checkpoint(partial); }

// What a run that failed has left is kept until the next one fails.
void set_aside(const fs::path& partial, const fs::path& failed) {
  std::error_code error;
  if (!is_worth_keeping(partial)) {
    fs::remove_all(partial, error);
    return;
  }
  fs::remove_all(failed, error);
  fs::rename(partial, failed, error);
}

void refuse_busy(const fs::path& place, const fs::path& partial) {
  if (is_at_work(partial).value_or(false))
    throw std::invalid_argument("--out " + place.string() + ": another process is at work there");
}

// Nothing where the run had no samples.
std::string rows_in(const fs::path& npz) try {
  return fs::exists(npz) ? rows_of_npz(read_whole(npz).value_or("")) : std::string();
} catch (const std::invalid_argument& fault) {
  throw std::invalid_argument(npz.string() + ": " + fault.what());
}

// What a run needs to go on; the description last, because without it there is nothing to go on with.
void copy_stopped(const fs::path& place, const fs::path& partial) {
  if (fs::exists(place / "checkpoint")) fs::copy(place / "checkpoint", partial / "checkpoint", fs::copy_options::recursive);
  if (fs::exists(place / "metrics.csv")) fs::copy_file(place / "metrics.csv", partial / "metrics.csv");
  if (fs::exists(place / scores_file))
    fs::copy_file(place / scores_file, partial / scores_file);
  else
    write_whole(partial / scores_file, rows_in(place / "samples.npz"));
  fs::copy_file(place / "experiment.toml", partial / "experiment.part");
  fs::rename(partial / "experiment.part", partial / "experiment.toml");
}

// A summary that is damaged says nothing of its run.
bool was_stopped_at(const fs::path& place) try { return remains_at(place) == Remains::stopped; } catch (const std::runtime_error&) {
  return false;
}

}  // namespace

RunFolder::RunFolder(const fs::path& place, const std::function<bool(const fs::path&)>& is_same)
    : place_{without_slash(place)}, partial_{beside(place_, ".partial")} {
  refuse_strangers(place_);
  refuse_busy(place_, partial_);
  std::error_code error;
  const auto is_life = [&](const fs::path& experiment) { return is_same && fs::exists(experiment) && is_same(experiment); };
  if (is_same && !fs::exists(partial_ / "experiment.toml") && was_stopped_at(place_))
    fs::remove_all(partial_, error);  // a copy that was not finished
  has_earlier_life_ = (has_record(partial_) || has_checkpoint(partial_)) && is_life(partial_ / "experiment.toml");
  const bool is_copied = !has_earlier_life_ && is_same && was_stopped_at(place_) && is_life(place_ / "experiment.toml");
  is_settled_ = has_earlier_life_;
  if (!is_settled_ && (!is_same || is_copied || !is_worth_keeping(partial_))) settle();
  claim();
  if (!is_copied) return;
  has_earlier_life_ = true;
  if (fs::exists(place_ / "timeline.rbt")) fs::copy_file(place_ / "timeline.rbt", record());
  copy_stopped(place_, partial_);
}

RunFolder::RunFolder(const fs::path& place, Reopen)
    : place_{without_slash(place)}, partial_{beside(place_, ".partial")}, has_earlier_life_{true}, is_settled_{true} {
  refuse_strangers(place_);
  refuse_busy(place_, partial_);
  const bool is_copied = remains_at(place_) == Remains::stopped;
  if (is_copied) {
    fs::remove_all(partial_);  // an earlier copy that was not finished
    fs::create_directories(partial_);
  }
  claim();
  if (is_copied) copy_stopped(place_, partial_);
}

std::unique_ptr<RunFolder> RunFolder::reopen(const fs::path& place) {
  return std::unique_ptr<RunFolder>(new RunFolder(place, Reopen{}));
}

bool RunFolder::settle() {
  const std::lock_guard lock(mutex_);
  if (is_settled_) return false;
  const bool is_set_aside = is_worth_keeping(partial_);
  set_aside(partial_, beside(place_, ".failed"));
  is_settled_ = true;
  claim();
  return is_set_aside;
}

void RunFolder::claim() {
  std::error_code error;
  fs::create_directories(partial_, error);
  if (error) throw std::invalid_argument("--out " + place_.string() + ": cannot make the folder: " + error.message());
  if (lock_ >= 0) ::close(lock_);
  lock_ = ::open((partial_ / mark).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (lock_ < 0) throw std::invalid_argument("--out " + place_.string() + ": cannot write there: " + std::strerror(errno));
  // A file system without locks refuses none; is_at_work() of another process holds the lock for a moment.
  for (int i = 0; i < 100 && ::flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

RunFolder::~RunFolder() {
  if (lock_ >= 0) ::close(lock_);
  if (is_complete_) return;
  std::error_code error;
  const bool tells_why = fs::exists(partial_ / "status.json", error);
  if (!has_earlier_life_ && !tells_why && !is_worth_keeping(partial_)) fs::remove_all(partial_, error);
}

void RunFolder::write(const std::string& name, const std::string& text) {
  const std::lock_guard lock(mutex_);
  const fs::path file = partial_ / name;
  std::error_code none;  // opening the file will say it
  fs::create_directories(file.parent_path(), none);
  write_whole(file, text);
}

void RunFolder::append(const std::string& name, const std::string& text) {
  std::ofstream stream(partial_ / name, std::ios::binary | std::ios::app);
  stream << text;
  stream.close();
  if (!stream) throw RunFailed("cannot write " + (partial_ / name).string() + ": " + std::strerror(errno));
}

void RunFolder::complete() {
  settle();
  std::error_code error;
  if (fs::exists(partial_ / "samples.npz", error) || !was_stopped_at(partial_)) fs::remove(partial_ / scores_file, error);
  fs::remove(partial_ / mark, error);
  if (fs::exists(place_) && is_run(place_)) {
    const fs::path previous = beside(place_, ".previous");
    fs::remove_all(previous, error);
    fs::rename(place_, previous, error);
  } else {
    fs::remove(place_, error);  // an empty folder
  }
  fs::rename(partial_, place_, error);
  if (error)
    throw RunFailed("cannot put the run at " + place_.string() + ": " + error.message() + "; it is complete in " +
                    partial_.string());
  is_complete_ = true;
}

fs::path beside(const fs::path& place, const char* ending) { return without_slash(place).string() + ending; }

std::optional<bool> is_at_work(const fs::path& partial) {
  const int file = ::open((partial / mark).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno == ENOENT ? std::optional(false) : std::nullopt;
  const bool is_free = ::flock(file, LOCK_SH | LOCK_NB) == 0;
  const bool is_locked = !is_free && errno == EWOULDBLOCK;
  ::close(file);
  return is_free || is_locked ? std::optional(is_locked) : std::nullopt;
}

Remains remains_at(const fs::path& given) {
  const fs::path place = without_slash(given), partial = beside(place, ".partial");
  const bool is_ours = fs::exists(partial / mark) || is_run(partial);  // a run: killed between its last file and its name
  if (is_ours && fs::exists(partial / "experiment.toml")) return Remains::interrupted;
  if (!is_run(place)) return Remains::nothing;
  return end_of_summary(read_whole(place / "summary.json").value_or("")).was_stopped ? Remains::stopped : Remains::finished;
}

std::string command_to_go_on(const config::Experiment& experiment) {
  if (experiment.clock == config::ClockKind::virtual_time) return "rubato resume";
  return experiment.roster.empty() ? "" : "rubato node";
}

std::string command_to_go_on(const fs::path& folder) try {
  std::ostringstream nowhere;
  return command_to_go_on(config::read_experiment(folder / "experiment.toml", {}, nowhere));
} catch (const std::invalid_argument&) {  // of another version, or changed by hand
  return "";
}

fs::path experiment_of_remains(const fs::path& given) {
  const fs::path place = without_slash(given);
  return (remains_at(place) == Remains::interrupted ? beside(place, ".partial") : place) / "experiment.toml";
}

std::string metrics_csv_head() { return csv_head(sample_columns()); }
std::string metrics_csv_row(const Sample& sample) { return csv_line(sample_columns(), sample); }

std::string clients_csv(const RunResult& result) {
  auto columns = client_columns() |
                 std::views::filter([&](const ClientColumn& column) { return !column.needs_paces || !result.paces.empty(); });
  return csv(columns, client_rows(result));
}

std::string partition_csv(const RunResult& result) {
  std::string text = "client,class,rows\n";
  for (const ClassCount& count : result.class_counts)
    text += std::to_string(count.client.value) + "," + std::to_string(count.label) + "," + std::to_string(count.rows) + "\n";
  return text;
}

std::string classes_csv(const config::Experiment& experiment) {
  std::string text = "client,class\n";
  const auto classes = classes_of(experiment.clients, static_cast<std::uint64_t>(experiment.seed));
  for (std::size_t i = 0; i < classes.size(); ++i)
    text += std::to_string(i) + "," + (classes[i] ? experiment.clients.classes[*classes[i]].name : "") + "\n";
  return text;
}

std::string links_csv(const RunResult& result) { return csv(link_columns(), link_rows(result)); }

std::string collaboration_csv(const RunResult& result) {
  std::string text = "client,peer,weight\n";
  for (std::size_t i = 0; i < result.collaboration.size(); ++i)
    for (const PeerWeight& peer : result.collaboration[i])
      text += std::to_string(i) + "," + std::to_string(peer.peer.value) + "," + shortest(peer.weight) + "\n";
  return text;
}

std::string models_npy(const RunResult& result) {
  std::string file = npy_head({result.models.size(), result.dimension}, result.scalar_bytes);
  for (const auto& model : result.models) file.append(reinterpret_cast<const char*>(model.data()), model.size());
  return file;
}

void append_scores(RunFolder& folder, const Sample& sample) { folder.append(scores_file, scores_row(sample)); }

namespace {

// A life that was killed between its last file and its name has made samples.npz of them.
std::string kept_scores(const RunFolder& folder) {
  const auto kept = read_whole(folder.contents() / scores_file);
  return kept ? *kept : rows_in(folder.contents() / "samples.npz");
}

}  // namespace

std::uint64_t count_scores(const RunFolder& folder) { return count_rows(kept_scores(folder)); }

void keep_scores(RunFolder& folder) {
  const std::string rows = kept_scores(folder);
  const std::string metrics = read_whole(folder.metrics()).value_or("");
  const auto lines = static_cast<std::uint64_t>(std::ranges::count(metrics, '\n'));
  folder.write(scores_file, rows.substr(0, bytes_of_rows(rows, std::max<std::uint64_t>(lines, 1) - 1)));  // the first is the head
}

std::uint64_t keep_known_samples(RunFolder& folder, const Sample& known) {
  keep_known_rows(folder.metrics(), known);
  keep_scores(folder);
  return events_in(folder.metrics());
}

namespace {

void write_scores(RunFolder& folder) {
  std::error_code none;
  const std::uintmax_t bytes = fs::file_size(folder.contents() / scores_file, none);
  if (!none && bytes > 0 && bytes <= most_scores)
    folder.write("samples.npz", samples_npz(read_whole(folder.contents() / scores_file).value_or("")));
}

}  // namespace

void append_model(RunFolder& folder, const FinalModel& model) {
  constexpr const char* file = "models/models.npy";
  if (model.client.value == 0) folder.write(file, npy_head({model.clients, model.dimension}, model.scalar_bytes));
  folder.append(file, {reinterpret_cast<const char*>(model.bytes.data()), model.bytes.size()});
}

void write_results(RunFolder& folder, const config::Experiment& experiment, const RunResult& result) {
  folder.write("experiment.toml", config::write_experiment(experiment));
  folder.write("clients.csv", clients_csv(result));
  if (!experiment.clients.classes.empty()) folder.write("classes.csv", classes_csv(experiment));
  if (!result.class_counts.empty()) folder.write("partition.csv", partition_csv(result));
  if (!result.by_link.empty()) folder.write("links.csv", links_csv(result));
  if (!result.collaboration.empty()) folder.write("collaboration.csv", collaboration_csv(result));
  if (!result.models.empty()) folder.write("models/models.npy", models_npy(result));
  write_scores(folder);
  folder.write("summary.json", summary_json(experiment, result));
}

}  // namespace rubato
