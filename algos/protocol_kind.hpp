// ProtocolKind: when clients act, with the file's words (runtime/words.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace rubato {

/// What decides when clients act; runtime/protocols has one automaton for each.
enum class ProtocolKind : std::uint8_t { push, rounds, server, token, pull, tree, pair };
constexpr std::string_view word_list(ProtocolKind) { return "push|rounds|server|token|pull|tree|pair"; }
/// Nothing: what suits the algorithm.
constexpr std::string_view word_list(std::optional<ProtocolKind>) { return "auto|push|rounds|server|token|pull|tree|pair"; }

/// All of them.
inline constexpr std::array every_protocol{ProtocolKind::push, ProtocolKind::rounds, ProtocolKind::server, ProtocolKind::token,
                                           ProtocolKind::pull, ProtocolKind::tree,   ProtocolKind::pair};

/// The protocols under which an algorithm makes sense, the usual one first.
class Protocols {
 public:
  /// At least one.
  constexpr Protocols(std::initializer_list<ProtocolKind> protocols) : usual_{*protocols.begin()} {
    for (const ProtocolKind protocol : protocols) bits_ |= 1u << static_cast<unsigned>(protocol);
  }
  /// Whether it is among them.
  constexpr bool has(ProtocolKind protocol) const { return (bits_ >> static_cast<unsigned>(protocol) & 1) != 0; }
  /// That of a file that names none.
  constexpr ProtocolKind usual() const { return usual_; }
  bool operator==(const Protocols&) const = default;

 private:
  ProtocolKind usual_;
  unsigned bits_ = 0;
};

}  // namespace rubato
