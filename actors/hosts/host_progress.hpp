// HostProgress: one host among the others of a virtual run: how far each is, which have to wait for which, when all
// stop, and why.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "actors/hosts/item_exchange.hpp"
#include "actors/virtual/conductor_actor.hpp"
#include "runtime/engine/conductor.hpp"

namespace rubato {

/// All hosts walk the same timing, so how far a host has come is one number: the steps it has handed out, its own and
/// those of others. Hosts tell each other theirs, and what else the others must know, again and again: nothing is lost
/// by a lost parcel. A host waits when it is far ahead of the slowest, or keeps too much for others; the
/// slowest itself never waits, so that one always goes on.
class HostProgress final : public Peers {
 public:
  /// How far this host may be ahead of the slowest, in steps, and what it may keep for others meanwhile, in payloads.
  struct Lead {
    std::uint64_t steps = 1 << 10;
    std::size_t payloads = 1 << 10;
  };

  /// `owners`: by client. Takes over the assembly's notices: make it before the assembly starts.
  HostProgress(Membership& membership, Transport& transport, ItemExchange& items, std::vector<HostId> owners);
  HostProgress(const HostProgress&) = delete;
  HostProgress& operator=(const HostProgress&) = delete;

  HostId self() const { return membership_.self(); }
  /// The host that evaluates, and gathers the results.
  HostId first() const { return HostId{0}; }
  bool is_first() const { return self() == first(); }
  HostId owner(ClientId client) const { return owners_[client.value]; }
  bool is_own(ClientId client) const { return owner(client) == self(); }
  const std::vector<HostId>& owners() const { return owners_; }
  const std::vector<HostId>& others() const { return membership_.others(); }

  /// All hosts are there: from now on a host that goes ends the run.
  void begin();
  bool has_begun() const { return has_begun_; }
  /// The conductor is about to walk.
  void attach(RunControl& control, Conductor& conductor, Lead lead);

  // On the conductor's thread.
  void detach() override;
  void on_stop_wanted() override;
  bool may_advance() override;
  void on_walked() override;
  void on_answer(bool yes) override;
  std::int64_t empty_slots() const override { return empty_slots_; }
  void count_step() { ++position_; }
  void count_empty_slots(std::int64_t change) { empty_slots_ += change; }
  /// The decide step that is handed out now is the so-and-so-manieth of the run, and of a client of this host.
  void on_own_question(std::uint64_t number) { question_ = number; }
  /// The sample begins: what the timing is until here is compared with what it is at the others.
  void on_sample(std::uint64_t number);
  /// The most there have been at a time, in slots or kept for others, as seen between two slices.
  std::uint64_t peak_payloads() const { return peak_payloads_; }

  // On any thread.
  /// The payload is in its slot: the clients that wait for it go on.
  void put(SlotIndex slot, Payload payload);
  /// Another host has answered the question that the conductor waits for.
  void put_answer(bool yes);
  /// The snapshot of another host's client has come, or will not.
  void put_snapshot(const Step& measured, std::optional<Snapshot> snapshot);

  /// The run cannot go on, here and everywhere. The first sentence counts.
  void fail(const std::string& sentence);
  /// The same with the name of this host before it.
  void fail_here(const std::string& what) { fail("host \"" + membership_.name(self()) + "\": " + what); }
  std::optional<std::string> failure() const;
  /// A client of this host has failed: its sentence is that of all hosts.
  void fail_if_a_client_did();
  /// Called on any thread, now and then: names the host that this one waits for, if nothing has moved for half a minute,
  /// and ends the run after `patience` without a move. Ends it within seconds where a stop is wanted and a host does not
  /// say where it stands.
  std::optional<std::string> look_for_standstill(Duration patience, Duration now = monotonic_now());
  /// Where all have agreed to end, because one wanted to stop.
  std::optional<Time> end() const;
  /// What has judged a sample to be the last: "metrics.stop" or "metrics.stop_on_nan"; empty: nothing.
  std::string ended_by() const;

  /// This host is done, for better or worse. Waits until the others know of a failure, or at most so long.
  void part(Duration limit);

 private:
  struct Mark {
    std::uint64_t sample = 0;
    std::uint64_t low = 0, high = 0;  // of the hashes of all steps before it
  };
  // Everything that a host tells the others, again and again.
  struct HostState {
    std::uint64_t position = 0;
    bool is_halting = false;
    std::optional<Duration> halted_at;  // goes no further until all have agreed where to end
    std::optional<Duration> end_at;     // from the first host: where all end
    Mark mark;                          // of the newest sample
    std::uint64_t judged = 0;           // from the first host: so many samples are judged, and the run goes on
    std::uint64_t last_sample = 0;      // from the first host, where ended_by is said: the run ends after so many samples
    std::string ended_by;               // what has judged that sample to be the last; empty: nothing yet
    std::optional<std::string> failure;
    bool has_ended = false;

    void archive(Archive& archive);
  };
  struct Peer {
    std::optional<std::uint64_t> life;  // seen since the beginning
    HostState said;                     // but for its failure
    Duration moved{};                   // when its position changed
  };
  ItemExchange::Awaited culprit() const;
  std::string sentence_about(HostId host, Duration now) const;

  void on_notice(HostId from, const Parcel& parcel);
  void compare(HostId other, const Mark& theirs);
  HostState state() const;
  void tell();
  void fail_if_a_host_is_gone();
  void settle_end();
  bool waits_for_end();
  bool note_judged();
  bool waits_for_verdict();
  void wake();
  void run(std::stop_token stop);

  Membership& membership_;
  Transport& transport_;
  ItemExchange& items_;
  const std::vector<HostId> owners_;
  Lead lead_;
  std::atomic<bool> has_begun_{false};

  // The conductor's.
  Conductor* conductor_ = nullptr;
  std::uint64_t position_ = 0;
  std::int64_t empty_slots_ = 0;
  std::uint64_t peak_payloads_ = 0;
  std::optional<std::uint64_t> question_;

  std::shared_mutex stage_mutex_;  // held alone to leave it, together to use it
  RunControl* control_ = nullptr;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable_any changed_;
  std::vector<Peer> peers_;  // by host
  std::deque<Mark> marks_;   // of our newest samples
  HostState mine_;
  Duration began_{}, moved_{};  // when our position changed
  Duration next_word_{};
  std::optional<Duration> halting_since_;
  std::jthread thread_;  // last: it ends before what it uses
};

}  // namespace rubato
