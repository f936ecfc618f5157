// Remembers which messages of one link have been seen, as far back as a duplicate can reasonably come.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "runtime/ids.hpp"

namespace rubato {

class DuplicateFilter {
 public:
  static constexpr std::uint32_t window = 1024;

  enum class Verdict : std::uint8_t { fresh, seen, too_old };

  /// Notes the sequence. One that lies more than `window` below the highest cannot be told from a duplicate: too old.
  Verdict add(Sequence sequence) {
    if (sequence + 1 > next_) {
      const std::uint64_t skipped = std::min<std::uint64_t>(sequence + std::uint64_t{1} - next_, window);
      for (std::uint64_t i = 0; i < skipped; ++i) clear(static_cast<std::uint32_t>(sequence - i));
      next_ = sequence + std::uint64_t{1};
    } else if (next_ - sequence > window) {
      return Verdict::too_old;
    }
    std::uint64_t& word = bits_[sequence % window / 64];
    const std::uint64_t bit = std::uint64_t{1} << (sequence % 64);
    const bool is_seen = word & bit;
    word |= bit;
    return is_seen ? Verdict::seen : Verdict::fresh;
  }

 private:
  void clear(std::uint32_t sequence) { bits_[sequence % window / 64] &= ~(std::uint64_t{1} << (sequence % 64)); }

  std::uint64_t next_ = 0;  // one above the highest
  std::array<std::uint64_t, window / 64> bits_{};
};

}  // namespace rubato
