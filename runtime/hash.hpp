// A running 128-bit hash of one client's steps: fast, not cryptographic, the same on every machine.
#pragma once

#include <bit>
#include <cstdint>

#include "runtime/step.hpp"

namespace rubato {

class StepHash {
 public:
  StepHash() = default;
  /// As low() and high() have told it.
  StepHash(std::uint64_t low, std::uint64_t high) : low_{low}, high_{high} {}

  void add(const Step& step) {
    word(static_cast<std::uint64_t>(step.kind) | static_cast<std::uint64_t>(step.message) << 8 |
         static_cast<std::uint64_t>(step.with_gradient) << 16 | static_cast<std::uint64_t>(step.keeps) << 17 |
         static_cast<std::uint64_t>(step.phase) << 24 | static_cast<std::uint64_t>(step.entries.size()) << 32);
    word(step.index);
    word(static_cast<std::uint64_t>(step.at.time_since_epoch().count()));
    for (const StepEntry& entry : step.entries) {
      word(static_cast<std::uint64_t>(entry.peer.value) << 32 | entry.sequence);
      word(static_cast<std::uint64_t>(entry.age.count()) ^ static_cast<std::uint64_t>(entry.incarnation) << 48 ^
           static_cast<std::uint64_t>(entry.lost) << 63 ^ static_cast<std::uint64_t>(entry.copies) << 40);
      word(std::bit_cast<std::uint64_t>(entry.weight));
    }
  }

  std::uint64_t low() const { return low_; }
  std::uint64_t high() const { return high_; }

 private:
  __extension__ using Wide = unsigned __int128;

  void word(std::uint64_t value) {
    const Wide product = static_cast<Wide>(low_ ^ value) * 0x9E37'79B9'7F4A'7C15 + high_;
    low_ = static_cast<std::uint64_t>(product) ^ std::rotl(high_, 29);
    high_ = static_cast<std::uint64_t>(product >> 64) + value * 0xD6E8'FEB8'6659'FD93;
  }

  std::uint64_t low_ = 0x243F'6A88'85A3'08D3;
  std::uint64_t high_ = 0x1319'8A2E'0370'7344;
};

}  // namespace rubato
