// What the links between clients do to a message: when it arrives, or that it is lost.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/ids.hpp"
#include "runtime/law.hpp"
#include "runtime/step.hpp"
#include "runtime/time.hpp"

namespace rubato {

/// One message about to use one link.
struct LinkUse {
  ClientId sender;
  ClientId receiver;
  std::uint32_t link = 0;      ///< index in the graph; 0xFFFFFFFF for a message outside the graph
  MessageKind kind = MessageKind::update;
  std::uint64_t turn = 0;      ///< the sender's transmit ticks so far, those included at which nothing was sent
  std::uint32_t attempt = 0;   ///< 0, or which retransmission this is
  Time now{};
};

struct Fate {
  bool lost = false;
  Duration delay{};  ///< from departure to arrival; what a sender that retransmits waits if the message is lost
  std::uint8_t copies = 0;  ///< how many more times it arrives ...
  Duration copy_delay{};    ///< ... and when
};

class Channel {
 public:
  virtual ~Channel() = default;
  virtual Fate carry(const LinkUse& use) const = 0;
  /// True if every message takes equally long, so that arrivals come in the order of departures.
  virtual bool keeps_order() const { return false; }
};

/// Every message arrives after the same time; nothing is lost.
class IdealChannel final : public Channel {
 public:
  explicit IdealChannel(Duration delay) : delay_{delay} {}
  Fate carry(const LinkUse&) const override { return {false, delay_}; }
  bool keeps_order() const override { return true; }

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
