// What an experiment chooses from in the modelled world, with the file's words (words.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rubato {

/// Of the numbers of a tensor; models are of the first two.
enum class Scalar : std::uint8_t { float32, float64, uint32 };
constexpr std::string_view word_list(Scalar) { return "float32|float64"; }

/// How a number is drawn; docs/experiment-file.md lists the parameters of each law.
enum class LawKind : std::uint8_t { constant, exponential, uniform, lognormal, beta, gamma, shifted_exponential, list };
constexpr std::string_view word_list(LawKind) { return "constant|exponential|uniform|lognormal|beta|gamma|shifted_exp|list"; }

/// Whether each client's choice of its nearest keeps its direction, makes an edge, or does so where both have chosen.
enum class Symmetrise : std::uint8_t { none, either, both };
constexpr std::string_view word_list(Symmetrise) { return "none|union|mutual"; }

/// How a graph changes.
enum class ChangeKind : std::uint8_t {
  none,
  edges,    ///< each edge is there with a chance of its own
  clients,  ///< each client is, and with it its edges to others that are
  redraw,   ///< a random kind is drawn anew, connected or not
  steps,    ///< one_peer_exponential: the next step of its sequence
  file      ///< the third number of a line says in which graph the edge is
};
constexpr std::string_view word_list(ChangeKind) { return "none|edges|clients|redraw|steps|file"; }

/// Which clients disturb a receiver, among those nearer to it than the interference radius.
enum class Interferers : std::uint8_t {
  active,  ///< those that transmit when the message leaves
  all,     ///< all of them
  none,
};
constexpr std::string_view word_list(Interferers) { return "active|all_in_radius|none"; }

/// Whose model all take.
enum class HubPolicy : std::uint8_t { round_robin, fixed, random, max_degree, table, best_channel };
constexpr std::string_view word_list(HubPolicy) { return "round_robin|fixed|random|max_degree|table|best_channel"; }

/// How many stars are served in a pair of slots: as many as share no client, or one, so that a single client is on the air in the
/// slot in which centres send.
enum class SlotStars : std::uint8_t { many, one };
constexpr std::string_view word_list(SlotStars) { return "many|one"; }

/// What happens to clients, or to the links between them.
enum class ChurnKind : std::uint8_t { join, leave, crash, restart, pause, go_on, partition, heal };
constexpr std::string_view word_list(ChurnKind) { return "join|leave|crash|restart|pause|go_on|partition|heal"; }

/// What a client begins a life with.
enum class Origin : std::uint8_t {
  neighbour,   ///< its first state with the model of a neighbour that is there; its own where there is none
  start,       ///< its first state
  checkpoint,  ///< the state that was saved last; its first one if nothing was saved
};
constexpr std::string_view word_list(Origin) { return "neighbour|start|checkpoint"; }

/// What becomes of a request that finds its receiver asking another, or at work where exchanges block.
enum class Busy : std::uint8_t { wait, refuse };
constexpr std::string_view word_list(Busy) { return "wait|refuse"; }

/// How both halves of a meeting are made one: the partner knows what will become of its reply, or it counts what it has decided
/// for its asker, and every reply says all of it.
enum class Commit : std::uint8_t { known, counted };
constexpr std::string_view word_list(Commit) { return "known|counted"; }
/// Absent: as suits the clock.
constexpr std::string_view word_list(std::optional<Commit>) { return "auto|known|counted"; }

}  // namespace rubato
