// push: independent compute and transmit timers, a mailbox with a superposition window, nothing waits for anybody.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/duplicate_filter.hpp"
#include "runtime/mailbox.hpp"
#include "runtime/protocols/absentees.hpp"
#include "runtime/protocols/link_choice.hpp"
#include "runtime/protocols/needs.hpp"
#include "runtime/protocols/protocol.hpp"
#include "runtime/renewal.hpp"
#include "runtime/world/fading_links.hpp"
#include "runtime/world/graph.hpp"

namespace rubato {

/// With which chance a client computes a gradient at a tick and a link is up at a turn, and whether that is drawn or
/// only paid for. Empty: 1.
struct Chances {
  std::vector<double> computes;  ///< by client
  std::vector<double> links;     ///< by directed link
};

/// Shared by the clients of a run; must outlive them.
struct ClientSettings {
  const Graph* graph = nullptr;
  std::uint64_t seed = 0;
  std::vector<TimerLaw> compute;   ///< one for all, or one per client
  std::vector<TimerLaw> transmit;  ///< likewise
  bool transmit_per_link = false;  ///< one transmit timer per out-link instead of one per client
  MailboxLimits limits;
  Needs needs;
  bool may_duplicate = false;       ///< links deliver messages twice: receivers remember what they have seen
  bool shares_out_weights = false;  ///< merge weights of who is absent go to those who are here
  Chances chances;
  std::vector<std::vector<bool>> gradients;        ///< [client][computation]; empty: drawn, or always
  std::vector<std::vector<double>> merge_weights;  ///< by directed link, a row a round in turn; empty: 1
  std::vector<std::vector<double>> share_weights;  ///< likewise
  std::vector<std::uint32_t> absorb_every;         ///< by client, in computations; empty: 1
  LinkChoice links;

  const TimerLaw& compute_law(ClientId client) const { return compute[compute.size() > 1 ? client.value : 0]; }
  const TimerLaw& transmit_law(ClientId client) const { return transmit[transmit.size() > 1 ? client.value : 0]; }
  const FadingLinks* fading = nullptr;  ///< weights are those of the links that are up; null: merge_weights
  Duration change_every{};              ///< how long a row of weights is in force, where time tells; 0: rounds do
  bool weighs_as_sent = false;          ///< a message has its weight from when it was sent; else from when it is merged

  /// Which row of weights is in force, counted on and on.
  std::uint64_t row_at(Time now) const {
    return change_every > Duration::zero() ? static_cast<std::uint64_t>(now.time_since_epoch() / change_every) : 0;
  }
  /// Whether the client's `number`-th computation has a gradient.
  bool has_gradient(ClientId client, std::uint64_t number) const;
  double merge_weight(LinkIndex link, std::uint64_t round = 0) const {
    if (fading) return fading->metropolis(link, round);
    return merge_weights.empty() ? 1 : merge_weights[round % merge_weights.size()][link];
  }
  /// A graph that changes gives its idle links no weight.
  bool is_idle(LinkIndex link, std::uint64_t round) const {
    if (fading) return !fading->is_up(link, round);
    const bool changes = merge_weights.size() > 1 || share_weights.size() > 1;
    return changes && (merge_weights.empty() || merge_weight(link, round) == 0) &&
           (share_weights.empty() || share_weight(link, round) == 0);
  }
  double share_weight(LinkIndex link, std::uint64_t round = 0) const {
    return share_weights.empty() ? 1 : share_weights[round % share_weights.size()][link];
  }
};

class Push final : public Protocol {
 public:
  Push(const ClientSettings& settings, ClientId self);

  void start(Effects& effects) override;
  void on_compute(Time now, std::uint32_t detail, Effects& effects) override;
  void on_transmit(Time now, std::uint32_t detail, Effects& effects) override;
  std::optional<std::uint64_t> sends_at(const Wake& wake) const override;
  void on_departed(std::size_t, Time, Effects&) override {}
  void on_retained(Sequence sequence, SlotIndex slot) override { retained_.push_back({sequence, slot, false}); }
  void on_acknowledged(Sequence sequence) override;
  void on_deadline(Time now, Sequence sequence, Effects& effects) override;
  void on_request(Time now, ClientId from, std::uint32_t tag, Effects& effects) override;
  void on_answer(Time now, bool sends, Effects& effects) override;
  Offer on_arrival(const Arrival& arrival, Effects& effects) override;
  void on_window_close(Time now, Effects& effects) override;
  void skip_compute(Effects& effects) override { wake_compute(effects); }
  void resume(Time now, Effects& effects) override;
  void on_leave(Time now, Effects& effects) override;
  void on_presence(ClientId neighbour, bool is_here, Time, Effects&) override { memory().absent.set(neighbour, is_here); }
  void on_new_life(ClientId sender) override;
  void archive(Archive& archive) override;
  void on_refill() override { mailbox_.refill(settings_.limits); }
  void on_unify(Time now, bool clears_mailbox, Effects& effects) override;
  const Mailbox& mailbox() const override { return mailbox_; }

 private:
  // What only some needs ask for.
  struct Memory {
    std::vector<Arrival> stored;           // what the next computation will absorb: the newest of each sender
    std::vector<Arrival> refused;          // of the window that is being merged in order; kept for its memory
    std::vector<std::uint64_t> next;       // by sender: one above the last that was handed over
    std::vector<DuplicateFilter> filters;  // by sender, where links duplicate
    std::vector<bool> is_unknown;          // by sender: its state must be asked for before anything is merged
    Absentees absent;                      // among the neighbours
  };

  void begin(Time now, Effects& effects);
  void wake_compute(Effects& effects);
  void wake_timers(Effects& effects);
  Memory& memory();
  bool is_here(ClientId neighbour) const { return !memory_ || !memory_->absent.has(neighbour); }
  double merge_weight(const Arrival& arrival, Time now) const;
  double scale(std::uint64_t row) const;
  void publish(Time now, std::uint32_t detail, Effects& effects);
  void wake_coupled(Time now, Effects& effects);
  bool is_coupled_after(std::uint64_t computations) const;
  Offer judge(const Arrival& arrival);
  void store(Effects& effects);
  void absorb_stored(Time now, Effects& effects);
  void merge_all(Time now, Effects& effects);
  void merge_newest(Time now, Effects& effects);
  void merge_in_order(Time now, Effects& effects);
  bool is_due(const Arrival& arrival, Effects& effects);
  void supersede(const Arrival& arrival, Time now, Effects& effects);
  std::size_t place_of(ClientId sender) const;
  bool has_next() const { return memory_ && !memory_->next.empty(); }
  std::uint64_t& next_of(ClientId sender) { return memory_->next[place_of(sender)]; }

  // A message that is kept until its deadline, because it may have to be reclaimed.
  struct Retained {
    Sequence sequence;
    SlotIndex slot;
    bool is_acknowledged;
  };

  const ClientSettings& settings_;
  ClientId self_;
  bool has_news_ = false;  // computed since the last message
  Timer compute_timer_;
  Timer transmit_timer_;
  std::vector<Timer> link_timers_;
  std::uint64_t turns_ = 0;
  Sequence sequence_ = 0;
  std::uint32_t asked_detail_ = 0;  // of the transmit tick that waits for the client's answer
  std::vector<Retained> retained_;  // by sequence; empty without acknowledgements
  Mailbox mailbox_;
  std::vector<Arrival> sorted_;  // a window of the newest; kept for its memory
  std::unique_ptr<Memory> memory_;
};

/// The entry of a merge step for a message in the mailbox.
StepEntry merge_entry(const Arrival& arrival, Time now, double weight);

/// A step that says the message is not wanted.
void discard(const Arrival& arrival, ClientId self, Time now, Effects& effects);

/// The one step that a model asks for: it is adopted if it is news.
void take_model(const Arrival& model, bool is_news, ClientId self, Time now, Effects& effects);

}  // namespace rubato
