// Churn: which clients come, go and are cut off, and when: scripts and random absences, spelt out client by client.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/choices.hpp"
#include "runtime/ids.hpp"
#include "runtime/law.hpp"
#include "runtime/step.hpp"
#include "runtime/time.hpp"

namespace rubato {

/// One line of a script.
struct ChurnLine {
  using What = ChurnKind;
  Time at{};
  What what = What::leave;
  std::vector<ClientId> clients{};              ///< not of partition and heal
  std::vector<std::vector<ClientId>> groups{};  ///< of partition; clients in none of them form one more
  Origin from = Origin::neighbour;              ///< join, restart
  std::string name{};                           ///< what a complaint calls the line
};

/// Clients that are there and away in turn.
struct AbsenceLaw {
  std::vector<ClientId> clients;
  ChurnLine::What away = ChurnLine::What::pause;  ///< leave, crash or pause
  Origin from = Origin::neighbour;
  Law up{}, down{};                        ///< seconds there, seconds away
  std::vector<std::vector<Time>> trace{};  ///< by client of the run: goes, comes back, goes, ...; instead of the laws
  Time until{};                            ///< all clients are back at this instant at the latest
  std::string name{};
};

/// The absences as lines of a script; `which` tells several laws of one run apart.
std::vector<ChurnLine> draw_absences(const AbsenceLaw& law, std::uint64_t seed, std::uint32_t which);

/// Numbers of the states that a plan saves begin above it, those of other checkpoints stay below.
inline constexpr std::uint64_t first_churn_state = std::uint64_t{1} << 32;

/// What happens to one client, or to all links: partition, heal. At one instant in the order of the kinds, then of the
/// clients.
struct ChurnEvent {
  enum class Kind : std::uint8_t {
    save,       ///< the client keeps its state
    heal,       ///< messages pass between all clients again
    partition,  ///< messages between the groups are lost
    leave,      ///< the client goes, and says so
    crash,      ///< the client goes
    notice,     ///< the others notice its crash
    pause,      ///< its timers stop; its mailbox goes on
    go_on,      ///< its timers go on
    come,       ///< it begins a life
  };
  Time at{};
  Kind kind = Kind::save;
  ClientId client{};
  Origin from = Origin::start;  ///< come
  std::uint64_t number = 0;     ///< save, come from a checkpoint: of the state, 0 the first; partition: which of the plan
  std::uint32_t epoch = 0;      ///< leave, notice, come: the number of the epoch that begins where mass is passed on
  std::uint32_t life = 0;       ///< come: which of the client's lives begins, from 0
  bool operator==(const ChurnEvent&) const = default;

  bool is_of_links() const { return kind == Kind::heal || kind == Kind::partition; }
  /// The neighbours learn whether the client is there, and where mass is passed on an epoch begins.
  bool is_announced() const { return kind == Kind::leave || kind == Kind::notice || kind == Kind::come; }
};

/// Epochs of a plan lie so far apart: hosts of a run in real time begin others between them.
inline constexpr std::uint32_t epochs_apart = 256;

/// The numbers of models that are handed to clients that begin a life; those of unifications count from 1.
inline constexpr Sequence first_fetched_model = 0x8000'0000;
/// Such a model is handed over to a client that begins a life; others are of unifications.
constexpr bool is_hand_over(const Step& step) { return step.message == MessageKind::model && step.index >= first_fetched_model; }
constexpr Sequence fetched_model(const ChurnEvent& come) { return first_fetched_model + come.epoch / epochs_apart; }

struct ChurnTimes {
  Duration notice{};            ///< from a crash until the others notice it
  Duration checkpoint_every{};  ///< 0: never
};

/// A script, checked and spelt out. Immutable; all hosts of a run have the same.
class ChurnPlan {
 public:
  /// No churn.
  ChurnPlan() = default;
  /// Throws std::invalid_argument with a sentence for each line that contradicts those before it.
  ChurnPlan(std::size_t clients, std::span<const ChurnLine> lines, const ChurnTimes& times);

  /// In their order. Of the states that are due to be saved only those with which a client comes back.
  const std::vector<ChurnEvent>& events() const { return events_; }
  bool is_empty() const { return events_.empty(); }
  std::size_t clients() const { return begins_here_.size(); }
  /// False: it joins later.
  bool begins_here(ClientId client) const { return begins_here_[client.value]; }
  /// It will need the state it began with.
  bool needs_first_state(ClientId client) const { return needs_first_state_[client.value]; }
  /// The group of the client in the plan's `number`-th partition.
  std::uint32_t group(std::uint64_t number, ClientId client) const { return groups_[number][client.value]; }

 private:
  std::vector<ChurnEvent> events_;
  std::vector<bool> begins_here_, needs_first_state_;
  std::vector<std::vector<std::uint32_t>> groups_;  // by partition and client
};

}  // namespace rubato
