// The face of a protocol: when one client does something. It sees timers, mailbox, links and counters; never a model.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/archive.hpp"
#include "runtime/counts.hpp"
#include "runtime/event_queue.hpp"
#include "runtime/mailbox.hpp"
#include "runtime/step.hpp"

namespace rubato {

/// What a protocol answers: steps in their order, and when it wants to be woken. A publish step with receivers is also
/// the departure of its message. Reused from event to event, so it stops allocating.
class Effects {
 public:
  struct Draft {
    Step step;  // entries are set by the host
    std::size_t first_entry;
    std::size_t entries;
    std::uint64_t turn;                  // publish: the sender's transmit ticks before this one
    std::uint32_t tag;                   // publish: travels with the message, for the receiver's protocol
    std::uint32_t kept_among;            // publish: while it is one of the last so many of its kind the host keeps it for repeat()
    std::optional<std::uint64_t> round;  // publish: of its exchange; links that fade are those of this round
    Time since{};                        // publish: when what the message is about began
  };

  /// A control message under way: no payload, no step.
  struct Request {
    ClientId from, to;
    std::uint32_t tag;
    bool is_modelled;  // takes the modelled links
  };

  /// A message that is to be sent once more: no step.
  struct Repetition {
    ClientId to;
    MessageKind kind;
    Sequence sequence;
  };

  /// Begins a step; entries follow by entry() until the next step.
  Step& step(StepKind kind, ClientId client, Time at) {
    drafts_.push_back({{.kind = kind, .client = client, .at = at, .entries = {}}, entries_.size(), 0, 0, 0, 0, {}, {}});
    return drafts_.back().step;
  }
  void entry(const StepEntry& entry) {
    entries_.push_back(entry);
    ++drafts_.back().entries;
  }
  /// Begins the publication of the client's model, the number-th that a hub publishes; its receivers follow.
  void publish_model(ClientId hub, std::uint64_t number, Time at) {
    Step& model = step(StepKind::publish, hub, at);
    model.message = MessageKind::model;
    model.index = number;
    turn(number);
  }
  /// The step just begun is not wanted after all; it has no entries.
  void take_back() { drafts_.pop_back(); }
  void turn(std::uint64_t turn) { drafts_.back().turn = turn; }
  void tag(std::uint32_t tag) { drafts_.back().tag = tag; }
  void round(std::uint64_t round) { drafts_.back().round = round; }
  void since(Time since) { drafts_.back().since = since; }
  void keep_among(std::uint32_t last) { drafts_.back().kept_among = last; }
  /// Asks a neighbour's protocol for something; it hears on_request() if the link does not lose it.
  void request(ClientId from, ClientId to, std::uint32_t tag) { requests_.push_back({from, to, tag, true}); }
  /// In real time: the same, but only the real links can lose it.
  void tell(ClientId from, ClientId to, std::uint32_t tag) { requests_.push_back({from, to, tag, false}); }
  /// In real time: the very message that is kept, once more to one of its receivers.
  void repeat(ClientId to, MessageKind kind, Sequence sequence) { repetitions_.push_back({to, kind, sequence}); }
  /// A round is over, with its number; 0 is the opening.
  void round_is_over(std::uint64_t round) { finished_round_ = round; }
  void wake(const Wake& wake) { wakes_.push_back(wake); }
  /// A window opened; all windows of a run are equally long.
  void close_window(Time at, ClientId client) { closings_.push_back({at, Priority::window_close, client}); }

  std::vector<Draft>& drafts() { return drafts_; }
  std::vector<StepEntry>& entries() { return entries_; }
  const std::vector<Wake>& wakes() const { return wakes_; }
  const std::vector<Wake>& closings() const { return closings_; }
  const std::vector<Request>& requests() const { return requests_; }
  const std::vector<Repetition>& repetitions() const { return repetitions_; }
  std::optional<std::uint64_t> finished_round() const { return finished_round_; }
  void clear() {
    drafts_.clear();
    entries_.clear();
    wakes_.clear();
    closings_.clear();
    requests_.clear();
    repetitions_.clear();
    finished_round_.reset();
  }

 private:
  std::vector<Draft> drafts_;
  std::vector<StepEntry> entries_;
  std::vector<Wake> wakes_;
  std::vector<Wake> closings_;
  std::vector<Request> requests_;
  std::vector<Repetition> repetitions_;
  std::optional<std::uint64_t> finished_round_;
};

/// One client's automaton. Calls come in the order of events; `now` never decreases. It does no input or output.
class Protocol {
 public:
  virtual ~Protocol() = default;

  /// Called once, before everything else: the first wake-ups.
  virtual void start(Effects& effects) = 0;
  virtual void on_compute(Time now, std::uint32_t detail, Effects& effects) = 0;
  virtual void on_transmit(Time now, std::uint32_t detail, Effects& effects) = 0;
  /// The turn of the updates that this tick, or the one that it leads to at the same instant, is going to send; nothing
  /// if it sends none or that cannot be known before.
  virtual std::optional<std::uint64_t> sends_at(const Wake&) const { return std::nullopt; }
  /// The publish step just answered has left; so many of its messages are on their way.
  virtual void on_departed(std::size_t /*under_way*/, Time, Effects&) {}
  /// In real time: the modelled link to this receiver has lost the message of the publish step just answered.
  virtual void on_lost(ClientId /*receiver*/, MessageKind, Effects&) {}
  /// The publish step just answered asked to keep its message: it lies in this slot until a reclaim or discard step of
  /// this client names it.
  virtual void on_retained(Sequence, SlotIndex) {}
  /// A client says that it has kept this client's message. False: it was not sent to that one.
  virtual bool on_acknowledged(Sequence, ClientId /*by*/) { return false; }
  /// A neighbour asks for something.
  virtual void on_request(Time, ClientId /*from*/, std::uint32_t /*tag*/, Effects&) {}
  /// The client's answer to the decide step that this protocol has issued.
  virtual void on_answer(Time, bool, Effects&) {}
  /// The greatest age of the message has passed.
  virtual void on_deadline(Time, Sequence, Effects&) {}
  virtual Offer on_arrival(const Arrival& arrival, Effects& effects) = 0;
  /// In real time: an update of an older epoch is here, which is not used.
  virtual void on_outdated(const Arrival&, Effects&) {}
  /// In real time: the phase of the publish step that an update with this tag comes from. Updates of one phase look
  /// alike.
  virtual std::uint8_t phase_of(std::uint32_t /*tag*/) const { return 0; }
  /// In real time: the model of a hub is here. False: it is taken at once, unless it is old.
  virtual bool on_model(const Arrival&, Effects&) { return false; }
  virtual void on_window_close(Time, Effects&) {}
  /// The compute tick that is due is left out. Only the next tick follows.
  virtual void skip_compute(Effects&) {}
  /// True: no compute tick is ever left out, and what follows a computation waits until it is really finished.
  virtual bool awaits_computations() const { return false; }
  /// No timer ticks any more. Messages under way still arrive, and deadlines still come; nothing new begins.
  virtual void on_stop() {}
  /// Timers begin again at this instant, and with them the client: after a restart, or, instead of start(), of one that
  /// comes late.
  virtual void resume(Time /*now*/, Effects&) {}
  /// The client goes: what it holds is let go of, what it waits for is forgotten. Its counters stay, so that no later
  /// life repeats a draw.
  virtual void on_leave(Time /*now*/, Effects&) {}
  /// The same without a word to others.
  virtual void on_crash(Time now, Effects& effects) { on_leave(now, effects); }
  /// A neighbour has gone, or is here again: nothing is sent to clients that are not here, and the weights of increments are
  /// shared out among those that are.
  virtual void on_presence(ClientId /*neighbour*/, bool /*is_here*/, Time /*now*/, Effects&) {}
  /// A sender has begun a new life: it counts its messages from 0 again.
  virtual void on_new_life(ClientId /*sender*/) {}
  /// What a restart needs; timers, mailbox and messages under way begin anew.
  virtual void archive(Archive& archive) { archive(counts_); }
  /// A new period of the reception cap begins.
  virtual void on_refill() {}
  /// All clients take the hub's model now. With `clears_mailbox` the open window is thrown away.
  virtual void on_unify(Time, bool /*clears_mailbox*/, Effects&) {}

  /// Of a protocol that collects messages in a window; others have one that stays empty.
  virtual const Mailbox& mailbox() const {
    static const Mailbox none{{}, 0};
    return none;
  }
  /// Of this client, or of all where rounds hold them together; nothing where there are no rounds.
  virtual Waiting waiting() const { return {}; }
  MessageCounts& counts() { return counts_; }
  const MessageCounts& counts() const { return counts_; }

 protected:
  MessageCounts counts_;
};

}  // namespace rubato
