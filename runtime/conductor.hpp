// The conductor: walks the timing of every client in virtual time and writes down the steps. It never touches a model.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "runtime/event_queue.hpp"
#include "runtime/hash.hpp"
#include "runtime/histogram.hpp"
#include "runtime/protocols/protocol.hpp"
#include "runtime/step.hpp"
#include "runtime/unification.hpp"
#include "runtime/world/channel.hpp"
#include "runtime/world/graph.hpp"

namespace rubato {

/// Who performs the steps. Called on the conductor's thread only.
class StepSink {
 public:
  virtual ~StepSink() = default;
  /// A place for the payload of the publish step that comes next; `receivers` messages of it will be merged, adopted or
  /// discarded, unless the run ends before.
  virtual SlotIndex open_slot(std::uint32_t receivers) = 0;
  virtual void perform(const Step& step) = 0;
};

/// Takes steps and does nothing: the timing alone.
class NoSteps final : public StepSink {
 public:
  SlotIndex open_slot(std::uint32_t) override { return no_slot; }
  void perform(const Step&) override {}
};

/// Watches events as they happen, for traces and tests. Called after the protocol has answered.
class EventObserver {
 public:
  virtual ~EventObserver() = default;
  virtual void on_period(Time, std::uint64_t /*index*/) {}
  virtual void on_unify(Time, std::uint64_t /*index*/, ClientId /*hub*/) {}
  virtual void on_arrival(const Arrival&, ClientId /*receiver*/, Offer, std::uint32_t /*tokens_left*/) {}
  virtual void on_window_close(Time, ClientId, std::span<const StepEntry> /*batch*/) {}
  virtual void on_compute(Time, ClientId) {}
  /// `publish` is null if nothing was sent.
  virtual void on_transmit(Time, ClientId, const Step* /*publish*/) {}
};

struct ConductorSettings {
  std::uint64_t seed = 0;
  Time until{};                            ///< events at this instant still happen
  const Graph* graph = nullptr;
  const Channel* channel = nullptr;
  bool retransmits = false;                ///< a lost message is sent again until it arrives
  UnificationPlan unification;
  Duration cap_period{};                   ///< how often tokens are refilled; 0: never
  std::uint64_t sample_every_events = 0;   ///< 0: not by events
  Duration sample_every{};                 ///< 0: not by time
  std::uint32_t sampled_clients = 0;       ///< the first so many are measured; 0: all
  bool samples_last_state = true;          ///< one more sample at the end
  bool counts_links = false;               ///< per-link counters, for links.csv
};

struct LinkCounts {
  std::uint32_t sent = 0, lost = 0, kept = 0, refused = 0;
};

class Conductor {
 public:
  /// `protocols` holds one automaton per client, in client order. Everything given by reference outlives the conductor.
  Conductor(const ConductorSettings& settings, std::vector<std::unique_ptr<Protocol>> protocols, StepSink& sink,
            EventObserver* observer = nullptr);

  /// Walks on until about `steps` steps more were issued, or about as many events went by without any; false once the
  /// experiment is over.
  bool walk(std::uint64_t steps);

  /// The run ends now, with what it has: the last sample is taken at the time reached.
  void stop();

  bool is_over() const { return is_over_; }
  Time now() const { return now_; }
  /// Timer ticks and deliveries, kept or refused.
  std::uint64_t events() const { return events_; }
  std::uint64_t steps() const { return steps_; }
  std::uint64_t samples() const { return samples_; }
  std::uint64_t unifications() const { return unifications_; }
  std::uint64_t model_messages() const { return model_messages_; }
  std::size_t flights() const { return queue_.flights(); }
  const DurationHistogram& staleness() const { return staleness_; }
  const std::vector<LinkCounts>& link_counts() const { return link_counts_; }
  std::size_t clients() const { return protocols_.size(); }
  const Protocol& protocol(ClientId client) const { return *protocols_[client.value]; }
  /// Of the steps of each client so far, samples left out, in client order.
  const std::vector<StepHash>& hashes() const { return hashes_; }
  MessageCounts total_counts() const;

 private:
  void handle(EventQueue::Kind kind);
  void handle_wake();
  void handle_flight();
  void handle_model(const Flight& flight);
  void handle_closing();
  void tick(const Wake& wake);
  void refill();
  void unify(std::uint64_t index);
  void unify_at_once(ClientId hub, std::uint64_t index);
  void unify_by_transport(ClientId hub, std::uint64_t index);
  void sample();
  void finish();

  void take_over(std::size_t first_wake = 0);
  void issue_drafts();
  void depart(Effects::Draft& draft, std::span<StepEntry> entries);
  Fate fate_of(LinkUse use) const;
  void issue(const Step& step);
  void count_event();

  ConductorSettings settings_;
  std::vector<std::unique_ptr<Protocol>> protocols_;
  StepSink& sink_;
  EventObserver* observer_;
  EventQueue queue_;
  Effects effects_;
  std::vector<Flight> departing_;
  std::vector<StepHash> hashes_;
  std::vector<LinkCounts> link_counts_;
  std::vector<std::uint64_t> adopted_;  // the newest unification each client knows, when models travel
  DurationHistogram staleness_;
  Time now_{};
  std::uint64_t events_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t samples_ = 0;
  Time sampled_at_{};
  std::uint64_t sampled_after_ = 0;
  std::uint64_t unifications_ = 0;
  std::uint64_t model_messages_ = 0;
  bool is_over_ = false;
};

}  // namespace rubato
