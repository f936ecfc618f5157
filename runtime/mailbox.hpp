// The mailbox of one client: deadline, reception cap and superposition window, in that order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/message_head.hpp"
#include "runtime/step.hpp"
#include "runtime/time.hpp"

namespace rubato {

/// A message at its receiver.
struct Arrival : MessageHead {
  SlotIndex slot = no_slot;
  Time arrived{};
  std::uint32_t link = 0;   ///< index of the directed link; 0xFFFFFFFF outside the graph
  std::uint32_t place = 0;  ///< of the receiver among the receivers of the message
};

enum class Offer : std::uint8_t { kept, late, capped, duplicate, superseded };

struct MailboxLimits {
  Duration window{};                    ///< how long a window stays open after its first message
  Duration deadline = Duration::max();  ///< the greatest age that is kept
  std::uint32_t cap = unlimited;        ///< messages kept per client and period

  static constexpr std::uint32_t unlimited = 0xFFFF'FFFF;
};

class Mailbox {
 public:
  /// Fills the tokens for the first period and makes room for `usual` messages.
  Mailbox(const MailboxLimits& limits, std::size_t usual) : tokens_{limits.cap} { batch_.reserve(usual); }

  /// Keeps the message or says why not. A message older than the deadline takes no token; a kept one takes one. The
  /// first kept message opens the window.
  [[nodiscard]] Offer offer(const Arrival& message, const MailboxLimits& limits) {
    if (message.arrived - message.sent > limits.deadline) return Offer::late;
    if (tokens_ == 0) return Offer::capped;
    if (limits.cap != MailboxLimits::unlimited) --tokens_;
    if (batch_.empty()) open_until_ = later(message.arrived, limits.window);
    batch_.push_back(message);
    return Offer::kept;
  }

  /// When the open window closes; never if none is open.
  Time open_until() const { return batch_.empty() ? never : open_until_; }

  /// What the open window holds, in order of arrival.
  std::span<const Arrival> batch() const { return batch_; }

  /// Closes the window.
  void clear() { batch_.clear(); }

  /// A new period begins.
  void refill(const MailboxLimits& limits) { tokens_ = limits.cap; }

  std::uint32_t tokens() const { return tokens_; }

 private:
  Time open_until_{};
  std::uint32_t tokens_;
  std::vector<Arrival> batch_;
};

}  // namespace rubato
