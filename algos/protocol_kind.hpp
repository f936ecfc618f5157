// ProtocolKind: when clients act, with the file's words (runtime/words.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rubato {

/// What decides when clients act; runtime/protocols has one automaton for each.
enum class ProtocolKind : std::uint8_t { push, rounds, server, token, pull };
constexpr std::string_view word_list(ProtocolKind) { return "push|rounds|server|token|pull"; }
/// Nothing: what suits the algorithm.
constexpr std::string_view word_list(std::optional<ProtocolKind>) { return "auto|push|rounds|server|token|pull"; }

/// The protocols under which an algorithm makes sense; bits.
constexpr std::uint8_t only(ProtocolKind protocol) { return static_cast<std::uint8_t>(1u << static_cast<unsigned>(protocol)); }
/// Either of them.
constexpr std::uint8_t operator|(ProtocolKind a, ProtocolKind b) { return static_cast<std::uint8_t>(only(a) | only(b)); }
/// One more.
constexpr std::uint8_t operator|(std::uint8_t a, ProtocolKind b) { return static_cast<std::uint8_t>(a | only(b)); }

}  // namespace rubato
