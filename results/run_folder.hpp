// The folder that a run leaves behind. It is filled beside its place and renamed when it is complete.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "experiment/experiment.hpp"
#include "results/run_result.hpp"

namespace rubato {

class Graph;

/// A folder that is being filled. One process at a time has it: the folder is locked. Used on one thread at a time, but for
/// write().
class RunFolder {
 public:
  /// Prepares `place` beside `place`.partial. An earlier run at `place` is left alone until this one is complete.
  /// Throws std::invalid_argument if the folder cannot be made, or holds something that is not a run.
  explicit RunFolder(const std::filesystem::path& place) : RunFolder(place, nullptr) {}
  /// Goes on with what an earlier life of the same host has left there, if `is_same` says so of its experiment.toml:
  /// with the folder itself if that life was killed, with a copy of what a life that was stopped needs. What another run has left
  /// there stays until settle(): this one may be a mistake.
  RunFolder(const std::filesystem::path& place, const std::function<bool(const std::filesystem::path&)>& is_same);
  /// Goes on with a run that was interrupted, or with a copy of what one that was stopped needs: see remains_at().
  /// Until it is complete the results of the stopped one stay where they are.
  static std::unique_ptr<RunFolder> reopen(const std::filesystem::path& place);
  /// Not completed: what was written so far stays in the .partial folder if there are steps, a checkpoint or a status, else it
  /// goes. The next run to the same place moves steps and checkpoints to .failed.
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  /// This run is one: moves what another has left in the .partial folder to .failed. True if there was such a thing.
  bool settle();
  /// An earlier life has left its record, and perhaps checkpoints.
  bool has_earlier_life() const { return has_earlier_life_; }
  /// Where checkpoints of the run are to be written.
  std::filesystem::path checkpoints() const { return partial_ / "checkpoint"; }
  /// Where the record of the run is to be written.
  std::filesystem::path record() const { return partial_ / "timeline.rbt"; }
  /// Where samples are to be written, a row each.
  std::filesystem::path metrics() const { return partial_ / "metrics.csv"; }
  /// Writes a file of the folder, as a whole or not at all. Throws RunFailed if the disk does not take it.
  void write(const std::string& name, const std::string& text);
  /// Adds to a file of the folder.
  void append(const std::string& name, const std::string& text);
  /// What is written so far lies here until complete().
  const std::filesystem::path& contents() const { return partial_; }

  /// Puts the folder in its place; an earlier run there becomes `place`.previous.
  void complete();

 private:
  struct Reopen {};
  RunFolder(const std::filesystem::path& place, Reopen);
  void claim();

  std::filesystem::path place_;
  std::filesystem::path partial_;
  bool is_complete_ = false;
  bool has_earlier_life_ = false;
  bool is_settled_ = false;
  std::mutex mutex_;  // write() and settle()
  int lock_ = -1;     // held while the folder is being filled
};

/// DIR.previous and its like: a folder's name with this ending, beside it.
std::filesystem::path beside(const std::filesystem::path& place, const char* ending);

/// Whether a process fills this .partial folder; nothing where that cannot be asked, as on a disk without locks.
std::optional<bool> is_at_work(const std::filesystem::path& partial);

/// What there is of a run at a place.
enum class Remains {
  nothing,
  finished,     ///< a run that came to its end
  stopped,      ///< one that was ended early, with its results so far
  interrupted,  ///< a .partial folder: its process has died, or is at work
};
/// Looks at the folder and those beside it; changes nothing.
Remains remains_at(const std::filesystem::path& place);
/// The command that goes on with such a run when it was interrupted or stopped; empty: none does, it was one process in real time.
std::string command_to_go_on(const config::Experiment& experiment);
/// The same of the run in a folder; also empty where its experiment cannot be read.
std::string command_to_go_on(const std::filesystem::path& folder);
/// The experiment of what remains there.
std::filesystem::path experiment_of_remains(const std::filesystem::path& place);

/// The scores of a sample, of which write_results() makes samples.npz: client by client, so that a long run does not keep them in
/// memory.
void append_scores(RunFolder& folder, const Sample& sample);
/// How many samples an earlier life has left the scores of.
std::uint64_t count_scores(const RunFolder& folder);
/// Of the scores that an earlier life has left in the folder those of the samples in metrics.csv stay; what a kill has cut short is
/// gone.
void keep_scores(RunFolder& folder);
/// Of the samples that an earlier life has left those stay that count no more than is known of it. Returns the events until the
/// last of them.
std::uint64_t keep_known_samples(RunFolder& folder, const Sample& known);

/// models/models.npy, model by model, so that a large run does not keep them in memory a second time.
void append_model(RunFolder& folder, const FinalModel& model);

/// experiment.toml, clients.csv, partition.csv, links.csv, collaboration.csv, samples.npz, summary.json and the models that the
/// result has. metrics.csv is written while the run goes on.
void write_results(RunFolder& folder, const config::Experiment& experiment, const RunResult& result);

/// The first line of metrics.csv. The file is written line by line, so that a long run does not keep its samples in memory.
std::string metrics_csv_head();
/// Its line for this sample.
std::string metrics_csv_row(const Sample& sample);
/// The whole of clients.csv; docs/run-folder.md explains its columns, like those of the next two.
std::string clients_csv(const RunResult& result);
/// The whole of partition.csv.
std::string partition_csv(const RunResult& result);
/// The whole of classes.csv.
std::string classes_csv(const config::Experiment& experiment);
/// The whole of links.csv; the graph is the run's, and its links were counted.
std::string links_csv(const RunResult& result);
/// The whole of collaboration.csv.
std::string collaboration_csv(const RunResult& result);
/// The bytes of an .npy file of clients x dimension numbers; result.models must be there.
std::string models_npy(const RunResult& result);

}  // namespace rubato
