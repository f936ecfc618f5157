// What a binding to another language needs beside run(): the commands of `rubato` as functions, which hand out what the
// command prints or writes.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/run.hpp"
#include "results/summary.hpp"

namespace rubato {

/// Runs the experiment and leaves the folder `place` as `rubato run --out` does. `origin` goes into its report.
RunResult run_into(const std::filesystem::path& place, const config::Experiment& experiment, RunOptions options,
                   const Provenance& origin);

/// Goes on with the run in this folder as `rubato resume` does; `say` hears from where. Throws std::invalid_argument where there is
/// no run in virtual time that is not finished.
RunResult resume_in(const std::filesystem::path& place, const config::Experiment& experiment, RunOptions options,
                    const Provenance& origin, const std::function<void(const std::string&)>& say);

/// The experiment file of what there is of a run at a place: finished, stopped or interrupted. Throws std::invalid_argument where
/// there is none.
std::filesystem::path experiment_in(const std::filesystem::path& place);

/// What a record led to when it was made, and when it is played again.
struct ReplayedRun {
  Digests recorded;  ///< as summary.json has them
  Digests again;     ///< of the replay
};
/// Performs the record in the folder of a run in one process again.
ReplayedRun replay_in(const std::filesystem::path& place, const config::Experiment& experiment, const RunOptions& options);

/// The page report.html of a run that keeps its samples in the result.
std::string report_page(const config::Experiment& experiment, const RunResult& result, const RunOptions& options);

/// The graph of an experiment.
struct TopologyInfo {
  std::size_t clients = 0;                                     ///< its nodes
  bool is_directed = false;                                    ///< else each link has its reverse
  std::vector<std::pair<std::uint32_t, std::uint32_t>> links;  ///< source and target, in the order of link indices
  std::string text;                                            ///< as `rubato topology` prints it
};
/// Of graphs that change all links together.
TopologyInfo topology_of(const config::Experiment& experiment);

/// Names with what they stand for, as `rubato list WHAT` prints them. Throws std::invalid_argument where there is no such list.
std::vector<std::pair<std::string, std::string>> list_of(const std::string& what);

/// Rows of samples, and what is to be learned of them.
template <class Real>
struct DataTable {
  std::vector<Real> features;         ///< row after row
  std::vector<std::uint32_t> labels;  ///< by row; empty where numbers are learned
  std::vector<Real> targets;          ///< by row, where numbers are learned
};
/// A data set that is read and dealt as [data] says.
template <class Real>
struct DataOfExperiment {
  std::vector<std::int64_t> shape;                    ///< of one row: channels, height, width
  std::uint32_t classes = 0;                          ///< 0: numbers are learned
  DataTable<Real> train;                              ///< what clients learn from
  DataTable<Real> test;                               ///< what models are tested on
  std::vector<std::vector<std::uint32_t>> rows;       ///< of the training part, by client
  std::vector<std::vector<std::uint32_t>> test_rows;  ///< of the test part, by client; empty: all have all
  std::vector<std::string> notes;                     ///< sentences about the data
};
/// Throws std::invalid_argument where data cannot be read or dealt.
template <class Real>
DataOfExperiment<Real> data_of(const config::Experiment& experiment, const std::filesystem::path& data_dir);

/// Deals a program's own rows to clients as [data.partition] says: a list of rows a client.
std::vector<std::vector<std::uint32_t>> deal_labels(const config::Experiment& experiment, const std::vector<std::uint32_t>& labels,
                                                    std::uint32_t classes);

/// What `rubato compare` is asked for.
struct CompareFiles {
  std::vector<std::filesystem::path> files;         ///< experiment files
  std::vector<std::string> set;                     ///< key=value, laid over every file
  std::vector<std::string> grid;                    ///< key=a,b,c
  std::size_t seeds = 5;                            ///< runs of each setting
  unsigned threads = 1;                             ///< runs at a time
  std::filesystem::path data_dir;                   ///< as in RunOptions
  std::filesystem::path out;                        ///< folder for the files of the comparison; empty: none is written
  std::string targets;                              ///< accuracies "0.5,0.7"
  std::string axis = "seconds";                     ///< what leads
  const std::atomic<bool>* stop = nullptr;          ///< becomes true: ends early
  std::function<void(const std::string&)> on_note;  ///< called by one thread at a time
  std::function<void(double share, double wall_seconds)> on_progress;  ///< likewise; share of all runs together
  /// Called on the thread of each run before it begins: brings the run's own learners. With it [data] and [model] are not judged.
  std::function<void(const config::Experiment&, RunOptions&)> bring;
};
/// What it leads to, as the files that the command writes.
struct ComparedTexts {
  std::string table;                  ///< for people
  std::string table_csv;              ///< a line for each setting
  std::string table_json;             ///< an object for each setting
  std::string curves_csv;             ///< a line for every sample of every run
  std::vector<std::string> failures;  ///< a sentence for each run that failed and each setting that was refused
  bool was_stopped = false;           ///< runs are missing
};
/// Runs and compares them. Throws std::invalid_argument where they cannot be compared.
ComparedTexts compare_files(const CompareFiles& request);

}  // namespace rubato
