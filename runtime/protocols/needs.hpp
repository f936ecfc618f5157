// What an algorithm needs from its protocol. Data, so that no protocol asks for an algorithm's name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rubato {

/// Which messages of a window are handed over. Newest ones come one per sender, senders ascending.
enum class Keep : std::uint8_t {
  all,          ///< every message counts, in order of arrival: increments
  newest,       ///< the newest of each sender in this window: states
  newest_ever,  ///< the same, and nothing older than what was handed over before: cumulative counters
};

enum class AbsorbAt : std::uint8_t {
  window,   ///< at the close of the superposition window
  compute,  ///< right before a computation: the newest of each sender since the last time
};

/// What becomes of a round's shares of links, where a law says with which chance each of them is up.
struct Sporadic {
  bool computes = false;  ///< a client computes a gradient in a round with its own chance
  bool links = false;     ///< a link is used in an exchange with its own chance
};

enum class PhaseKind : std::uint8_t {
  begin,     ///< everybody fixes the model that the coming computation starts from
  compute,   ///< everybody computes, `repeat` times; the slowest sets the pace
  exchange,  ///< everybody publishes, all messages arrive, everybody merges
};

/// One part of a round. It happens in the rounds r >= first with offset <= r % every < offset + span.
struct Phase {
  PhaseKind kind = PhaseKind::compute;
  std::uint8_t number = 0;  ///< handed to the algorithm with every step of the phase
  std::uint32_t repeat = 1;
  std::uint32_t every = 1;
  std::uint32_t offset = 0;
  std::uint64_t first = 0;
  std::uint32_t span = 1;

  constexpr bool happens_in(std::uint64_t round) const {
    return round >= first && round % every >= offset && round % every - offset < span;
  }
};

/// A few phases, one after the other.
class PhaseList {
 public:
  static constexpr std::size_t most = 40;
  constexpr PhaseList() = default;
  template <class... More>
  constexpr PhaseList(Phase first, More... more) : phases_{first, more...}, count_{1 + sizeof...(more)} {}

  constexpr std::size_t size() const { return count_; }
  constexpr const Phase& operator[](std::size_t i) const { return phases_[i]; }
  constexpr void add(const Phase& phase) { phases_[count_++] = phase; }

 private:
  std::array<Phase, most> phases_{};
  std::size_t count_ = 0;
};

/// A synchronous algorithm: what everybody does once at the start, and in every round.
struct RoundProgram {
  PhaseList opening{};
  PhaseList round{Phase{PhaseKind::compute}, Phase{PhaseKind::exchange}};
};

/// The links of an exchange that are used, where it is not simply all of them.
struct Fanout {
  double share = 1;  ///< of a client's neighbours, rounded up
  bool chosen_by_receiver = false;
};

/// A number k of each client: listed, or drawn once between two bounds.
struct Every {
  std::vector<std::uint32_t> list{};
  std::uint32_t low = 1, high = 1;
};

struct Needs {
  bool sends = true;                   ///< false: the algorithm has nothing to say to anybody
  bool opens_with_compute = false;     ///< a first computation at the very start, before any tick
  bool send_only_if_computed = false;  ///< a transmit tick without a computation since the last one sends nothing
  std::uint32_t send_every = 1;        ///< coupled transmissions: after every this many computations,
  std::uint32_t send_times = 1;        ///< this many times
  bool asks_before_sending = false;    ///< the client decides at every transmit tick whether it sends (state dependent)
  Keep keep = Keep::all;
  AbsorbAt absorb = AbsorbAt::window;
  Every asks_every{};                 ///< absorbs at every k-th computation, or asks its senders in every k-th round
  bool in_order = false;              ///< messages of a link only in their order; on a gap the sender resends its state
  bool fixes_model_at_start = false;  ///< a begin step precedes each computation (snapshot at_start)
  bool acknowledgements = false;      ///< what nobody has acknowledged by the deadline is reclaimed
  bool weights_by_batch = false;      ///< a message weighs 1 / (messages in the window), whatever its link
  Sporadic sporadic{};
  Fanout fanout{};
  RoundProgram program{};
};

}  // namespace rubato
