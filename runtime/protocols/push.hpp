// push: independent compute and transmit timers, a mailbox with a superposition window, nothing waits for anybody.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/mailbox.hpp"
#include "runtime/protocols/protocol.hpp"
#include "runtime/renewal.hpp"
#include "runtime/world/graph.hpp"

namespace rubato {

/// What an algorithm needs from its protocol. Data, so that no protocol asks for an algorithm's name.
struct Needs {
  bool send_only_if_computed = false;  ///< a transmit tick without a computation since the last one sends nothing
  bool keep_newest_only = false;       ///< a window hands over the newest message of each sender, ascending senders
  bool fixes_model_at_start = false;   ///< a begin step precedes each computation (snapshot at_start)
  bool acknowledgements = false;       ///< what nobody has acknowledged by the deadline is reclaimed
  bool weights_by_batch = false;       ///< a message weighs 1 / (messages in the window), whatever its link
};

/// Choices of which out-links a transmit tick uses, where they are not simply all of them: by client, turn and place.
using ActiveLinks = std::vector<std::vector<std::vector<ClientId>>>;

/// Shared by the clients of a run; must outlive them.
struct PushSettings {
  const Graph* graph = nullptr;
  std::uint64_t seed = 0;
  std::vector<TimerLaw> compute;   ///< one for all, or one per client
  std::vector<TimerLaw> transmit;  ///< likewise
  bool transmit_per_link = false;  ///< one transmit timer per out-link instead of one per client
  MailboxLimits limits;
  Needs needs;
  std::vector<double> merge_weights;  ///< by directed link; empty: 1
  std::vector<double> share_weights;  ///< by directed link; empty: 1
  ActiveLinks active;                 ///< [client][turn] -> receivers; empty: all out-links at every tick

  const TimerLaw& compute_law(ClientId client) const { return compute[compute.size() > 1 ? client.value : 0]; }
  const TimerLaw& transmit_law(ClientId client) const { return transmit[transmit.size() > 1 ? client.value : 0]; }
};

class Push final : public Protocol {
 public:
  Push(const PushSettings& settings, ClientId self);

  void start(Effects& effects) override;
  void on_compute(Time now, std::uint32_t detail, Effects& effects) override;
  void on_transmit(Time now, std::uint32_t detail, Effects& effects) override;
  void on_departed(std::size_t, Time, Effects&) override {}
  void on_retained(Sequence sequence, SlotIndex slot) override { retained_.push_back({sequence, slot, false}); }
  void on_acknowledged(Sequence sequence) override;
  void on_deadline(Time now, Sequence sequence, Effects& effects) override;
  Offer on_arrival(const Arrival& arrival, Effects& effects) override;
  void on_window_close(Time now, Effects& effects) override;
  void on_refill() override { mailbox_.refill(settings_.limits); }
  void on_unify(Time now, bool clears_mailbox, Effects& effects) override;
  const Mailbox& mailbox() const override { return mailbox_; }

 private:
  void begin(Time now, Effects& effects);
  void publish(Time now, std::uint32_t detail, Effects& effects);
  void wake_coupled(Time now, Effects& effects);
  void merge_all(Time now, Effects& effects);
  void merge_newest(Time now, Effects& effects);

  // A message that is kept until its deadline, because it may have to be reclaimed.
  struct Retained {
    Sequence sequence;
    SlotIndex slot;
    bool is_acknowledged;
  };

  const PushSettings& settings_;
  ClientId self_;
  bool has_news_ = false;  // computed since the last message
  Timer compute_timer_;
  Timer transmit_timer_;
  std::vector<Timer> link_timers_;
  std::uint64_t turns_ = 0;
  Sequence sequence_ = 0;
  std::vector<Retained> retained_;  // by sequence; empty without acknowledgements
  Mailbox mailbox_;
  std::vector<Arrival> sorted_;  // a window of the newest; kept for its memory
};

/// The entry of a merge step for a message in the mailbox.
StepEntry merge_entry(const Arrival& arrival, Time now, double weight);

/// A step that says the message is not wanted.
void discard(const Arrival& arrival, ClientId self, Time now, Effects& effects);

}  // namespace rubato
