// push: independent compute and transmit timers, a mailbox with a superposition window, no client waits for another.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/protocols/client_protocol.hpp"

namespace rubato {

class Push final : public TickingProtocol {
 public:
  Push(const ClientSettings& settings, ClientId self);

  void start(Effects& effects) override;
  void on_compute(Time now, std::uint32_t detail, Effects& effects) override;
  void on_transmit(Time now, std::uint32_t detail, Effects& effects) override;
  std::optional<std::uint64_t> sends_at(const Wake& wake) const override;
  void on_retained(Sequence sequence, SlotIndex slot) override { retained_.push_back({sequence, slot, false, sent_to_}); }
  bool on_acknowledged(Sequence sequence, ClientId by) override;
  void on_deadline(Time now, Sequence sequence, Effects& effects) override;
  void on_request(Time now, ClientId from, std::uint32_t tag, Effects& effects) override;
  void on_answer(Time now, bool sends, Effects& effects) override;
  Offer on_arrival(const Arrival& arrival, Effects& effects) override;
  void on_window_close(Time now, Effects& effects) override;
  void resume(Time now, Effects& effects) override;
  void on_leave(Time now, Effects& effects) override;
  void on_presence(ClientId neighbour, bool is_here, Time, Effects&) override { memory().absent.set(neighbour, is_here); }
  void on_new_life(ClientId sender) override;
  void archive(Archive& archive) override;
  void on_refill() override {
    mailbox_.refill(settings_.limits);
    ++period_;
    came_ = 0;
  }
  void on_unify(Time now, bool clears_mailbox, Effects& effects) override;
  const Mailbox& mailbox() const override { return mailbox_; }
  /// Compute ticks that were left out because a sender was too far behind.
  std::uint64_t skipped() const { return skipped_; }

 private:
  // What only some needs ask for.
  struct Memory {
    std::vector<Arrival> stored;           // what the next computation will absorb: the newest of each sender
    std::vector<Arrival> refused;          // of the window that is being merged in order; kept for its memory
    std::vector<std::uint64_t> heard;      // by sender: its computations, where they bound this client's
    std::vector<std::uint64_t> next;       // by sender: one above the last that was handed over
    std::vector<DuplicateFilter> filters;  // by sender, where links duplicate
    std::vector<bool> is_unknown;          // by sender: its state must be asked for before anything is merged
    Absentees absent;                      // among the neighbours
  };

  void begin(Time now, Effects& effects);
  void wake_timers(Effects& effects);
  void wake_link(std::uint32_t place, Effects& effects);
  /// Calls use(receiver, link) for the clients that hear the next message of this transmit tick.
  template <class Use>
  void each_receiver(const Wake& tick, Use use) const {
    const std::uint64_t row = settings_.row_at(tick.at);
    const auto receivers = settings_.graph->receivers_of(self_);
    const LinkIndex first = settings_.graph->first_link(self_);
    const auto use_if_here = [&](std::uint32_t place) {
      if (is_here(receivers[place])) use(receivers[place], first + place);
    };
    if (!settings_.transmit_per_link)
      settings_.each_link_used(self_, turns_, row, use_if_here);
    else if (!settings_.is_idle(first + tick.detail, row))
      use_if_here(tick.detail);
  }
  Memory& memory();
  bool is_here(ClientId neighbour) const { return !memory_ || !memory_->absent.has(neighbour); }
  double merge_weight(const Arrival& arrival, Time now) const;
  double scale(std::uint64_t row) const;
  void send(Time now, std::uint32_t detail, Effects& effects);
  void wake_coupled(Time now, Effects& effects);
  bool is_coupled_after(std::uint64_t computations) const;
  bool is_too_far_ahead() const;
  Offer judge(const Arrival& arrival);
  void store(Effects& effects);
  void absorb_stored(Time now, Effects& effects);
  void merge_all(Time now, Effects& effects);
  void merge_newest(Time now, Effects& effects);
  void merge_in_order(Time now, Effects& effects);
  bool is_due(const Arrival& arrival, Effects& effects);
  void supersede(const Arrival& arrival, Time now, Effects& effects);
  bool has_next() const { return memory_ && !memory_->next.empty(); }
  std::uint64_t& next_of(ClientId sender) { return memory_->next[place_of(sender)]; }

  // A message that is kept until its deadline, because it may have to be reclaimed.
  struct Retained {
    Sequence sequence;
    SlotIndex slot;
    bool is_acknowledged;
    std::vector<ClientId> receivers;
  };

  /// There is a computation that the message of this tick would be the first to tell of.
  bool has_news(std::uint32_t detail) const { return link_news_.empty() ? has_news_ : bool{link_news_[detail]}; }
  void set_news(bool has_news) {
    has_news_ = has_news;
    link_news_.assign(link_news_.size(), has_news);
  }

  bool has_news_ = false;        // computed since the last message
  std::vector<bool> link_news_;  // the same of each link that has a timer of its own; else empty
  std::vector<Timer> link_timers_;
  std::uint64_t period_ = 0;  // of the reception cap
  std::uint32_t came_ = 0;    // in it, in time and not twice; counted where the cap goes by chance
  std::uint64_t turns_ = 0;
  std::uint64_t skipped_ = 0;       // compute ticks too far ahead of a sender
  std::uint32_t asked_detail_ = 0;  // of the transmit tick that waits for the client's answer
  std::vector<ClientId> sent_to_;   // receivers of the newest message; empty without acknowledgements
  std::vector<Retained> retained_;  // by sequence; empty without acknowledgements
  Mailbox mailbox_;
  std::vector<Arrival> sorted_;  // a window of the newest; kept for its memory
  std::unique_ptr<Memory> memory_;
};

}  // namespace rubato
