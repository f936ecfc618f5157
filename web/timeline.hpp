// What the report shows of a record: what clients did in the first seconds, and how stale the absorbed messages were.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <vector>

#include "runtime/record.hpp"
#include "runtime/step.hpp"

namespace rubato::web {

/// Opens a record. Throws std::invalid_argument if the file is missing or no record.
RecordReader open_record(const std::filesystem::path& file);

/// When the window of a merge was opened by its first arrival. A record has no arrivals; but under the protocol `push`
/// a window closes exactly `window` after it opened.
Time opening_of(const Step& merge, Duration window);

struct TimelineLimits {
  std::uint32_t clients = 25;        ///< the first so many are shown
  std::size_t marks = 500;           ///< the picture ends when their steps are about so many
  std::uint64_t steps = 2'000'000;   ///< no more are read
  double seconds = 0;                ///< of the run, for the staleness in the course of time; 0: that is left out
  std::size_t slices = 100;          ///< of that course
  std::optional<Duration> window{};  ///< of the mailboxes; absent: windows cannot be told from the record
};

struct Timeline {
  struct Mark {
    double at;  ///< seconds
    std::uint32_t client, other;
  };
  /// A message: from its departure to the step that absorbed it. A window: from its first arrival to the merge.
  struct Stretch {
    double from, to;
    std::uint32_t sender, receiver;
  };
  struct Staleness {
    std::uint64_t messages = 0;
    double sum = 0, largest = 0;  ///< seconds
  };

  std::uint32_t clients = 0;  ///< shown
  double end = 0;             ///< of the picture, in seconds
  std::vector<Mark> computations, publications, drops, losses, unifications, hand_overs;
  std::vector<Stretch> messages, windows;

  /// By bin: the k-th holds the ages from 2^(k/4) to 2^((k+1)/4) nanoseconds; -1 holds the age 0.
  std::map<int, std::uint64_t> ages;
  std::vector<Staleness> course;  ///< by equal parts of the run

  std::uint64_t steps = 0;     ///< read
  bool was_read_whole = true;  ///< else the limit of steps was reached
  bool is_incomplete = false;  ///< the record was cut at its limit or is damaged at its end
};

/// Throws std::invalid_argument if the file is missing or no record; a torn end is only reported.
Timeline read_timeline(const std::filesystem::path& record, const TimelineLimits& limits);

}  // namespace rubato::web
