// What the links between clients do to a message: when it arrives, or that it is lost.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/ids.hpp"
#include "runtime/law.hpp"
#include "runtime/step.hpp"
#include "runtime/time.hpp"
#include "runtime/world/graph.hpp"

namespace rubato {

/// One message about to use one link.
struct LinkUse {
  ClientId sender{};
  ClientId receiver{};
  std::uint32_t link = 0;  ///< index in the graph; 0xFFFFFFFF for a message outside the graph
  MessageKind kind = MessageKind::update;
  std::uint64_t turn = 0;     ///< the sender's transmit ticks so far, those included at which nothing was sent
  std::uint32_t attempt = 0;  ///< 0, or which retransmission this is
  Time now{};
  std::uint64_t round = 0;  ///< rounds that are over, where there are any
  Duration waited{};        ///< how long after now this attempt begins
};

/// A client that begins to send its messages of one turn to all that hear them.
struct Transmission {
  ClientId sender;
  MessageKind kind = MessageKind::update;
  std::uint64_t turn = 0;
  Time at{};
};

/// How long messages are.
struct MessageSizes {
  double update = 0, model = 0;  ///< bytes; a whole state counts as an update
  double control = 64;
  double of(MessageKind kind) const { return is_control(kind) ? control : kind == MessageKind::model ? model : update; }
};

/// The number of a message among all that a client sends over one link.
std::uint64_t address_of(const LinkUse& use);

struct Fate {
  bool lost = false;
  Duration delay{};            ///< from departure to arrival; what a sender that retransmits waits if the message is lost
  std::uint8_t copies = 0;     ///< how many more times it arrives ...
  Duration copy_delay{};       ///< ... and when
  Duration airtime{};          ///< how long the sender transmits for this receiver; 0 where the channel does not model it
  bool apart = false;          ///< it is lost because sender and receiver are in different groups
  bool is_alone = false;       ///< what the sender transmits for this receiver is for no other: airtimes add up
  bool is_repeated = false;    ///< this attempt fails, and its sender will begin another
  Duration waited{};           ///< from departure to the beginning of the attempt that arrives
  std::uint32_t attempts = 1;  ///< up to that one
};

/// Messages that share capacities: when one is through depends on what begins meanwhile.
class Transfers {
 public:
  virtual ~Transfers() = default;
  /// A message begins, under a number by which its end is told. Instants never decrease from call to call.
  virtual void begin(std::uint32_t number, const LinkUse& use) = 0;
  /// When the next message is through if nothing else begins; never if there is none.
  virtual Time next() const = 0;

  struct Done {
    std::uint32_t number;
    Duration airtime;  ///< how long its sender has been sending since it began or since its last message was through
  };
  /// Ends the message of next(). Ties go by number.
  virtual Done finish() = 0;
};

class Channel {
 public:
  virtual ~Channel() = default;
  virtual Fate carry(const LinkUse& use) const = 0;
  /// True if every message takes equally long, so that arrivals come in the order of departures.
  virtual bool keeps_order() const { return false; }

  /// No message takes longer at its first attempt, as far as the channel knows. Others say how long theirs take.
  virtual Duration longest_delay() const { return Duration::max(); }

  /// True if transmissions disturb each other: the engine that carries messages then says which clients transmit, all that begin at
  /// one instant, as far as that is known, before the first message of that instant is carried.
  virtual bool is_shared() const { return false; }
  virtual void announce(const Transmission&) {}
  /// What the client transmits is over then: when the slowest of its receivers has it.
  virtual void occupy(ClientId /*sender*/, Time /*until*/) {}

  /// Where messages share capacities: a fate's delay is then what comes on top of the transfer.
  virtual Transfers* transfers() { return nullptr; }

  /// Whose links are best at this instant; nothing if the channel cannot tell.
  virtual std::optional<ClientId> best_sender(const Graph&, Time) const { return std::nullopt; }
  /// Called before the first message.
  virtual void set_sizes(const MessageSizes&) {}
};

/// What will become of a message that is about to leave, told by what carries it in virtual time: instant and round are its own.
struct Foresight {
  std::function<Fate(LinkUse use)> fate_of;  ///< empty before the run
};

/// How a sender gets a message through that must arrive: an attempt that takes longer than `longest` is given up, and the
/// next one begins after a pause.
struct AttemptRule {
  Duration longest = Duration::max();  ///< of an attempt
  /// Pauses are uniform between 0 and this before the second attempt, twice this before the third, and so on, at most
  /// 64 times this: enough for as many clients that hear each other. 0: none.
  Duration back_off{};
  std::uint64_t seed = 0;  ///< pauses are drawn by (seed, sender, message, attempt)

  /// The fate of an attempt under this rule.
  Fate judged(Fate fate) const;
  /// Before this attempt, which is not the first.
  Duration pause(const LinkUse& use) const;
};

/// What becomes of a message that is sent again until it arrives, after this fate of its first attempt, on a channel where
/// transmissions do not disturb each other. Lost only when even so many attempts were.
inline constexpr std::uint32_t most_attempts = 1000;
Fate retransmitted(Fate fate, const Channel& channel, LinkUse use, const AttemptRule& rule = {});

/// Every message arrives after the same time; nothing is lost.
class IdealChannel final : public Channel {
 public:
  explicit IdealChannel(Duration delay) : delay_{delay} {}
  Fate carry(const LinkUse&) const override { return {false, delay_}; }
  bool keeps_order() const override { return true; }
  Duration longest_delay() const override { return delay_; }

 private:
  Duration delay_;
};

/// Delay by any law, independent losses; links may differ. Draws are addressed by (sender, turn, receiver), so the loss
/// probability does not move a delay and no link moves another.
class RandomChannel final : public Channel {
 public:
  struct LinkLaw {
    Law delay{};  // seconds; a delay is never below one nanosecond
    double loss = 0;
    double duplicate = 0;  // chance that an update that is not lost arrives a second time, with a delay of its own
  };

  RandomChannel(std::uint64_t seed, LinkLaw usual, std::map<std::pair<ClientId, ClientId>, LinkLaw> exceptions);
  Fate carry(const LinkUse& use) const override;
  bool keeps_order() const override;
  Duration longest_delay() const override;

 private:
  std::uint64_t seed_;
  LinkLaw usual_;
  std::map<std::pair<ClientId, ClientId>, LinkLaw> exceptions_;  // (sender, receiver)
};

/// Every choice is read from a table: fate[sender][turn] maps receivers to fates; a receiver that is not there is lost.
class TableChannel final : public Channel {
 public:
  using Turn = std::map<ClientId, Fate>;
  explicit TableChannel(std::vector<std::vector<Turn>> fates) : fates_{std::move(fates)} {}
  Fate carry(const LinkUse& use) const override;

 private:
  std::vector<std::vector<Turn>> fates_;
};

}  // namespace rubato
