// WallHost: the clients of one host in real time: their actors, their clock, and the network that carries their messages.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "actors/core/evaluator_actor.hpp"
#include "actors/core/reporter.hpp"
#include "actors/core/run_control.hpp"
#include "actors/core/run_options.hpp"
#include "actors/core/task.hpp"
#include "actors/hosts/membership.hpp"
#include "actors/wall/client.hpp"
#include "experiment/build/timing.hpp"
#include "results/wall_checkpoint.hpp"
#include "runtime/pace_watch.hpp"
#include "runtime/world/attendance.hpp"
#include "transports/transport.hpp"

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(rubato::WallEvent)

namespace rubato {

/// The way to the other hosts, for a run over several.
struct WallNetwork {
  Transport& transport;
  Membership& membership;
  std::vector<HostId> host_of;  ///< by client
  HostId self() const { return transport.self(); }
};

/// Messages that did not get through, and why.
struct NetworkCounts {
  std::uint64_t malformed = 0;  ///< parcels that were no messages of this run
  std::uint64_t flooded = 0;    ///< beyond what one host may have waiting for the clients here
};

class WallHost final : public ClientNetwork {
 public:
  /// Everything given by reference outlives the host. Without a network all clients are here.
  WallHost(const config::Experiment& experiment, const Task& task, Timing& timing, const RunOptions& options, WallRecord& record,
           WallNetwork* network);
  ~WallHost() override;

  const std::vector<std::unique_ptr<WallClient>>& clients() const { return clients_; }
  ClientPool& client_pool() { return client_pool_; }
  WallClock& clock() { return clock_; }
  const WallWorld& world() const { return world_; }
  std::vector<Sample>& samples() { return reporter_.samples(); }
  double wall_seconds() const { return wall_seconds_; }
  /// When its clients stopped; what is under way to them is still taken then. Before that, now.
  Time ended() const { return phase_ == Phase::running ? clock_.now() : ended_; }
  /// Any thread: that was written, or that its clients go on from.
  std::optional<CheckpointInfo> newest_checkpoint() const;
  NetworkCounts counts() const { return {malformed_.load(), flooded_.load()}; }
  std::uint64_t samples_left_out() const { return samples_left_out_; }
  /// That this host knows of; after perform().
  std::uint64_t unifications() const { return unifications_; }
  /// After perform(): what has happened of the plan; none where there is no churn.
  std::optional<ChurnCounts> churn_counts() const { return attendance_ ? std::optional(attendance_->counts()) : std::nullopt; }

  /// The experiment's time 0 is at this instant of the machine's monotonic clock; its clients are in this life, and nothing
  /// that they do is before `first`.
  void begin(Duration since, std::uint32_t incarnation, Time first = Time{}) {
    world_.incarnation = incarnation;
    clock_.start(Time{}, since, first);
  }
  /// Between begin() and perform(), of a run that can be gone on with: where its clients begin.
  void load(ClientId client, std::uint64_t number, std::span<const std::byte> state);
  /// All were loaded from it: later ones have higher numbers.
  void go_on_from(const CheckpointInfo& checkpoint);
  /// Before perform(): what an earlier life has come to.
  void recall(std::uint64_t events, std::uint64_t models) {
    world_.events = events;
    world_.model_messages = models;
  }
  /// The clients' first states, which an earlier life has left or this one begins with.
  void mark_first_states(bool is_earlier_life);

  /// From the first tick to the last message. `is_late`: the others have begun already, or this host has.
  /// `on_checkpoint` is called on this thread.
  void perform(bool is_late, const std::function<void(const WallCheckpoint&)>& on_checkpoint);

  /// What its clients have counted when they were last asked, and how the newest sample scores them.
  struct Live {
    MessageCounts counts{};
    std::uint64_t skipped = 0;
    std::optional<HostScores> scores{};
    std::vector<Screened> refused{};  ///< of one client
  };
  /// Any thread.
  Live live() const;
  /// The same, as a run is looked at.
  Glance glance() const;

  /// Begins a sample of these clients, with what so many have spent, which measured() adds to; close_sample() reports it with
  /// its scores. For others than this host only after perform(), when nothing runs any more.
  SampleHeader open_sample(std::vector<ClientId> measured, std::size_t clients, Time at);
  void close_sample(Sample sample);
  Reporter& reporter() { return reporter_; }

  // ClientNetwork
  void send(std::shared_ptr<const Message> message, std::vector<Delivery> deliveries) override;
  void later(Time when, ClientId client, WallEvent event, bool counts) override;
  void measured(ClientId client, std::uint64_t sample, const MessageCounts& counts) override;
  void counted(const WallClient& client) override;
  void refused(ClientId sender, Misdeed what) override;
  void saved(ClientId client, std::uint64_t number, std::vector<std::byte> state) override;
  bool is_hub(ClientId client, std::uint64_t number) const override;
  Duration round_trip(ClientId asker) const override;

 private:
  enum class Phase { running, draining, over };

  struct Presence {
    bool is_here = true;
    std::uint64_t life = 0;
    bool is_mute = false;
    Duration heard{};          // its clients, or from when on they could be
    Duration longest_pause{};  // for which they may have nothing to say; 0: for ever
  };

  void make_clients(const Task& task, Timing& timing);
  void set_quotas();
  void spawn_all(caf::actor_system& system);
  void set_end();
  void set_alarms();
  void every(Duration period, std::uint64_t number, std::function<void(std::uint64_t)> act);
  bool is_here(ClientId client) const { return by_client_[client.value] != nullptr; }

  void post(ClientId client, WallEvent event);
  void post_to_all(const WallEvent& event);
  void handled();
  void deliver(const std::shared_ptr<const Message>& message, const Delivery& delivery, Time stamp, HostId from);
  void receive_message(HostId from, Parcel parcel, Duration arrived);
  Duration behind(HostId host) const;

  void sample(Time at);
  void unify(std::uint64_t number);
  ClientId hub(std::uint64_t number) const;

  // Of the plan of churn.
  void join_plan(bool is_late);
  void await_churn();
  void carry_out(const ChurnEvent& event);
  void begin_epoch(const ChurnEvent& event);
  void tell_all(ClientId about, bool is_here);
  void post_if_own(ClientId client, WallEvent event);
  bool is_there(ClientId client) const;
  void tell_rounds();
  void look(const std::function<void(const WallCheckpoint&)>& on_checkpoint);
  void look_at_hosts();
  bool is_mute(HostId host, Duration now);
  void look_at_counts();
  void look_at_conduct();
  void refuse(HostId from, Misdeed what);
  void begin_epoch();
  void begin_checkpoint(std::uint64_t least);
  void save_at_stop();
  void write_checkpoints(const std::function<void(const WallCheckpoint&)>& on_checkpoint);
  void begin_to_drain();
  bool is_drained();
  void let_go();

  const config::Experiment& experiment_;
  const Timing& timing_;
  const RunOptions& options_;
  WallNetwork* network_;
  SnapshotSender sender_;
  ClientPool client_pool_;
  RunControl control_;
  WallClock clock_;
  WallWorld world_;
  StopRule stop_rule_;
  Reporter reporter_;
  std::vector<std::unique_ptr<WallClient>> clients_;  // of this host, ascending
  std::vector<WallClient*> by_client_;                // null: elsewhere
  std::shared_ptr<std::vector<ClientId>> measured_;
  bool is_state_ = false;  // what clients send says all of it: a newer message makes an older one needless, if none waits for that

  std::atomic<std::int64_t> open_work_{0};  // events and messages under way on this host
  std::atomic<std::uint64_t> malformed_{0};
  std::atomic<std::uint64_t> flooded_{0};
  std::vector<InboundQuota> quotas_;           // by host
  std::atomic<std::int64_t> last_message_{0};  // the machine's clock, of what came from other hosts
  std::atomic<bool> is_until_over_{false};
  std::atomic<bool> is_saving_{false};             // a checkpoint was begun and is not written yet
  std::atomic<std::uint64_t> sampled_periods_{0};  // of every_events
  std::uint64_t samples_ = 0;                      // clock thread
  std::uint64_t samples_left_out_ = 0;
  std::uint64_t unifications_ = 0;

  const std::size_t model_bytes_;  // at most, in whatever precision
  const Duration longest_delay_;   // that this run's channel may add to a message
  std::mutex door_;                // for what comes from other hosts
  bool is_open_ = false;

  mutable std::mutex mutex_;                             // guards what follows
  std::optional<Attendance> attendance_;                 // null: there is no churn
  std::map<std::uint64_t, SampleHeader> open_headers_;   // by sample
  std::map<std::uint64_t, WallCheckpoint> checkpoints_;  // incomplete ones
  std::map<ClientId, Live> counted_;
  std::optional<HostScores> scores_;     // of the newest sample
  Time ended_ = never;                   // when its clients stopped
  CheckpointInfo asked_;                 // the newest checkpoint that clients were asked for
  std::optional<CheckpointInfo> saved_;  // the newest that is on the disk

  // This thread's.
  Phase phase_ = Phase::running;
  Duration draining_since_{};
  bool keeps_checkpoints_ = false;
  std::vector<Presence> hosts_;
  Duration looked_{};             // when hosts_ were looked at last; 0: never
  std::vector<bool> is_stopped_;  // hosts that have said so
  double wall_seconds_ = 0;
  Duration next_count_{};
  PaceWatch pace_;
};

}  // namespace rubato
