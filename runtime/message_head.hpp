// MessageHead: what a message says of itself, wherever it is: under way, at its receiver, between hosts.
#pragma once

#include <compare>
#include <cstdint>

#include "runtime/ids.hpp"
#include "runtime/step.hpp"
#include "runtime/time.hpp"

namespace rubato {

/// Which count of the mass that clients pass on a message belongs to. Ordered; a client that hears of a higher one resets its sums
/// first, and messages of lower ones do not count any more.
struct Epoch {
  std::uint32_t number = 0;
  std::uint32_t initiator = 0;  ///< 1 + the host, or the client of a script, that began it; 0: none, the first
  constexpr auto operator<=>(const Epoch&) const = default;
  constexpr std::uint64_t packed() const { return std::uint64_t{number} << 32 | initiator; }
  static constexpr Epoch unpacked(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word >> 32), static_cast<std::uint32_t>(word)};
  }
};

/// What the tag of a message says in exchanges of pairs: which exchange of the asker it belongs to, counted from 0 and around,
/// which attempt of it, and whether it is the partner's word or the asker's.
struct ExchangeTag {
  static constexpr std::uint32_t exchanges = 1u << 23;  ///< numbers, before they come around
  static constexpr std::uint32_t most_attempts = 256;   ///< of one exchange
  std::uint32_t exchange = 0;                           ///< below `exchanges`
  std::uint32_t attempt = 0;                            ///< below most_attempts
  bool is_reply = false;
  constexpr bool operator==(const ExchangeTag&) const = default;
  constexpr std::uint32_t packed() const { return exchange << 9 | attempt << 1 | static_cast<std::uint32_t>(is_reply); }
  static constexpr ExchangeTag unpacked(std::uint32_t tag) { return {tag >> 9, tag >> 1 & 255, (tag & 1) != 0}; }
};

/// The greatest number of a host's life in a run: records have 16 bits for it.
inline constexpr std::uint32_t last_life = 0xFFFF;

struct MessageHead {
  MessageId id{};
  std::uint32_t tag = 0;  ///< what the sender's protocol sends along
  Epoch epoch{};          ///< of its sender; the first where there are none
  Time sent{};
  MessageKind kind = MessageKind::update;
  Time since{};  ///< when what it is about began, where its protocol says so
};

}  // namespace rubato
