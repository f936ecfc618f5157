// RunEvent: what an operator is to know of a run over several hosts, as it happens; HostStatus: how a host is now.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "results/sample.hpp"
#include "runtime/counts.hpp"

namespace rubato {

/// How much an event matters, the most first.
enum class EventLevel : std::uint8_t { error, warn, info, debug };

/// Something that has happened to a host of a run.
struct RunEvent {
  /// Of a field.
  using Value = std::variant<std::string, double, std::uint64_t, std::vector<std::string>>;

  EventLevel level = EventLevel::info;                     ///< how much it matters
  std::string event;                                       ///< a word of docs/many-hosts.md
  std::string host;                                        ///< that it happened to; empty: the one that tells it
  std::vector<std::pair<std::string, Value>> fields = {};  ///< what there is to say about it
};

/// Hears of events; on any thread, and on several at a time.
using OnEvent = std::function<void(const RunEvent&)>;

/// What a host of a run in real time is at.
enum class HostState : std::uint8_t { meeting, running, gathering, scoring };

/// On the test rows, shares in [0, 1], of the measured clients of a host.
struct HostAccuracy {
  double mean = 0;    ///< over them
  double worst = 0;   ///< the lowest
  ClientId client{};  ///< whose that is, the first of them

  /// Writes all of it, or reads it back; throws BadArchive.
  void archive(Archive& archive) { archive(mean, worst, client); }
};

/// The newest sample of a host that is scored.
struct HostScores {
  double seconds = 0;                      ///< of the experiment, when it was taken
  std::uint64_t measured = 0;              ///< clients
  double loss = 0;                         ///< mean over them; any number, where they diverge
  std::optional<HostAccuracy> accuracy{};  ///< of classifiers

  /// Writes all of it, or reads it back; throws BadArchive.
  void archive(Archive& archive) { archive(seconds, measured, loss, accuracy); }
};

/// How the clients of one host of a run in real time are, as far as other hosts are told.
struct HostView {
  double seconds = 0;                  ///< of the experiment: where its clock is
  std::uint64_t computations = 0;      ///< of its clients, like the next two; not older than a few seconds unless they are busy
  std::uint64_t sent = 0;              ///< messages
  std::uint64_t delivered = 0;         ///< messages that were kept
  std::optional<HostScores> scores{};  ///< none: no sample is scored yet

  /// Writes all of it, or reads it back; throws BadArchive.
  void archive(Archive& archive) { archive(seconds, computations, sent, delivered, scores); }
};

/// Another host, as one host knows it.
struct PeerStatus {
  std::string name;                      ///< in the roster
  std::string state;                     ///< "present", "lost", "refused", "never met", or as it has left: "stopped", "complete"
  std::string refusal{};                 ///< why it is refused
  std::optional<double> silent{};        ///< real seconds since it was heard
  std::optional<double> clock_offset{};  ///< seconds that its monotonic clock is ahead
  std::optional<double> clock_error{};   ///< seconds, of the offset
  std::uint64_t life = 0;                ///< its lives in the run so far; 0: none is known
  std::size_t clients = 0;               ///< that it plays
  std::optional<HostView> view{};        ///< what it has told last, in whatever life; hosts that are not asked tell nothing
  double view_age = 0;                   ///< real seconds since that came
};

/// A checkpoint of a host, on its disk.
struct CheckpointInfo {
  std::uint64_t number = 0;  ///< counts up
  double seconds = 0;        ///< of the experiment, when it was made
};

/// A host of a run in real time, at one instant.
struct HostStatus {
  HostState state = HostState::meeting;   ///< what it is at
  double seconds = 0;                     ///< of the experiment
  std::uint64_t life = 0;                 ///< its own in the run so far, from 1; 0: it has not begun
  std::optional<CheckpointInfo> saved{};  ///< the newest checkpoint
  std::vector<PeerStatus> peers{};        ///< the other hosts, in the order of the roster
  std::size_t clients = 0;                ///< of this host
  MessageCounts counts;                   ///< of these clients, not older than a few seconds unless they are busy
  std::uint64_t skipped = 0;              ///< compute ticks that found the computation before unfinished
  std::optional<HostScores> scores{};     ///< of these clients, of the newest finished sample
};

/// Of a sample of a host's own clients.
inline HostScores scores_of(const Sample& sample) {
  HostScores scores{.seconds = to_seconds(sample.header.at), .measured = sample.header.clients, .loss = sample.loss_mean};
  if (sample.is_classified && sample.worst)
    scores.accuracy = HostAccuracy{sample.accuracy_mean, sample.accuracy_min, *sample.worst};
  return scores;
}

/// What other hosts are told of it.
inline HostView view_of(const HostStatus& status) {
  return {status.seconds, status.counts.computations, status.counts.sent, status.counts.kept, status.scores};
}

}  // namespace rubato
