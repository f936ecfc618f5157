#include "runtime/pace_watch.hpp"

#include <algorithm>
#include <utility>

namespace rubato {

static constexpr Duration usual = std::chrono::seconds(5), after_word = std::chrono::seconds(60);
static constexpr double most_skipped = 0.05;

void PaceWatch::begin(Duration now, const TickCounts& counts, Duration length, bool is_void) {
  since_ = now, length_ = length, before_ = counts, is_void_ = is_void;
}

std::optional<double> PaceWatch::look(Duration now, const TickCounts& counts) {
  const std::optional<Duration> looked = std::exchange(looked_, now);
  const bool is_late = looked && now - *looked > standstill_;
  const bool was_late = std::exchange(was_late_, is_late);
  if (!looked || (is_late && !was_late)) {
    begin(now, counts, usual, looked.has_value());
    return std::nullopt;
  }
  if (now - since_ < length_) return std::nullopt;
  const auto since_before = [](std::uint64_t after, std::uint64_t before) {
    return static_cast<double>(after - std::min(before, after));
  };
  const double skipped = since_before(counts.skipped, before_.skipped), done = since_before(counts.done, before_.done);
  const bool is_slow = !is_void_ && skipped > most_skipped * (skipped + done);
  begin(now, counts, is_slow ? after_word : usual, false);
  return is_slow ? std::optional(100 * skipped / (skipped + done)) : std::nullopt;
}

}  // namespace rubato
