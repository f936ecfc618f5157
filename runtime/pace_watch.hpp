// PaceWatch: whether a host computes as often as its clients' clocks ask for, and when that is to be told.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/time.hpp"

namespace rubato {

/// Compute ticks of all clients of a host, counted up.
struct TickCounts {
  std::uint64_t skipped = 0;  ///< that found the computation before unfinished
  std::uint64_t done = 0;
};

/// Told after some seconds, and once a minute as long as it lasts. Ticks that fell due while the whole process stood still say
/// nothing of its pace.
class PaceWatch {
 public:
  /// A process that did not look for so long stood still; one that looks so late again and again is slow. To be called before
  /// the first tick.
  explicit PaceWatch(Duration standstill) : standstill_{standstill} {}

  /// About once a second. Percent of the ticks of the last seconds that were skipped, if this is too many and to be told.
  std::optional<double> look(Duration now, const TickCounts& counts);

 private:
  void begin(Duration now, const TickCounts& counts, Duration length, bool is_void);

  Duration standstill_;
  std::optional<Duration> looked_;
  Duration since_{}, length_{};
  TickCounts before_;
  bool is_void_ = false;   // it holds ticks of a standstill
  bool was_late_ = false;  // at the last look
};

}  // namespace rubato
