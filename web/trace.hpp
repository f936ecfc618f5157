// A record as trace.json in the Trace Event Format, which Perfetto and chrome://tracing open.
//
// One second of the experiment is one second of the trace. Events stand in the order of time. Every client that does something has
// a track, and one for its mailbox. On that of the client:
//   compute, publish, merge, adopt   slices of one nanosecond: these steps take no time of the experiment's own
//   arrows                           from the publication of a message to the merge or adoption that absorbed it; none where
//                                    the publication is in the record of another host
//   drop                             an instant: a message that arrived and was refused or superseded
//   lost                             an instant on the sender's track: a message that its link loses
//   unification                      a slice on the hub's track and an instant across all tracks
//   hand-over                        a slice on the track of a client that gives its model to one that begins a life
// On that of its mailbox:
//   window                           a slice from the first arrival to the merge; see `window` below
// And for all of them:
//   "2 to 3: merged"                 a slice of its own from the publication of a message to its end; also superseded, late,
//   refused under way, accuracy, ...         counters join, crash, partition, ...      instants across all tracks
// A record has no arrivals: an arrow covers the way and the time in the mailbox together.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runtime/time.hpp"

namespace rubato::web {

/// A number at an instant, and something that happens to the run.
struct TraceCounter {
  const char* name;
  Time at;
  double value;
};
struct TraceEvent {
  std::string what;
  Time at;
};

struct TraceSettings {
  std::string experiment;                ///< its name
  std::optional<Duration> window{};      ///< how long windows stay open; absent: not known, and not shown
  std::optional<Duration> deadline{};    ///< drops older than this are called late
  std::vector<TraceCounter> counters{};  ///< of the samples
  std::vector<TraceEvent> events{};      ///< of churn
  std::uint64_t most_steps = 50'000;
  std::uint64_t most_messages = 100'000;  ///< entries of steps; the trace ends at whichever comes first
};

/// Writes the first steps of a record; "otherData" in the file says how many and whether they are all. Throws std::invalid_argument
/// if the record cannot be read, RunFailed if the disk does not take the trace.
void write_trace(const std::filesystem::path& record, const std::filesystem::path& trace, const TraceSettings& settings);

}  // namespace rubato::web
