// Membership: the hosts of a run find each other, make sure that they run the same, and know which are there and what their
// clocks show.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "experiment/file/fingerprint.hpp"
#include "results/run_event.hpp"
#include "runtime/allowance.hpp"
#include "runtime/archive.hpp"
#include "runtime/ids.hpp"
#include "runtime/message_head.hpp"
#include "runtime/time.hpp"
#include "transports/conduct.hpp"
#include "transports/transport.hpp"

namespace rubato {

/// What a host says of itself.
struct HostInfo {
  std::string run;  ///< fingerprint of the experiment
  std::string arithmetic;
  std::string version;
  std::uint64_t life = 0;                 ///< grows with every start of the host
  bool is_virtual = false;                ///< its clock
  std::optional<Duration> running_since;  ///< on its own monotonic clock
  std::uint64_t begun = 0;                ///< real time: which run it takes part in: the life of the host that began it
  Duration came_to{};                     ///< likewise: how far it came in that run in earlier lives, in time of the experiment
  std::uint32_t incarnation = 0;          ///< real time: how many lives it has had before in that run
  /// Real time, of a host that has had lives before: the instant of the experiment from which it goes on.
  std::optional<Duration> goes_on_from{};
  std::uint64_t checkpoint = 0;          ///< that was made then; 0: none, it begins with its first models
  std::vector<FingerprintPart> parts{};  ///< what `run` is made of, to name what differs

  void archive(Archive& archive);
};

/// theirs = mine + nanoseconds, give or take the error.
struct ClockOffset {
  Duration nanoseconds{};
  Duration error{};
};

/// A host that took part and was not there for a while, on this machine's monotonic clock.
struct Absence {
  HostId host{};
  bool has_left = false;         ///< it said that it leaves; else nothing was heard of it
  Duration from{};               ///< when it was heard last
  std::optional<Duration> to{};  ///< when it was heard again; nothing: it was not
};

/// Neither owns the transport nor knows what the other parcels mean: it hands them on by kind. Handlers are called on a
/// thread of the transport and must not block; everything else that is called back is called on the assembly's own
/// thread, or on the one that called meet(). All members may be called on any thread.
class Membership final : public ParcelSink {
 public:
  using Handler = std::function<void(HostId from, Parcel parcel, Duration arrived)>;

  struct Settings {
    std::vector<std::string> names;  ///< of all hosts, in the order of the roster
    HostInfo self;
    Duration lost_after = std::chrono::seconds(10);         ///< of silence
    Duration ask_every = std::chrono::seconds(1);           ///< what time it is; more often at first
    Duration hello_every = std::chrono::milliseconds(200);  ///< until it is answered

    /// This machine's monotonic clock, which also stamps what arrives.
    std::function<Duration()> now = monotonic_now;

    /// On the assembly's thread. A host that was never there is not lost; `life` differs if it was started again.
    std::function<void(HostId)> on_lost{};
    std::function<void(HostId, std::uint64_t life)> on_back{};
    /// On the thread of the membership: which host is waited for, met, late, lost, back or refused, and what say() is given.
    OnEvent on_event{};
  };

  Membership(Transport& transport, Settings settings);
  ~Membership() override;

  /// Before start(): where parcels of this kind go. Only those of hosts that have introduced themselves and run the same
  /// get there. What the handler refers to lives until stop() has returned.
  void handle(ParcelKind kind, Handler handler);
  /// Starts the transport.
  void start();
  /// Ends what start() began; the transport may take `linger` to send what waits.
  void stop(Duration linger);

  /// Waits until all others are there and their clocks are known, or the limit is over, or `stop` becomes true; where one of
  /// them runs already, only a moment for the rest. Returns the hosts that are there, itself included; about once a second on_event
  /// names those that are not. A host that runs something else is refused: throws std::invalid_argument in virtual time, and where
  /// the refused ones are not fewer than those that run the same; else the others go on without it.
  std::vector<HostId> meet(Duration limit, const std::atomic<bool>* stop = nullptr);

  /// Before start(): the run that earlier lives of this host took part in, and how far they came.
  void set_past(std::uint64_t begun, Duration came_to);
  /// Tells all others that this host runs since then (on this machine's monotonic clock), in which run, and in which of its
  /// lives.
  void set_running(Duration since, std::uint64_t begun = 0, std::uint32_t incarnation = 0);
  /// Tells the other hosts from which checkpoint of its earlier lives this host goes on, and of which instant that is; 0: none.
  void set_origin(std::uint64_t checkpoint, Duration at);
  /// How many lives of this host the others know, in runs that they take part in.
  std::uint32_t known_lives() const;

  HostId self() const { return transport_.self(); }
  std::size_t hosts() const { return settings_.names.size(); }
  /// All but itself, in the order of the roster.
  const std::vector<HostId>& others() const { return others_; }
  const std::string& name(HostId host) const { return settings_.names[host.value]; }
  /// Itself; or a host that was there, runs the same and was heard of within lost_after.
  bool is_alive(HostId host) const;
  /// Some host that took part has been lost or started again while this one was there, or this one has had a life before.
  bool has_lost_any() const;
  /// Of the others, in the order in which they were found out, the first 10,000; without those that have come to the end of the
  /// run.
  std::vector<Absence> absences() const;
  /// In the order of the roster; at worst itself.
  HostId first_alive() const;
  /// Why it cannot take part; empty: it can, or was never there.
  std::string refusal(HostId host) const;
  /// What it said last; nothing if it was never there.
  std::optional<HostInfo> host_info(HostId host) const;
  /// The one that is known of; 0 if it was never there.
  std::uint64_t life(HostId host) const;
  /// Nothing if its clock was never heard; zero for itself.
  std::optional<ClockOffset> offset(HostId host) const;
  /// How this host knows it.
  PeerStatus status(HostId host) const;
  /// It has said that it leaves, as "stopped" or "complete": its silence from now on is no loss.
  void note_leaving(HostId host, const char* how);
  /// Tells on_event, after what has happened before; until stop().
  void say(RunEvent event);
  /// What was left out of what the others sent: on_event hears of it.
  Conduct& conduct() { return conduct_; }
  /// Heads that could not be read, and parcels of hosts that are not known or run something else.
  std::uint64_t ignored() const { return ignored_; }
  /// Parcels of this host that were given up because there was no memory for them.
  std::uint64_t unaffordable(HostId host) const;

  void on_parcel(HostId from, Parcel parcel, Duration arrived) override;

 private:
  struct Hello;
  struct ClockAsk;
  struct ClockAnswer;
  struct Question {
    std::uint64_t nonce = 0;
    Duration sent{};
  };
  struct Exchange {
    Duration round_trip{};
    Duration offset{};
  };
  static constexpr Duration at_once = Duration::min();  // clocks may show less than 0

  struct Allowances {  // an honest host needs a tenth, or was restarted often
    Allowance answers{100, 200};
    Allowance lives{0.2, 16};
  };
  struct Peer {
    std::optional<HostInfo> host_info;
    std::string refusal;              // why it cannot take part; empty: it can
    std::string left;                 // as it says; empty: it has not
    bool knows_us = false;            // our newest introduction
    std::uint32_t heard_edition = 0;  // of its introduction
    std::uint32_t lives = 0;          // that it has had, as far as we know
    std::uint32_t our_lives = 0;      // as far as it knows
    Duration next_hello = at_once;
    Duration next_ask = at_once;
    std::uint32_t asks = 0;
    Duration heard{};
    std::deque<Question> questions;  // the newest few that were not answered
    std::deque<Exchange> exchanges;  // the newest few
    bool is_lost = false;
    bool is_told = false;      // that it was met or refused
    bool was_met = false;      // in any of its lives
    bool is_to_go_on = false;  // it is back with another life, and has not said from where it goes on
    Duration took_part{};      // heard last when it was not refused
  };
  struct News {
    HostId host;
    bool is_back;
    std::uint64_t life;
  };

  void hand_on(HostId from, Parcel parcel, Duration arrived);
  void on_hello(HostId from, const Parcel& parcel, Duration arrived);
  void on_ask(HostId from, const Parcel& parcel, Duration arrived);
  void on_answer(HostId from, const Parcel& parcel, Duration arrived);
  void note_life(HostId from, Duration arrived);
  bool may_ask(HostId from, Duration arrived);
  void refuse(HostId from, Misdeed what);
  std::string refusal_of(HostId host, const HostInfo& theirs) const;
  std::string first_difference(const HostInfo& theirs) const;
  void send_hello(HostId to);
  void run();
  void speak(HostId host, Duration now);
  void forgive(Duration still);
  void look_for_lost(Duration now);
  void tell_first(HostId host);
  void tell_origin(HostId host);
  void introduce_again();
  void tell(EventLevel level, const char* event, HostId host, std::vector<std::pair<std::string, RunEvent::Value>> fields);
  void tell_back(HostId host, std::uint32_t life, Duration away);
  void begin_absence(HostId host, Duration heard);
  void end_absence(HostId host, Duration heard);
  Duration pause_between_asks() const;
  static bool is_met(const Peer& peer);
  ClockAsk next_question(Peer& peer, Duration now);
  void require_majority(std::unique_lock<std::mutex>& lock, bool is_over);
  std::vector<HostId> hosts_that(bool are_there) const;
  bool is_alive(const Peer& peer) const;

  Transport& transport_;
  const Settings settings_;
  std::vector<HostId> others_;
  std::array<Handler, last_parcel_kind + 1> handlers_;
  std::atomic<std::uint64_t> ignored_{0};
  Conduct conduct_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  HostInfo mine_;
  std::uint32_t edition_ = 0;  // of our introduction
  bool is_doubled_ = false;    // a later start of this host is known to another
  bool has_lost_any_ = false;  // while this host was there
  std::vector<Absence> absences_;
  std::vector<Peer> peers_;                  // by host; our own place is unused
  std::vector<Allowances> allowances_;       // likewise, of all its lives
  std::vector<std::uint64_t> unaffordable_;  // by host
  std::random_device chance_;                // nonces are not to be guessed
  std::vector<News> news_;                   // for the thread to tell
  std::vector<RunEvent> events_;             // likewise
  bool is_stopping_ = false;
  bool has_started_ = false;
  std::thread thread_;
};

}  // namespace rubato
