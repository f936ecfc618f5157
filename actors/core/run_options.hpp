// RunOptions: how a run is carried out, and what is told of it while it goes on.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "experiment/own_parts.hpp"
#include "results/run_event.hpp"
#include "results/run_result.hpp"

namespace rubato {

class EventObserver;
struct Glance;

/// How far a run has come.
struct Progress {
  double virtual_seconds = 0;      ///< of the experiment
  double wall_seconds = 0;         ///< since the run began
  std::uint64_t events = 0;        ///< of the experiment, so far
  std::optional<double> accuracy;  ///< mean over clients, of the newest finished sample
};

/// How to carry a run out. Nothing in here changes the digests but own parts.
struct RunOptions {
  unsigned threads = 1;            ///< that compute; at least 1
  std::filesystem::path data_dir;  ///< where data sets lie; empty: $RUBATO_DATA, then ./data
  bool dry_run = false;            ///< walk the timing only
  bool checks = false;             ///< watch the invariants; a broken one ends the run (RunFailed)
  std::filesystem::path record;    ///< write the steps here; empty: nowhere
  std::uint64_t record_bytes = 0;  ///< stop recording after about this many bytes; 0: never
  /// Virtual time: the folder for a checkpoint every experiment.checkpoint_every; empty: none are written.
  std::filesystem::path checkpoints;
  /// Virtual time: the checkpoint to go on from (one of the files in `checkpoints`); empty: from the beginning. What is handed out
  /// then begins there; the record has everything.
  std::filesystem::path resume_from;
  std::filesystem::path samples_file;       ///< what on_sample appends to, if anything: checkpoints note how far it was
  bool counts_links = false;                ///< RunResult::by_link is filled
  bool keeps_samples = true;                ///< all samples in the result; else only the last, and on_sample sees the others
  bool keeps_models = false;                ///< hand out the final models with the result
  const std::atomic<bool>* stop = nullptr;  ///< becomes true: the run ends early with its results so far
  /// Real seconds without the end of a round after which on_note says what the next one waits for, and again after as many; 0:
  /// never.
  double says_waiting_after = 60;

  /// All are called on the thread that called run(). Notes are said before the first client runs.
  std::function<void(const std::string&)> on_note;
  std::function<void(const Progress&)> on_progress;  ///< some times a second
  std::function<void(const Sample&)> on_sample;      ///< in the order of the samples
  std::function<void(const Glance&)> on_glance;      ///< after wants_glance has said yes
  std::function<void(const FinalModel&)> on_model;   ///< of all clients in their order, unless they are too large to keep
  /// Asked about every sample, in their order and after on_sample, on the same thread: true ends the run. In virtual time
  /// nothing happens after the sample's instant before the answer is there, so the run ends at that instant, with the same
  /// digests on any number of threads. In real time the run ends soon after. A run over several hosts refuses it.
  std::function<bool(const Sample&)> stop_when;

  /// Asked some times a second: true asks for on_glance, which costs a look at every client.
  std::function<bool()> wants_glance;
  /// Outlives the run and sees, one at a time, on whatever thread: without `checks` every event of a virtual run in one process; in
  /// real time what clients of this host compute, send, are handed and merge.
  EventObserver* observer = nullptr;

  OwnParts<float> own_float;    ///< looked at with precision = "float32"
  OwnParts<double> own_double;  ///< looked at with precision = "float64"

  /// Makes the clients in another order, with other things in between, so that their memory lies elsewhere. Changes
  /// nothing else: for tests.
  std::uint64_t shuffle_memory = 0;
};

/// What a host of a run is told beside the experiment.
struct HostOptions {
  std::uint64_t life = 0;         ///< grows with every start of this host
  std::filesystem::path folder;   ///< real time: where its checkpoints are kept; empty: nowhere
  bool has_earlier_life = false;  ///< real time: goes on with the record, and with a checkpoint if there is one
  /// Real time: once the others have been met and do not refuse this host, and before anything is written to its folder.
  std::function<void()> on_admitted;
  /// Real time, after an earlier life: what is known of it. Returns its events, of which neither record nor checkpoints know.
  std::function<std::uint64_t(const Sample& known)> on_recalled;
  OnEvent on_event;  ///< which host is met, lost, back or waited for, and what becomes of the run
  /// Real time: the others are asked about once a second how their clients are, for on_status to say.
  bool asks_for_views = false;
  /// Real time: about once a second while run_host() goes on, on a thread of its own.
  std::function<void(const HostStatus&)> on_status;
};

}  // namespace rubato
