// ScoreCollector: makes a score from the steps of a run, and from arrivals where they are known.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/engine/conductor.hpp"
#include "runtime/step.hpp"
#include "web/score.hpp"

namespace rubato::web {

class ScoreCollector final : public StepSink, public EventObserver {
 public:
  struct Facts {
    std::size_t clients = 0;
    Time end{};                                  ///< of the run
    bool has_arrivals = false;                   ///< on_arrival is called
    bool waits = false;                          ///< the protocol has clients wait for messages
    bool asks = false;                           ///< these are answers to what they have asked
    bool in_step = false;                        ///< all send when the last has computed, and merge when the last message is there
    bool keeps_rounds = false;                   ///< the graph changes with them
    bool refuses_at_close = false;               ///< what is discarded at a window's close is beyond the cap
    Duration deadline = Duration::max();         ///< without arrivals: what is discarded and older is late
    std::vector<std::pair<Time, Time>> parts{};  ///< whose marks are kept
  };

  ScoreCollector(Facts facts, const ScoreLimits& limits);
  /// Tells who is there; null: all are. It outlives the collector's use.
  void attend(const Conductor& conductor) { conductor_ = &conductor; }

  SlotIndex open_slot(std::uint32_t) override { return no_slot; }
  void perform(const Step& step) override;
  void on_round(Time at, std::uint64_t round) override;
  void on_arrival(const Arrival& message, ClientId receiver, Offer offer, std::uint32_t tokens_left) override;

  /// What there is when the run is over; once.
  RunScore take(Time end, bool is_cut);

 private:
  struct Key {
    std::uint32_t sender, receiver;
    Sequence sequence;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      std::uint64_t word = (static_cast<std::uint64_t>(key.sender) << 32 | key.receiver) * 0x9E37'79B9'7F4A'7C15;
      word = (word ^ key.sequence ^ word >> 29) * 0xBF58'476D'1CE4'E5B9;
      return static_cast<std::size_t>(word ^ word >> 32);
    }
  };
  // A message without an outcome so far.
  struct Open {
    Time sent{}, arrived = never;
    std::uint64_t ordinal = 0;  // among those of its sender
    std::uint64_t order = 0;    // of its publication among all steps
    std::int64_t part = -1;     // where its mark is kept
    std::size_t mark = 0;
  };

  RunScore::Part* part_at(Time at);
  void publish(const Step& step);
  void absorb(const Step& step);
  void discard(const Step& step);
  Ending fate_of_discarded(const Open& open, const Step& step, const StepEntry& entry) const;
  bool are_apart(ClientId a, ClientId b) const;
  void end(const Key& key, const Open& open, Ending fate, Time at, std::uint32_t lag);
  void add_ages(const Key& key, const Open& open, Time at, std::uint32_t lag);
  // What came last: a message, or a computation, which is sent and arrives as it ends.
  struct Last {
    ClientId sender = no_client, receiver = no_client;
    Time sent{}, arrived = Time::min();
    std::uint64_t order = 0;
  };
  void note_wait(ClientId client, Time at, const Last& last);
  std::size_t slice_of(Time at, std::size_t slices) const;

  Facts facts_;
  ScoreLimits limits_;
  const Conductor* conductor_ = nullptr;
  RunScore score_;
  std::size_t part_ = 0;  // steps come in the order of time
  std::unordered_map<Key, Open, Hash> open_;
  std::vector<std::uint64_t> sent_;  // by client: publications
  std::vector<Time> acted_;          // by client: its last step of its own, where clients wait
  CriticalPath path_;
  Last arrival_, computation_;  // of all clients
  std::uint64_t steps_ = 0;
};

}  // namespace rubato::web
