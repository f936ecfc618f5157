// A record as trace.json in the Trace Event Format, which Perfetto and chrome://tracing open.
//
// One second of the experiment is one second of the trace. Every client that does something has a track. On it:
//   compute, publish, merge, adopt   slices of one nanosecond: these steps take no time of the experiment's own
//   arrows                           from the publication of a message to the merge or adoption that absorbed it; none where
//                                    the publication is in the record of another host
//   window                           a slice from the first arrival to the merge; see `window` below
//   drop                             an instant: a message that arrived and was refused or superseded
//   lost                             an instant on the sender's track: a message that its link loses
//   unification                      a slice on the hub's track and an instant across all tracks
//   hand-over                        a slice on the track of a client that gives its model to one that begins a life
// A record has no arrivals: an arrow covers the way and the time in the mailbox together.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "runtime/time.hpp"

namespace rubato::web {

struct TraceSettings {
  std::string experiment;              ///< its name
  std::optional<Duration> window{};    ///< how long windows stay open; absent: not known, and not shown
  std::optional<Duration> deadline{};  ///< drops older than this are called late
  std::uint64_t most_steps = 50'000;
  std::uint64_t most_messages = 100'000;  ///< entries of steps; the trace ends at whichever comes first
};

/// Writes the first steps of a record; "otherData" in the file says how many and whether they are all. Holds one step
/// at a time. Throws std::invalid_argument if the record cannot be read, RunFailed if the disk does not take the trace.
void write_trace(const std::filesystem::path& record, const std::filesystem::path& trace, const TraceSettings& settings);

}  // namespace rubato::web
