// RunResult: what a run has led to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "algos/algorithm.hpp"
#include "experiment/build/class_count.hpp"
#include "experiment/build/sampling.hpp"
#include "results/sample.hpp"
#include "runtime/counts.hpp"
#include "runtime/world/graph.hpp"

namespace rubato {

/// The model of a client at the end of a run; valid while it is looked at.
struct FinalModel {
  std::size_t clients;               ///< of the run
  std::size_t dimension;             ///< numbers of a model
  std::size_t scalar_bytes;          ///< of one number: 4 or 8
  ClientId client;                   ///< whose model it is
  std::span<const std::byte> bytes;  ///< dimension numbers
};

/// What two runs must agree in to be the same run; docs/architecture.md says when they do.
struct Digests {
  std::string model;     ///< SHA-256 of all final models in client order; empty after a dry run
  std::string timeline;  ///< SHA-256 of the clients' step hashes in client order
};

/// How fast a client was asked to compute, and how fast it was, per second of the experiment.
struct Pace {
  double requested = 0;       ///< computations a second, by its compute timer
  double achieved = 0;        ///< computations a second
  std::uint64_t skipped = 0;  ///< ticks that found the computation before unfinished
};

/// A client whose model is not finite any more.
struct Divergence {
  ClientId client{};   ///< whose model it is
  double seconds = 0;  ///< of the experiment, when that was seen first
};

/// Another host of a run in real time, which was there and then was not.
struct HostAbsence {
  std::string host;            ///< its name
  bool has_left = false;       ///< it said that it leaves; else nothing was heard of it
  double from = 0;             ///< seconds of the experiment, when it was heard last
  std::optional<double> to{};  ///< when it was heard again; nothing: it was not
};

/// How a run was made, when and where.
struct Provenance {
  std::string command;     ///< as it was typed
  std::string started_at;  ///< in UTC, as 2026-11-19T08:03:00Z
  std::string machine;     ///< its name
};

/// What a run has led to: its digests, samples, counts and times.
struct RunResult {
  Digests digests;                             ///< of the whole run
  std::string arithmetic;                      ///< instruction set and libraries: model digests are equal only where it is
  unsigned threads = 1;                        ///< that computed
  std::size_t clients = 0;                     ///< of the run
  std::size_t dimension = 0;                   ///< numbers of a model
  std::size_t scalar_bytes = 4;                ///< of one number: 4 or 8
  bool was_stopped = false;                    ///< before experiment.until
  std::string stopped_by;                      ///< "stop", "stop_when", "metrics.stop" or "metrics.stop_on_nan"; empty: it was not
  double virtual_seconds = 0;                  ///< of the experiment, at the end
  double wall_seconds = 0;                     ///< of the run itself, without reading data
  double math_seconds = 0;                     ///< of all threads: compute, merge, publish, adopt
  std::optional<double> message_seconds{};     ///< of these: publish, merge, adopt; not measured with small models
  double evaluation_seconds = 0;               ///< of all threads: samples
  std::uint64_t events = 0;                    ///< of the timing
  std::uint64_t steps = 0;                     ///< of all clients
  std::uint64_t peak_rss_bytes = 0;            ///< of the process, so far
  std::uint64_t peak_payload_bytes = 0;        ///< of messages published and not yet absorbed by all receivers
  MessageCounts messages;                      ///< of all clients
  Traffic traffic;                             ///< of all clients
  double cumulated_delay = 0;                  ///< of rounds whose links and computations have chances
  std::optional<RoundsSoFar> rounds{};         ///< of a run in rounds, or with a centre
  std::optional<OrderTotals> orders{};         ///< of a centre without rounds, in virtual time
  std::optional<PairTotals> exchanges{};       ///< of clients that meet in pairs; of a host those of its own clients
  std::optional<Energy> energy{};              ///< of all clients, where anything costs anything
  std::uint64_t model_messages = 0;            ///< models of unifications and joins, a receiver each
  std::uint64_t hand_overs = 0;                ///< of these: to clients that began a life
  std::uint64_t models_lost = 0;               ///< of these: did not get through
  std::uint64_t unifications = 0;              ///< that have taken place
  std::uint64_t under_way = 0;                 ///< messages on their way at the end; in real time all without an outcome
  std::uint64_t lost_between_hosts = 0;        ///< real time: without an outcome where a host was lost or links were drained
  std::uint64_t from_lost_hosts = 0;           ///< likewise: outcomes beyond what the known clients have sent
  bool is_of_host = false;                     ///< real time, several hosts: messages are those of host_clients alone
  double staleness_mean = 0;                   ///< seconds from sending to absorbing
  double staleness_p95 = 0;                    ///< 95 % of messages stay below
  std::vector<Sample> samples;                 ///< in order; numbers per client only in the last
  std::vector<MessageCounts> by_client;        ///< in client order
  std::vector<Traffic> traffic_by_client;      ///< likewise; empty where it is not known of all
  std::vector<std::size_t> samples_by_client;  ///< training samples
  std::vector<double> compute_chances;         ///< in client order; empty: a gradient every time
  std::vector<double> link_chances;            ///< by link index, of the links to be up; empty: always
  std::vector<ClassCount> class_counts;        ///< of these, by client and class; empty where there are no classes
  std::vector<std::string> class_names;        ///< own files: the label of each class; else empty
  std::optional<Graph> graph{};                ///< whose links by_link counts; nothing of a replay
  std::vector<LinkCounts> by_link;             ///< by link index, only if asked for
  std::vector<Screened> screened;              ///< links with messages that were left out or compared, by receiver and sender
  std::vector<std::vector<PeerWeight>> collaboration{};  ///< row of each client, where the algorithm has a collaboration matrix
  std::vector<Divergence> diverged;                      ///< in the order of time
  bool all_diverged = false;                             ///< no client that was there at the end has a finite model
  std::optional<double> ran_away_at{};         ///< seconds: the mean loss was first seen far above that of the first sample
  bool runs_away = false;                      ///< it was in the last sample
  std::string silence;                         ///< "nothing happened" or "nothing arrived"; else empty
  std::vector<std::string> notes;              ///< sentences, as handed to RunOptions::on_note
  std::vector<std::vector<std::byte>> models;  ///< final models, only if asked for
  std::vector<Pace> paces;                     ///< by client, of a run in real time
  std::vector<ClientId> absent;                ///< clients that were away at the end: the digests leave them out
  std::optional<ChurnCounts> churn;            ///< where clients come and go
  std::vector<std::string> hosts;              ///< of a run over several: sentences about each
  std::vector<HostAbsence> host_absences;      ///< real time, several hosts: in the order of time, since this host's last start
  std::string host;                            ///< this one, of several; else empty
  std::vector<ClientId> host_clients;          ///< whose clients it has in real time; empty: all
  SamplePlan samples_plan{};                   ///< what is measured, when, and what that was expected to cost
  std::optional<Traffic> forecast{};           ///< of a dry run: what a run would spend, by the usual size of a message
  Provenance origin;                           ///< as the program says
  std::string gathered_by;                     ///< the host whose result covers all clients; empty: this one, or there are no hosts
  bool record_was_cut = false;                 ///< at RunOptions::record_bytes

  /// Seconds of the experiment at which a model was not finite or the losses ran away, whichever was seen first.
  std::optional<double> diverged_at() const {
    if (diverged.empty()) return ran_away_at;
    return ran_away_at ? std::min(*ran_away_at, diverged.front().seconds) : diverged.front().seconds;
  }
  /// math_seconds per second of every thread, evaluation excluded from both.
  double efficiency() const {
    const double available = threads * wall_seconds - evaluation_seconds;
    return available > 0 ? math_seconds / available : 0;
  }
};

/// A client or the disk failed in the middle of a run.
class RunFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace rubato
