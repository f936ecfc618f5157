// The conductor: walks the timing of every client in virtual time and writes down the steps. It never touches a model.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/engine/departure.hpp"
#include "runtime/engine/energy.hpp"
#include "runtime/engine/step_source.hpp"
#include "runtime/event_queue.hpp"
#include "runtime/hash.hpp"
#include "runtime/histogram.hpp"
#include "runtime/protocols/protocol.hpp"
#include "runtime/step.hpp"
#include "runtime/world/attendance.hpp"
#include "runtime/world/channel.hpp"
#include "runtime/world/churn.hpp"
#include "runtime/world/graph.hpp"
#include "runtime/world/unification.hpp"

namespace rubato {

/// Watches events as they happen, for traces and tests. Called after the protocol has answered.
class EventObserver {
 public:
  virtual ~EventObserver() = default;
  virtual void on_period(Time, std::uint64_t /*index*/) {}
  virtual void on_unify(Time, std::uint64_t /*index*/, ClientId /*hub*/) {}
  virtual void on_arrival(const Arrival&, ClientId /*receiver*/, Offer, std::uint32_t /*tokens_left*/) {}
  /// `batch`: what the window held, in order of arrival (empty where a round has none); `used`: what was merged of it.
  virtual void on_window_close(Time, ClientId, std::span<const Arrival> /*batch*/, std::span<const StepEntry> /*used*/) {}
  /// A merge that no window closed: right before a computation, or the answers to a request.
  virtual void on_merge(Time, ClientId, std::span<const StepEntry> /*used*/) {}
  /// A round is over, with all its steps; 0 is the opening.
  virtual void on_round(Time, std::uint64_t /*round*/) {}
  virtual void on_compute(Time, ClientId) {}
  /// `publish` is null if nothing was sent.
  virtual void on_transmit(Time, ClientId, const Step* /*publish*/) {}
  /// A client has come or gone, and all that follows from it at this instant is done.
  virtual void on_churn(const ChurnEvent&) {}
};

struct ConductorSettings {
  std::uint64_t seed = 0;
  Time until{};  ///< events at this instant still happen
  const Graph* graph = nullptr;
  Channel* channel = nullptr;
  bool retransmits = false;      ///< a lost message is sent again until it arrives ...
  AttemptRule attempts;          ///< ... by this rule
  bool loses_both_ways = false;  ///< a link that loses a message loses the one the other way too
  bool acknowledges = false;     ///< a receiver that keeps a message says so to its sender, over the same links
  UnificationPlan unification;
  Duration cap_period{};                                    ///< how often tokens are refilled; 0: never
  std::uint64_t sample_every_events = 0;                    ///< 0: not by events
  Duration sample_every{};                                  ///< 0: not by time
  std::shared_ptr<const std::vector<ClientId>> measured{};  ///< ascending; null: all
  bool samples_first_state = false;                         ///< one more sample before the first event
  bool samples_last_state = true;                           ///< one more sample at the end
  bool samples_before_unifications = false;                 ///< one more sample before every unification, at its instant
  bool samples_unifications = false;                        ///< one more sample right after every ideal unification
  bool samples_rounds = false;                              ///< one more sample after every round
  const double* cumulated_delay = nullptr;                  ///< of the rounds protocol
  EnergyModel energy;                                       ///< what clients spend
  bool refuses_at_close = false;     ///< a discard at a window's close is a message that no token was left for
  bool counts_links = false;         ///< per-link counters, for links.csv
  const ChurnPlan* churn = nullptr;  ///< which clients come and go; null: none
  bool passes_mass_on = false;       ///< churn begins epochs
  bool may_adopt = false;            ///< a joiner can take the model of a neighbour
  bool goes_by_exchange = false;     ///< messages of one instant go by the exchange of a pair that they belong to
  Foresight* foresight = nullptr;    ///< of protocols that ask what will become of a message; null: none does
};

class Conductor final : public StepSource {
 public:
  /// `protocols` holds one automaton per client, in client order. Everything given by reference outlives the conductor.
  Conductor(const ConductorSettings& settings, std::vector<std::unique_ptr<Protocol>> protocols, StepSink& sink,
            EventObserver* observer = nullptr);

  bool walk(std::uint64_t steps) override;
  void stop() override;
  /// The run ends at this instant instead, as if it had been meant to. Not before now().
  void end_at(Time until) { settings_.until = std::min(settings_.until, until); }
  bool is_over() const override { return is_over_; }
  /// walk() pauses before the first event after this instant; the end of the run comes first.
  void pause_after(Time mark) {
    pause_after_ = mark;
    is_paused_ = false;
  }
  bool is_paused() const override { return is_paused_ && !is_ending_; }
  /// Of the event that comes next; there is one while the walk is paused.
  Time next_event() const { return next_event_; }
  bool awaits_answer() const override { return awaits_answer_; }
  void answer(bool yes) override;
  Time now() const override { return now_; }
  std::uint64_t events() const override { return events_; }
  std::uint64_t steps() const { return steps_; }
  std::uint64_t samples() const { return samples_; }
  std::uint64_t unifications() const { return unifications_; }
  /// That are over, where there are any.
  std::uint64_t rounds() const { return round_; }
  std::uint64_t model_messages() const { return model_messages_; }
  /// Of these, models that neighbours hand to clients that begin a life, and those that did not get through.
  std::uint64_t hand_overs() const { return hand_overs_; }
  std::uint64_t models_lost() const { return models_lost_; }
  /// Null without churn.
  const Attendance* attendance() const { return attendance_ ? &*attendance_ : nullptr; }
  std::uint64_t to_measure() const override { return next_adoption_ < adopting_.size() ? 0 : last_measured_ - next_measured_; }
  bool is_sampling() const override { return next_measured_ < last_measured_ || next_counted_ < last_counted_; }
  /// All messages on their way, and those of them that are updates.
  std::size_t flights() const { return queue_.flights() + transferring_.size() - free_transfers_.size() + awaiting_attempts_; }
  std::uint64_t under_way() const { return under_way_; }
  const DurationHistogram& staleness() const { return staleness_; }
  const std::vector<LinkCounts>& link_counts() const { return link_counts_; }
  std::size_t clients() const { return protocols_.size(); }
  const Protocol& protocol(ClientId client) const { return *protocols_[client.value]; }
  const std::vector<StepHash>& hashes() const override { return hashes_; }
  std::optional<RoundsSoFar> rounds_so_far() const override {
    if (!settings_.cumulated_delay) return std::nullopt;
    return RoundsSoFar{round_, {protocols_.front()->waiting().computations, under_way_}};
  }
  std::optional<Glance> glance() const override;
  MessageCounts total_counts() const;

 private:
  void handle(EventQueue::Kind kind);
  void handle_wake();
  /// What happens every so often, after this time; 0: never.
  void repeat(const Wake& wake, Duration period);
  void handle_flight();
  void handle_model(const Flight& flight);
  void add_staleness();
  void handle_closing();
  void send_control(MessageKind kind, ClientId from, ClientId to, std::uint64_t turn, std::uint32_t tag, Sequence sequence);
  void refuse(const Effects::Draft& discarded);
  void tick(const Wake& wake);
  ClientId hub_of(std::uint64_t unification) const;
  void unify(std::uint64_t index);
  void unify_at_once(ClientId hub, std::uint64_t index);
  void adopt_next();
  void unify_by_transport(ClientId hub, std::uint64_t index);
  void sample(bool after_unification = false);
  void choose_measured();
  void measure_next();
  bool is_measured(ClientId client) const;
  void count_next();

  void take_over(std::size_t first_wake = 0);
  void issue_drafts();
  void depart(Effects::Draft& draft, std::span<StepEntry> entries);
  Fate fate_of(LinkUse use) const;
  void announce(const Transmission& transmission);
  void begin_repeating(const MessageHead& head, std::uint64_t turn, SlotIndex slot, Duration failed_after);
  void attempt_again(std::uint32_t number);
  void schedule_attempt(std::uint32_t number, Duration failed_after);
  void push(const Flight& flight);
  void wake_at_next_transfer();
  void handle_transfers();
  void issue(const Step& step);
  /// A step of the client's present life, now.
  void issue(StepKind kind, ClientId client, std::uint64_t index, std::span<const StepEntry> model = {});
  void count_event();

  // With churn: conductor_churn.cpp.
  void open_doors();
  void churn();
  void begin_life(const ChurnEvent& event);
  void begin_with(const ChurnEvent& event);
  void fetch_model(const ChurnEvent& event);
  void tell_neighbours(ClientId about);
  void begin_epoch(const ChurnEvent& event);
  void enter_epoch(ClientId client, Epoch epoch);
  bool reaches(const Flight& flight);
  void drop(const Flight& flight, bool is_stale);
  void sign(Effects::Draft& draft, std::span<StepEntry> entries) const;
  ClientId hub_beside_absent(ClientId hub) const;
  bool is_within_reach(ClientId from, ClientId to) const {
    return !attendance_ || (attendance_->is_here(to) && !attendance_->are_apart(from, to));
  }
  std::uint32_t life(ClientId client) const { return attendance_ ? attendance_->life(client) : 0; }

  ConductorSettings settings_;
  std::vector<std::unique_ptr<Protocol>> protocols_;
  StepSink& sink_;
  EventObserver* observer_;
  EventQueue queue_;
  Effects effects_;
  std::vector<Flight> departing_;
  Transfers* transfers_;              // null: every message is on its own
  std::vector<Flight> transferring_;  // by number; its instant is what comes on top
  std::vector<std::uint32_t> free_transfers_;
  Time transfers_wake_ = never;  // the earliest wake-up for a transfer that is in the queue
  // Where transmissions disturb each other, a message that did not get through is sent again when its time has come, among
  // the clients that transmit then.
  struct Repetition {
    MessageHead head;
    SlotIndex slot = no_slot;
    std::uint64_t turn = 0;
    std::uint32_t attempt = 0;  // the one to come
    std::vector<Flight> missing{};
  };
  std::vector<Repetition> repetitions_;
  std::vector<std::uint32_t> free_repetitions_;
  std::vector<Flight> missing_;        // of the message that departs; kept for its memory
  std::size_t awaiting_attempts_ = 0;  // messages in repetitions
  std::uint64_t round_ = 0;
  std::vector<StepHash> hashes_;
  std::vector<LinkCounts> link_counts_;
  std::vector<std::uint64_t> adopted_;  // the newest unification each client knows, when models travel
  DurationHistogram staleness_;
  Time now_{};
  std::uint64_t events_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t samples_ = 0;
  // A unification or a sample concerns all clients; its steps are issued one by one, so that they are never held all at once.
  std::vector<StepEntry> adopting_;  // the receivers of the hub's model
  std::size_t next_adoption_ = 0;
  ClientId adopting_hub_{};
  std::uint32_t next_measured_ = 0;
  std::uint32_t last_measured_ = 0;  // next == last: no sample is being taken
  std::uint32_t next_counted_ = 0;   // of those that are not measured
  std::uint32_t last_counted_ = 0;
  std::uint64_t handed_out_ = 0;  // steps and measurements
  bool is_beginning_ = true;
  bool is_ending_ = false;
  Time sampled_at_{};
  std::uint64_t sampled_after_ = 0;
  bool is_sampled_before_ = false;  // the unification that is due
  std::uint64_t unifications_ = 0;
  std::uint64_t under_way_ = 0;
  std::uint64_t model_messages_ = 0;
  std::uint64_t hand_overs_ = 0;
  std::uint64_t models_lost_ = 0;
  bool is_over_ = false;
  Time pause_after_ = Time::max();
  bool is_paused_ = false;
  bool awaits_answer_ = false;
  ClientId asked_{};
  std::optional<Time> announced_at_;  // all transmissions of this instant, where they disturb each other
  bool closes_window_ = false;
  std::uint8_t sample_phase_ = 0;
  std::vector<std::uint64_t> requests_;  // by client: so that no client's requests move another's
  std::vector<Arrival> closed_;          // the window that closes, for the observer
  std::optional<Attendance> attendance_;
  Time next_churn_ = never;
  Time next_event_ = never;                                // as the walk has seen it last
  std::shared_ptr<const std::vector<ClientId>> measured_;  // of the newest sample; null: all
};

}  // namespace rubato
