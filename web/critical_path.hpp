// CriticalPath: the chain of computations and messages that the last merge of a run has waited for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/ids.hpp"
#include "runtime/time.hpp"

namespace rubato::web {

/// A piece of the path. Pieces follow each other without a gap from the beginning of the run to its last merge.
struct PathPiece {
  enum class Kind : std::uint8_t {
    work,     ///< the client computes, or its timer runs: it needs nothing of others
    way,      ///< a message of `other` is under way to the client, repetitions included; what was asked for: its request, too
    mailbox,  ///< the message that came last waits to be merged
  };
  Kind kind;
  Time from, to;
  ClientId client;             ///< that works, or receives
  ClientId other = no_client;  ///< that has sent
  bool operator==(const PathPiece&) const = default;
};

/// The word for it in tables and on pages.
const char* word_of(PathPiece::Kind kind);

/// Takes the merges of a run in their order and finds the path backwards: from a merge that had waited to the departure of the
/// message that came last, at its sender, and from there to the last merge for which that client had waited before it sent.
class CriticalPath {
 public:
  /// `asks`: messages are answers, so that their client had asked when it began to wait; the path stays with it.
  CriticalPath(std::size_t clients, bool asks) : waits_(clients), asks_{asks} {}

  /// A step for which its client has waited after its last act of its own: for a message that was sent and arrived then; for a
  /// computation of another client, which is sent and arrives as it ends. `order` and `sent_order` count steps of the run.
  struct Wait {
    Time from, sent, arrived, to;
    ClientId last;      ///< that has sent or computed
    ClientId receiver;  ///< of the message; where all wait for all, perhaps another client than the one that waits
    std::uint64_t order, sent_order;
  };
  void add(ClientId client, const Wait& wait) { waits_[client.value].push_back(wait); }
  /// A merge, whether it has waited or not.
  void merged(ClientId client, Time at, std::uint64_t order) { end_ = {at, client, order}; }

  /// From the beginning of the run; nothing where no client has merged anything.
  std::vector<PathPiece> pieces() const;

 private:
  struct Place {
    Time at{};
    ClientId client = no_client;
    std::uint64_t order = 0;  // steps after this one come too late to be waited for
  };

  std::vector<std::vector<Wait>> waits_;  // by client, in their order
  bool asks_;
  Place end_;
};

}  // namespace rubato::web
