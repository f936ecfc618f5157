// An experiment from its description to its result: the door for programs that embed Rubato.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "actors/config.hpp"
#include "actors/ensemble.hpp"
#include "actors/evaluation.hpp"
#include "actors/task.hpp"
#include "runtime/conductor.hpp"

namespace rubato {

/// How far a run has come.
struct Progress {
  double virtual_seconds = 0;
  double wall_seconds = 0;
  std::uint64_t events = 0;
  std::optional<double> accuracy;  ///< mean over clients, of the newest finished sample
};

/// The model of a client at the end of a run; valid while it is looked at.
struct FinalModel {
  std::size_t clients;
  std::size_t dimension;
  std::size_t scalar_bytes;
  ClientId client;
  std::span<const std::byte> bytes;
};

struct RunOptions {
  unsigned threads = 1;
  std::filesystem::path data_dir;  ///< where data sets lie; empty: $RUBATO_DATA, then ./data
  bool dry_run = false;            ///< walk the timing only
  bool checks = false;             ///< watch the invariants; a broken one ends the run (RunFailed)
  std::filesystem::path record;    ///< write the steps here; empty: nowhere
  std::uint64_t record_bytes = 0;  ///< stop recording after about this many bytes; 0: never
  /// Virtual time: the folder for a checkpoint every experiment.checkpoint_every; empty: none are written.
  std::filesystem::path checkpoints;
  /// Virtual time: the checkpoint to go on from (run_checkpoint.hpp); empty: from the beginning. What is handed out then
  /// begins there; the record has everything.
  std::filesystem::path resume_from;
  std::filesystem::path samples_file;  ///< what on_sample appends to, if anything: checkpoints note how far it was
  bool counts_links = false;
  bool keeps_samples = true;  ///< all samples in the result; else only the last, and on_sample sees the others
  bool keeps_models = false;  ///< hand out the final models with the result
  const std::atomic<bool>* stop = nullptr;  ///< becomes true: the run ends early with its results so far

  /// All are called on the thread that called run(). Notes are said before the first client runs.
  std::function<void(const std::string&)> on_note;
  std::function<void(const Progress&)> on_progress;
  std::function<void(const Sample&)> on_sample;
  std::function<void(const FinalModel&)> on_model;  ///< of all clients in their order, unless they are too large to keep

  OwnParts<float> own_float;  ///< looked at with precision = "float32"
  OwnParts<double> own_double;

  /// Makes the clients in another order, with other things in between, so that their memory lies elsewhere. Changes
  /// nothing else: for tests.
  std::uint64_t shuffle_memory = 0;
};

struct Digests {
  std::string model;     ///< SHA-256 of all final models in client order; empty after a dry run
  std::string timeline;  ///< SHA-256 of the clients' step hashes in client order
};

/// How fast a client was asked to compute, and how fast it was, per second of the experiment.
struct Pace {
  double requested = 0;
  double achieved = 0;
  std::uint64_t skipped = 0;  ///< ticks that found the computation before unfinished
};

struct RunResult {
  Digests digests;
  std::string arithmetic;
  unsigned threads = 1;
  std::size_t clients = 0;
  std::size_t dimension = 0;
  std::size_t scalar_bytes = 4;
  bool was_stopped = false;
  double virtual_seconds = 0;
  double wall_seconds = 0;  ///< of the run itself, without reading data
  double math_seconds = 0;
  double evaluation_seconds = 0;
  std::uint64_t events = 0;
  std::uint64_t steps = 0;
  std::uint64_t peak_rss_bytes = 0;
  std::uint64_t peak_payload_bytes = 0;  ///< of messages published and not yet absorbed by all receivers
  MessageCounts messages;
  Traffic traffic;              ///< of all clients
  double cumulated_delay = 0;   ///< of rounds whose links and computations have chances
  std::optional<Energy> energy{};  ///< of all clients, where anything costs anything
  std::uint64_t model_messages = 0;
  std::uint64_t unifications = 0;
  std::uint64_t under_way = 0;  ///< messages on their way at the end
  double staleness_mean = 0;    ///< seconds from sending to absorbing
  double staleness_p95 = 0;
  std::vector<Sample> samples;  ///< in order; numbers per client only in the last
  std::vector<MessageCounts> by_client;
  std::vector<std::size_t> samples_by_client;  ///< training samples
  std::vector<ClassCount> class_counts;        ///< of these, by client and class; empty where there are no classes
  std::vector<LinkCounts> by_link;
  std::vector<std::string> notes;
  std::vector<std::vector<std::byte>> models;  ///< final models, only if asked for
  std::vector<Pace> paces;         ///< by client, of a run in real time
  std::vector<ClientId> absent;    ///< not there at the end: the digests leave them out
  std::optional<ChurnCounts> churn;  ///< where clients come and go
  std::vector<std::string> hosts;  ///< of a run over several: sentences about each
  std::string gathered_by;         ///< the host whose result covers all clients; empty: this one, or there are no hosts
  bool record_was_cut = false;

  /// math_seconds per second of every thread, evaluation excluded from both.
  double efficiency() const;
};

/// A client or the disk failed in the middle of a run.
class RunFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Runs the experiment in virtual time. Throws std::invalid_argument for what is wrong with the experiment, before any
/// client runs, and RunFailed for what goes wrong later.
RunResult run(const config::Experiment& experiment, const RunOptions& options = {});

/// Performs the steps of a run once more, in this process, and returns the digests they lead to. A run in real time over
/// several hosts has a record at each; the digests leave out who was `absent` at its end. Throws RunFailed where the
/// records cannot be read or played.
RunResult replay(const config::Experiment& experiment, const std::vector<std::filesystem::path>& records,
                 const std::vector<ClientId>& absent, const RunOptions& options);
inline RunResult replay(const config::Experiment& experiment, const std::filesystem::path& record, const RunOptions& options) {
  return replay(experiment, std::vector{record}, {}, options);
}

}  // namespace rubato
