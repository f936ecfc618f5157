// WallClient: one client in real time, with its timers, its mailbox and its numbers. No actor: a thread plays it
// by handing it one event after the other.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "actors/core/client_pool.hpp"
#include "actors/wall/clock.hpp"
#include "runtime/engine/conductor.hpp"
#include "runtime/hash.hpp"
#include "runtime/histogram.hpp"
#include "runtime/protocols/protocol.hpp"
#include "runtime/record.hpp"
#include "runtime/world/attendance.hpp"
#include "runtime/world/channel.hpp"
#include "runtime/world/churn.hpp"
#include "runtime/world/graph.hpp"
#include "transports/conduct.hpp"
#include "transports/message.hpp"

namespace rubato {

/// Stands for the number of a partition where there is none.
inline constexpr std::uint64_t all_links = ~std::uint64_t{0};

/// Something that happens to a client, with the instant at which it happened.
struct WallEvent {
  enum class Kind : std::uint8_t {
    start,     ///< timers begin; number 1: again, after a restart or late
    tick,      ///< wake
    close,     ///< the window that ends at `at`
    deadline,  ///< of the message `wake.detail`
    message,
    unify,  ///< the number-th, with `client` as its hub
    refill,
    presence,  ///< `client` is here (number 1) or not
    reset,     ///< epoch = number
    churn,     ///< what the plan says of the client, or of all links
    hand,      ///< its model to `client`, which begins a life: message `number`
    measure,   ///< sample = number
    count,     ///< says what it has counted
    save,      ///< checkpoint = number
    stop,      ///< timers end; what is under way still counts
  };
  Kind kind = Kind::tick;
  Time at{};
  Wake wake{};  ///< tick: from before a pause or another life if `number` says so
  std::uint64_t number = 0;
  std::uint8_t phase = 0;  ///< of the measure step
  ClientId client{};       ///< churn: the one that hands its model to a client that comes; no_client: none does
  std::shared_ptr<const Message> message{};
  Delivery delivery{};
  ChurnEvent churn{};
  std::shared_ptr<const void> place{};  ///< of what came from another host: in the room of what may wait here
};

class WallClient;

/// Where clients send to. May be called on any thread.
class ClientNetwork {
 public:
  virtual ~ClientNetwork() = default;
  /// To all receivers of the deliveries, wherever they are.
  virtual void send(std::shared_ptr<const Message> message, std::vector<Delivery> deliveries) = 0;
  /// Hands the event to the client when its time has come. `counts`: a run that stops waits for it.
  virtual void later(Time when, ClientId client, WallEvent event, bool counts) = 0;
  /// What has become of a client's messages so far, at a sample.
  virtual void measured(ClientId client, std::uint64_t sample, const MessageCounts& counts) = 0;
  /// A client says what it has counted, whenever it is asked.
  virtual void counted(const WallClient& client) = 0;
  /// A client has left out a message of another that its algorithm never sees.
  virtual void refused(ClientId sender, Misdeed what) = 0;
  /// A client has written its part of a checkpoint.
  virtual void saved(ClientId client, std::uint64_t number, std::vector<std::byte> state) = 0;
  /// Whether the client is the hub of this unification, or behind it and all between are absent.
  virtual bool is_hub(ClientId client, std::uint64_t number) const = 0;
  /// How long a client that asks this host for something waits for the answer on the real links, and asks no second time.
  virtual Duration round_trip(ClientId asker) const = 0;
};

/// The record of a host, written by many clients.
class WallRecord {
 public:
  explicit WallRecord(std::unique_ptr<Recorder> recorder) : recorder_{std::move(recorder)} {}
  /// Before the first step.
  void use(std::unique_ptr<Recorder> recorder) { recorder_ = std::move(recorder); }
  /// Before the first step: sees steps and arrivals, one at a time. It outlives the record's use.
  void show_to(EventObserver* observer) { observer_ = observer; }
  /// A client was handed a message.
  void arrived(const Arrival& message, ClientId receiver, Offer offer) {
    if (!observer_) return;
    const std::lock_guard lock(mutex_);
    observer_->on_arrival(message, receiver, offer, 0);
  }
  void add(const Step& step) {
    if (!recorder_ && !observer_) return;
    const std::lock_guard lock(mutex_);
    if (observer_) show(step);
    if (!recorder_) return;
    recorder_->add(step);
    if (step.kind == StepKind::publish || step.kind == StepKind::save) recorder_->flush();  // before any other can know of it
    if (!recorder_->error().empty()) has_failed_.store(true, std::memory_order_relaxed);
  }
  /// The disk does not take it: nothing may leave any more.
  bool has_failed() const { return has_failed_.load(std::memory_order_relaxed); }
  Recorder* recorder() { return recorder_.get(); }

 private:
  void show(const Step& step) const {
    if (step.kind == StepKind::compute) return observer_->on_compute(step.at, step.client);
    if (step.kind == StepKind::merge) return observer_->on_merge(step.at, step.client, step.entries);
    if (step.kind != StepKind::publish || is_hand_over(step)) return;
    if (step.message == MessageKind::model) return observer_->on_unify(step.at, step.index, step.client);
    observer_->on_transmit(step.at, step.client, &step);
  }

  std::mutex mutex_;
  std::unique_ptr<Recorder> recorder_;
  EventObserver* observer_ = nullptr;
  std::atomic<bool> has_failed_{false};
};

/// What the clients of a host share; outlives them.
struct WallWorld {
  const Graph& graph;
  const ChurnPlan& churn;
  const Channel* channel = nullptr;  ///< laid over the real links; null: these are enough
  bool acknowledges = false;
  bool retransmits = false;       ///< what the modelled links lose is sent again until it arrives ...
  AttemptRule attempts{};         ///< ... by this rule
  bool passes_mass_on = false;    ///< epochs matter
  bool may_adopt = false;         ///< a client that joins can take the model of a neighbour
  bool saturates = false;         ///< computes as fast as it can
  bool pushes = false;            ///< a request is for a whole state
  bool is_in_order = false;       ///< of what is pushed: only then may such requests come
  Duration unification_period{};  ///< 0: no hub sends its model by the clock
  Time end = never;               ///< of the run: ticks after it are none
  std::uint32_t incarnation = 0;  ///< of this host's clients
  WallClock& clock;
  ClientNetwork& network;
  WallRecord& record;
  ClientPool& client_pool;
  std::atomic<std::uint64_t> events{0};
  std::atomic<std::uint64_t> epoch{0};    ///< the highest that any client knows, packed
  std::vector<LinkCounts> link_counts{};  ///< each number is written by one client
  std::atomic<std::uint64_t> model_messages{0};
  std::atomic<std::uint64_t> hand_overs{0};   ///< of these
  std::atomic<std::uint64_t> models_lost{0};  ///< likewise
};

/// What a client has done; read when no thread plays it.
struct WallTally {
  std::uint64_t skipped = 0;  ///< compute ticks left out: their predecessor was not finished, or the end came first
  std::uint64_t unheard = 0;  ///< messages that found no client there, or another life, or came from behind a partition
  std::uint64_t steps = 0;
  Time first{};             ///< when its timers began
  MessageCounts earlier{};  ///< of lives of its host that protocols do not know of
  DurationHistogram staleness;
};

class WallClient {
 public:
  WallClient(WallWorld& world, ClientId self, std::unique_ptr<Protocol> protocol, std::unique_ptr<Performer> performer)
      : world_{world},
        self_{self},
        protocol_{std::move(protocol)},
        performer_{std::move(performer)},
        is_here_{world.churn.is_empty() || world.churn.begins_here(self)} {}

  /// One event after the other; ticks must be handed over in the order of their times.
  void handle(const WallEvent& event, ThreadMemory& memory);

  /// Before any event: goes on from a checkpoint. Throws BadArchive.
  void load(std::span<const std::byte> state, std::uint64_t number);
  /// Before any event: its first state is number 0; it begins with it, or, in a later life, begins with it again.
  void mark_first_state(bool is_earlier_life);
  /// Before any event: its first state stays in memory, because the plan has it come back with it.
  void keep_first_state();
  /// Before any event, where the plan is under way: what it says of this client, and the partition in force, or
  /// all_links.
  void begin_in_plan(const Attendance& attendance, std::uint64_t partition) {
    is_here_ = attendance.is_here(self_);
    is_paused_ = attendance.is_paused(self_);
    life_ = attendance.life(self_);
    partition_ = partition;
  }
  /// Before load() or mark_first_state(): the steps of an earlier life of its host, so that the hash covers them, and when its
  /// timers began.
  void recall(const StepHash& hash, std::uint64_t steps, Time first) {
    hash_ = hash;
    tally_.steps = steps;
    tally_.first = first;
    has_started_ = steps > 0;
  }
  /// After that: what it did in that life behind the state that it begins with. It stays done.
  void add_earlier(const MessageCounts& counts, const PairCounts& exchanges, Traffic traffic);
  /// In all lives.
  MessageCounts counts() const {
    MessageCounts all = tally_.earlier;
    return all += protocol_->counts();
  }

  /// The same of what was sent.
  const Traffic& traffic() const { return performer_->traffic(); }

  ClientId id() const { return self_; }
  const Protocol& protocol() const { return *protocol_; }
  std::uint64_t rounds() const { return round_; }
  /// As it was after the last event; any thread may ask.
  RoundsSoFar told_rounds() const {
    return {told_rounds_.load(std::memory_order_relaxed),
            {told_computations_.load(std::memory_order_relaxed), told_messages_.load(std::memory_order_relaxed)}};
  }
  /// On the client's own thread.
  void tell_rounds() {
    const Waiting waiting = protocol_->waiting();
    told_rounds_.store(round_, std::memory_order_relaxed);
    told_computations_.store(waiting.computations, std::memory_order_relaxed);
    told_messages_.store(waiting.messages, std::memory_order_relaxed);
  }
  const Performer& performer() const { return *performer_; }
  const StepHash& hash() const { return hash_; }
  const WallTally& tally() const { return tally_; }
  Epoch epoch() const { return epoch_; }
  bool is_here() const { return is_here_; }

 private:
  std::uint32_t incarnation() const { return world_.incarnation + life_; }
  Step step_of(StepKind kind, std::uint64_t index, std::uint8_t phase = 0) const {
    return {.kind = kind, .phase = phase, .client = self_, .incarnation = incarnation(), .index = index, .at = now_};
  }
  void churn(const WallEvent& what, ThreadMemory& memory);
  void leave(bool has_crashed);
  void come(const ChurnEvent& event, ClientId giver, ThreadMemory& memory);
  void hand_model(ClientId joiner, std::uint64_t number);
  bool is_apart(ClientId other) const {
    return partition_ != all_links && world_.churn.group(partition_, self_) != world_.churn.group(partition_, other);
  }
  bool is_unheard(const WallEvent& event);
  template <class Count>
  void count(const Message& message, std::optional<LinkIndex> link, Count count);
  void answer(const WallEvent& event, ThreadMemory& memory);
  void tick(const WallEvent& event);
  void receive(const WallEvent& event, ThreadMemory& memory);
  bool is_due(const Message& message) const;
  bool answers(ClientId asker);
  void take_control(const Message& message);
  void unify(const WallEvent& event, ThreadMemory& memory);
  void enter_epoch(Epoch epoch, ThreadMemory& memory);
  void save(std::uint64_t number, ThreadMemory& memory);
  void archive(Archive& archive);
  void close_windows_before(Time now, ThreadMemory& memory);
  bool knows_life_of(const Message& message);
  bool fits(const WallEvent& event) const;

  void take_over(ThreadMemory& memory);
  bool may_skip() const { return !world_.saturates && !protocol_->awaits_computations(); }
  bool is_missed(const Wake& wake) const;
  void skip();
  void stop(Time at);
  void schedule();
  void perform(Effects::Draft& draft, std::span<StepEntry> entries, ThreadMemory& memory);
  StepResult perform(const Step& step, ThreadMemory& memory);
  void publish(Effects::Draft& draft, std::span<StepEntry> entries, ThreadMemory& memory);
  void control(const Step& step);
  Fate fate_of(const LinkUse& use) const;
  void keep(std::shared_ptr<const Message> message, std::vector<Delivery> deliveries, std::size_t among);
  void send_requests();
  void send_control(const MessageHead& head, ClientId to, Duration delay);
  void send_again();

  SlotIndex put(std::shared_ptr<const Message> message);
  void let_go(SlotIndex slot);

  WallWorld& world_;
  ClientId self_;
  std::unique_ptr<Protocol> protocol_;
  std::unique_ptr<Performer> performer_;
  Effects effects_;
  std::size_t scheduled_wakes_ = 0;  // of the effects that are being taken over
  std::size_t scheduled_closings_ = 0;
  std::vector<StepEntry> entries_;  // of the step that is performed
  StepHash hash_;
  WallTally tally_;
  bool has_started_ = false;  // in an earlier life of its host
  Time now_{};
  Step performed_{.client = self_};     // the newest: what a failure names
  Time computed_{};                     // when the last computation was finished
  Wake next_computation_{.at = never};  // the compute tick that is due next
  Epoch epoch_;
  bool is_stopped_ = false;
  Time stopped_at_{};
  bool is_here_;
  bool is_paused_ = false;
  std::uint32_t life_ = 0;    // in the plan
  Time since_ = Time::min();  // when it began
  std::uint64_t timers_ = 0;  // tells ticks that are due from those of before a pause or another life
  std::uint64_t partition_ = all_links;
  std::uint64_t fetched_ = 0;             // the message with a neighbour's model that this life waits for; 0: none
  ClientId giver_ = no_client;            // that neighbour
  std::map<ClientId, WallEvent> early_;   // such messages that came before the life began, by sender
  std::map<ClientId, Time> answered_at_;  // when the newest request of a client was answered
  SavedStates saved_;
  std::uint64_t adopted_ = 0;  // the newest unification it knows
  std::uint64_t requests_ = 0;
  std::vector<std::shared_ptr<const Message>> slots_;  // messages that the protocol holds
  std::vector<SlotIndex> free_slots_;
  std::vector<std::uint32_t> lives_;  // by sender among its neighbours: the newest incarnation
  struct Sent {
    std::shared_ptr<const Message> message;
    std::vector<Delivery> deliveries;
  };
  std::deque<Sent> sent_;    // what it may be asked for once more, the newest last
  std::uint64_t round_ = 0;  // rounds that are over, where there are any
  std::atomic<std::uint64_t> told_rounds_{0}, told_computations_{0}, told_messages_{0};
  std::vector<Wake> due_;      // wake-ups of this very instant
  std::vector<Time> closing_;  // windows that end with it
};

}  // namespace rubato
