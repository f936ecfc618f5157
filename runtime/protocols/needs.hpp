// What an algorithm needs from its protocol. Data, so that no protocol asks for an algorithm's name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/time.hpp"

namespace rubato {

/// Which messages of a window are handed over. Newest ones come one per sender, senders ascending.
enum class Keep : std::uint8_t {
  all,          ///< every message counts, in order of arrival: increments
  newest,       ///< the newest of each sender in this window: states
  newest_ever,  ///< the same, and nothing older than what was handed over before: cumulative counters
};

/// What the weights of messages must satisfy, and what they are unless the file says otherwise.
enum class Weights : std::uint8_t {
  none,        ///< every message weighs 1
  neighbours,  ///< rows sum to one over senders, without self: draco_row
  row,         ///< rows sum to one: uniform_row
  column,      ///< columns sum to one: uniform_column
  doubly,      ///< symmetric, both: metropolis
  averaging,   ///< 1/m everywhere: a complete graph
};

/// When an algorithm merges what has arrived.
enum class AbsorbAt : std::uint8_t {
  window,   ///< at the close of the superposition window
  compute,  ///< right before a computation: the newest of each sender since the last time
};

/// What becomes of a round's shares of links, where a law says with which chance each of them is up.
struct Sporadic {
  bool computes = false;  ///< a client computes a gradient in a round with its own chance
  bool links = false;     ///< a link is used in an exchange with its own chance
};

/// What all clients do in one part of a round.
enum class PhaseKind : std::uint8_t {
  begin,     ///< each client fixes the model that its coming computation starts from
  compute,   ///< each client computes, `repeat` times; the slowest sets the pace
  exchange,  ///< each client publishes, all messages arrive, each client merges
};

/// One part of a round. It happens in the rounds r >= first with offset <= r % every < offset + span.
struct Phase {
  PhaseKind kind = PhaseKind::compute;  ///< what happens in it
  std::uint8_t number = 0;              ///< handed to the algorithm with every step of the phase
  std::uint32_t repeat = 1;             ///< computations; at least 1
  std::uint32_t every = 1;              ///< the length of its cycle in rounds; at least 1
  std::uint32_t offset = 0;             ///< the first round of a cycle that has it; below every
  std::uint64_t first = 0;              ///< the first round that may have it
  std::uint32_t span = 1;               ///< so many rounds of a cycle, one after the other, have it

  /// Whether this round, counted from 0, has the phase.
  constexpr bool happens_in(std::uint64_t round) const {
    return round >= first && round % every >= offset && round % every - offset < span;
  }
};

/// A few phases, one after the other.
class PhaseList {
 public:
  static constexpr std::size_t most = 40;  ///< phases
  /// No phases.
  constexpr PhaseList() = default;
  /// These, in their order; at most `most`.
  template <class... More>
  constexpr PhaseList(Phase first, More... more) : phases_{first, more...}, count_{1 + sizeof...(more)} {}

  /// How many there are.
  constexpr std::size_t size() const { return count_; }
  /// The i-th, i < size().
  constexpr const Phase& operator[](std::size_t i) const { return phases_[i]; }
  /// One more at the end; there are fewer than `most`.
  constexpr void add(const Phase& phase) { phases_[count_++] = phase; }

 private:
  std::array<Phase, most> phases_{};
  std::size_t count_ = 0;
};

/// A synchronous algorithm: what each client does once at the start, and in every round.
struct RoundProgram {
  PhaseList opening{};                                                     ///< once, before the first round
  PhaseList round{Phase{PhaseKind::compute}, Phase{PhaseKind::exchange}};  ///< in every round
};

/// The same round whose exchanges happen in the last of every `every` rounds alone.
constexpr PhaseList with_period(const PhaseList& round, std::uint32_t every) {
  PhaseList changed;
  for (std::size_t i = 0; i < round.size(); ++i) {
    Phase phase = round[i];
    if (phase.kind == PhaseKind::exchange) phase.every = every, phase.offset = every - 1;
    changed.add(phase);
  }
  return changed;
}

/// Which clients are stars in a pair of exchanges: a star hears the peers that it draws, and then tells those.
enum class Stars : std::uint8_t { none, one, all };

/// The links of an exchange that are used, where it is not simply all of them.
struct Fanout {
  double share = 1;                 ///< of a client's neighbours, rounded up
  std::vector<double> shares{};     ///< by client; empty: `share` of all
  bool chosen_by_receiver = false;  ///< a receiver draws its senders; else a sender draws its receivers
  bool in_pairs = false;      ///< no client draws: two neighbours meet, both ways, with the mean of their shares as the chance
  Stars stars = Stars::none;  ///< one, drawn anew: the others neither draw nor tell
  std::uint32_t late = 0;     ///< a period of k ends with its exchange for late = 1, and begins with it for 0

  /// That of the client.
  double share_for(std::size_t client) const { return shares.empty() ? share : shares.at(client); }
};

/// What an exchange in which not all take part leaves out ([protocol] participation), so that what the algorithm conserves or
/// remembers stays right.
enum class Partial : std::uint8_t {
  none,       ///< an exchange is whole
  receivers,  ///< a client draws its senders: rows of weights still sum to one, the rest is the own model's
  senders,    ///< a client draws its receivers: what it does not give away it keeps
  pairs,      ///< a link and its reverse: weights stay symmetric, and means are kept
  clients,    ///< a client tells all neighbours or none: all of them believe the same of it
};

/// A number k of each client: listed, or drawn once between two bounds.
struct Every {
  std::vector<std::uint32_t> list{};  ///< one for each client; empty: drawn
  std::uint32_t low = 1;              ///< the smallest that is drawn; at least 1
  std::uint32_t high = 1;             ///< the greatest that is drawn
};

/// The phase of steps in which an asker publishes its request and the partner merges it.
inline constexpr std::uint8_t pair_request = 0;
/// In which the partner publishes its reply and the asker merges it.
inline constexpr std::uint8_t pair_reply = 1;
/// Of the merge step, without a message, of a client that has met none.
inline constexpr std::uint8_t pair_alone = 2;
/// In which the asker publishes a further attempt.
inline constexpr std::uint8_t pair_request_again = 3;

/// How exchanges in pairs go with the computations of a client.
struct Pairing {
  bool in_batches = false;      ///< an exchange follows each batch of computations, whatever the transmit timer
  bool blocks = false;          ///< a client rests after a batch until it has met another, or has met none
  bool acts_alone = false;      ///< a client that met none has a merge step of its own
  bool in_increments = true;    ///< what a partner decides for an asker adds up, and may come later
  std::vector<double> steps{};  ///< computations of a batch, by client or one for all; empty: 1
  bool draws_steps = false;     ///< so many in the mean, drawn for each batch
};

/// Which answers are one update of the centre's model.
enum class Gather : std::uint8_t {
  each,      ///< every answer is one
  count,     ///< so many answers
  harmonic,  ///< answers of every worker, as many as the harmonic mean of their counts asks for
  table,     ///< rounds of two phases: a row a worker, then an update by each worker (Ringleader)
  round,     ///< of all workers that the round has selected (DiLoCo)
};

/// Which workers get the model next.
enum class HandOut : std::uint8_t {
  answerer,   ///< the worker that has answered, at once
  at_update,  ///< likewise, but it waits for the next version
  all,        ///< all workers at every update, and what they are at is cancelled
};

/// What a model finds at a worker that is at work.
enum class Arriving : std::uint8_t {
  cancel,  ///< the work is dropped where the message says so
  newest,  ///< the work is finished first; of the models that wait the newest stays
  queue,   ///< the work is finished first, and then that of all models that wait
};
constexpr std::string_view word_list(Arriving) { return "cancel|newest|queue"; }

/// The rule of one centre. "version" counts the updates; the delay of an answer is the versions since that of its model.
struct AnswerRule {
  /// No answer is too old.
  static constexpr std::uint64_t any_delay = std::numeric_limits<std::uint64_t>::max();

  Gather gather = Gather::each;              ///< which answers are an update
  std::uint32_t count = 1;                   ///< of Gather::count; at least 1
  double gradients = 1;                      ///< of Gather::harmonic: so many of workers that are equally fast; > 0
  std::uint64_t greatest_delay = any_delay;  ///< older answers are ignored
  HandOut hand_out = HandOut::answerer;      ///< which workers get the model after an answer
  bool stops = false;                        ///< after an update work that has got older than the greatest delay is cancelled
  bool draws_next = false;                   ///< instead of the answerer a worker that is drawn
  bool keeps_going = false;                  ///< a worker that has answered works on at the same model
  Arriving arriving = Arriving::cancel;      ///< a model at a worker that is at work
  bool centre_works = false;                 ///< the centre is a worker, too; its own models and answers need no message
  Duration patience = Duration::max();       ///< an order that is not answered by then is given up; of a round: its end
};

/// Phases of the merge steps of such a centre and its workers.
namespace at_work {
/// A worker begins at the model of the message, or, without one, the centre at its own.
inline constexpr std::uint8_t begins = 0;
/// The centre takes the message's answer, or, without one, its own, into what it sums up. The step's index is the delay.
inline constexpr std::uint8_t collects = 1;
/// The same into the table of the round after this.
inline constexpr std::uint8_t collects_for_next = 2;
/// Then the model is updated with all that was collected.
inline constexpr std::uint8_t updates = 4;
/// Then the table of the next round takes the place of this one's.
inline constexpr std::uint8_t ends_round = 8;
/// A centre that works keeps its model for a later job of its own.
inline constexpr std::uint8_t keeps_own = 16;
/// It begins at the oldest that it has kept.
inline constexpr std::uint8_t begins_kept = 17;
/// It forgets them all.
inline constexpr std::uint8_t forgets_kept = 18;
}  // namespace at_work

/// Phase of a publish step of the centre: its model.
inline constexpr std::uint8_t hands_out = 0;
/// Phase of a publish step of a worker: its answer.
inline constexpr std::uint8_t hands_in = 1;

/// What the nodes of a tree do between two points.
enum class TreeKind : std::uint8_t {
  minibatch,  ///< one gradient each; a node sends when its own and those of all children are there
  fragile,    ///< gradients on and on; a node sends what it has as soon as its link is free
  amelie,     ///< gradients on and on; counters go up until the pivot collects
};

/// The rule of one tree.
struct TreeRule {
  TreeKind kind = TreeKind::minibatch;  ///< what nodes do
  double gradients = 1;                 ///< S: that a step of the pivot waits for; > 0
};

/// Phases of the merge steps of a tree's nodes, in the order in which one step does them.
namespace in_tree {
inline constexpr std::uint8_t forgets = 1;      ///< the sum is emptied
inline constexpr std::uint8_t takes_point = 2;  ///< the message is the next point
inline constexpr std::uint8_t adds = 4;         ///< the message is a child's sum
inline constexpr std::uint8_t freezes = 8;      ///< the node's own sum becomes its mean
inline constexpr std::uint8_t moves = 16;       ///< the pivot steps, and its sum is emptied
/// Of a compute step: nothing becomes of the gradient.
inline constexpr std::uint8_t in_vain = 1;
}  // namespace in_tree

/// Phase of a publish step of a node: the point.
inline constexpr std::uint8_t point_down = 0;
/// The same: what it has summed up.
inline constexpr std::uint8_t sum_up = 1;

/// All that an algorithm asks of its protocol; the defaults are those of gossip.
struct Needs {
  bool sends = true;                   ///< false: the algorithm publishes nothing
  bool opens_with_compute = false;     ///< a first computation at the very start, before any tick
  bool send_only_if_computed = false;  ///< a transmit tick without a computation since the last one sends nothing
  bool sends_at_compute = false;       ///< a message leaves with each computation, and at no other time
  std::uint32_t send_every = 1;        ///< coupled transmissions: after every this many computations,
  std::uint32_t send_times = 1;        ///< this many times
  bool asks_before_sending = false;    ///< the client decides at every transmit tick whether it sends (state dependent)
  /// A computation is left out while the client has heard of fewer than its own less so many of any sender's; none: it never is.
  std::optional<std::uint64_t> most_ahead{};
  Keep keep = Keep::all;                ///< which messages of a window are merged
  AbsorbAt absorb = AbsorbAt::window;   ///< when they are merged
  bool may_pause = false;               ///< rounds without exchanges make sense: their mixing matrix is the identity
  Partial partial = Partial::none;      ///< what may be left out of an exchange in rounds
  Every asks_every{};                   ///< absorbs at every k-th computation, or asks its senders in every k-th round
  bool knows_weights = false;           ///< a client is told the weights of its senders
  bool in_order = false;                ///< messages of a link only in their order; on a gap the sender resends its state
  bool fixes_model_at_start = false;    ///< a begin step precedes each computation (snapshot at_start)
  bool acknowledgements = false;        ///< what no receiver has acknowledged by the deadline is reclaimed
  bool weights_by_batch = false;        ///< a message weighs 1 / (messages in the window), whatever its link
  Sporadic sporadic{};                  ///< what happens by chance
  Fanout fanout{};                      ///< which links of an exchange are used
  Pairing pairing{};                    ///< exchanges in pairs
  bool draws_leaders = false;           ///< the leader of every turn is drawn; else they come one after the other
  RoundProgram program{};               ///< what happens in a round; push does not look at it
  std::optional<AnswerRule> answers{};  ///< a centre without rounds, which handles every answer by itself
  TreeRule tree{};                      ///< of nodes of a tree
};

}  // namespace rubato
