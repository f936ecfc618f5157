// A small world in virtual time: a graph, its clients' timers and links, and everything that was seen of a run.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/engine/conductor.hpp"
#include "runtime/protocols/push.hpp"
#include "runtime/protocols/rounds.hpp"
#include "runtime/world/channel.hpp"
#include "runtime/world/graph.hpp"
#include "runtime/world/topology.hpp"

namespace rubato::test {

/// A step with entries of its own.
struct KeptStep {
  Step step;
  std::vector<StepEntry> entries;

  explicit KeptStep(const Step& from) : step{from}, entries(from.entries.begin(), from.entries.end()) { step.entries = {}; }
};

/// Everything that a record keeps of a step, in words: two steps are equal when their sentences are.
inline std::string in_words(const Step& step, std::span<const StepEntry> entries) {
  static constexpr std::string_view kinds[] = {"", " model", " acknowledgement", " request", " resync"};
  std::ostringstream words;
  words.precision(17);
  words << step.at.time_since_epoch().count() << " " << name_of(step.kind) << kinds[static_cast<std::size_t>(step.message)] << " "
        << step.index << " of " << step.client.value;
  if (step.phase != 0) words << " in phase " << unsigned{step.phase};
  if (step.keeps) words << " kept";
  if (!step.with_gradient) words << " without gradient";
  for (const StepEntry& entry : entries)
    words << " [" << entry.peer.value << "#" << entry.sequence << (entry.lost ? " lost" : "") << " x" << entry.weight << " age "
          << entry.age.count() << "]";
  return words.str();
}
inline std::string in_words(const KeptStep& kept) { return in_words(kept.step, kept.entries); }

/// Keeps every step and knows which payloads are still wanted.
class StepLog final : public StepSink {
 public:
  SlotIndex open_slot(std::uint32_t receivers) override {
    wanted_.push_back(receivers);
    return static_cast<SlotIndex>(wanted_.size() - 1);
  }
  void perform(const Step& step) override {
    if (step.kind == StepKind::measure) {
      measures.emplace_back(step);
      return;
    }
    steps.emplace_back(step);
    if (step.kind == StepKind::publish) return;
    for (const StepEntry& entry : step.entries) --wanted_.at(entry.slot);
  }
  void open_sample(const SampleHeader& header) override { samples.push_back({header.at, header.clients, steps.size()}); }

  struct Sample {
    Time at;
    std::uint32_t clients;
    std::size_t steps;  ///< that came before it
  };
  std::vector<KeptStep> steps;
  std::vector<KeptStep> measures;
  std::vector<Sample> samples;

  /// Receivers that have not merged, adopted or discarded what was published in this slot.
  const std::vector<std::int64_t>& wanted() const { return wanted_; }

  std::vector<KeptStep> of_kind(StepKind kind) const {
    std::vector<KeptStep> found;
    for (const KeptStep& kept : steps)
      if (kept.step.kind == kind) found.push_back(kept);
    return found;
  }
  std::vector<std::string> sentences() const {
    std::vector<std::string> all;
    for (const KeptStep& kept : steps) all.push_back(in_words(kept));
    return all;
  }

 private:
  std::vector<std::int64_t> wanted_;
};

/// An event as an observer sees it.
struct Seen {
  Time at{};
  Priority kind{};
  ClientId client{};                 ///< the receiver, the ticking client, the hub
  ClientId source{};                 ///< arrival: the sender
  std::uint64_t sequence = 0;        ///< arrival, transmit: of the message; period, unify: which one
  bool sends = false;                ///< transmit: something was published
  Offer outcome = Offer::kept;       ///< arrival
  Duration age{};                    ///< arrival
  std::uint32_t tokens = 0;          ///< arrival: left afterwards
  std::vector<StepEntry> entries{};  ///< window_close: what was merged of the batch; transmit: the receivers
  std::vector<MessageId> held{};     ///< window_close: the batch, in order of arrival
};

inline std::string in_words(const Seen& seen) {
  static constexpr std::string_view names[] = {"period",  "unify",    "arrival",  "close",
                                               "compute", "transmit", "deadline", "evaluate"};
  static constexpr std::string_view outcomes[] = {"kept", "late", "capped"};
  std::ostringstream words;
  words.precision(17);
  words << seen.at.time_since_epoch().count() << " " << names[static_cast<std::size_t>(seen.kind)] << " of " << seen.client.value;
  if (seen.kind == Priority::arrival)
    words << " from " << seen.source.value << "#" << seen.sequence << " " << outcomes[static_cast<std::size_t>(seen.outcome)]
          << " age " << seen.age.count() << " tokens " << seen.tokens;
  if (seen.kind == Priority::transmit) words << (seen.sends ? " sends #" + std::to_string(seen.sequence) : " is silent");
  if (seen.kind == Priority::period || seen.kind == Priority::unify) words << " number " << seen.sequence;
  for (const StepEntry& entry : seen.entries)
    words << " [" << entry.peer.value << "#" << entry.sequence << (entry.lost ? " lost" : "") << " x" << entry.weight << " age "
          << entry.age.count() << "]";
  for (const MessageId& id : seen.held) words << " held " << id.sender.value << "#" << id.sequence;
  return words.str();
}

class EventLog final : public EventObserver {
 public:
  std::vector<Seen> seen;

  void on_period(Time at, std::uint64_t index) override { seen.push_back({.at = at, .kind = Priority::period, .sequence = index}); }
  void on_unify(Time at, std::uint64_t index, ClientId hub) override {
    seen.push_back({.at = at, .kind = Priority::unify, .client = hub, .sequence = index});
  }
  void on_arrival(const Arrival& arrival, ClientId receiver, Offer offer, std::uint32_t tokens) override {
    seen.push_back({.at = arrival.arrived,
                    .kind = Priority::arrival,
                    .client = receiver,
                    .source = arrival.id.sender,
                    .sequence = arrival.id.sequence,
                    .outcome = offer,
                    .age = arrival.arrived - arrival.sent,
                    .tokens = tokens});
  }
  /// A window that a unification has emptied hands over nothing: not an event of its own.
  void on_window_close(Time at, ClientId client, std::span<const Arrival> batch, std::span<const StepEntry> used) override {
    if (batch.empty() && used.empty()) return;
    Seen close{.at = at, .kind = Priority::window_close, .client = client, .entries = {used.begin(), used.end()}};
    for (const Arrival& arrival : batch) close.held.push_back(arrival.id);
    seen.push_back(std::move(close));
  }
  void on_compute(Time at, ClientId client) override { seen.push_back({.at = at, .kind = Priority::compute, .client = client}); }
  void on_transmit(Time at, ClientId client, const Step* publish) override {
    Seen tick{.at = at, .kind = Priority::transmit, .client = client};
    if (publish) {
      tick.sends = true;
      tick.sequence = publish->index;
      tick.entries.assign(publish->entries.begin(), publish->entries.end());
    }
    seen.push_back(std::move(tick));
  }

  std::vector<Seen> of_kind(Priority kind) const {
    std::vector<Seen> found;
    for (const Seen& one : seen)
      if (one.kind == kind) found.push_back(one);
    return found;
  }
  std::vector<std::string> sentences() const {
    std::vector<std::string> all;
    for (const Seen& one : seen) all.push_back(in_words(one));
    return all;
  }
};

inline Time at_seconds(double seconds) { return Time{from_seconds(seconds)}; }

/// Ticks at these seconds.
inline TimerLaw ticks(std::vector<double> seconds) {
  std::vector<Time> times;
  for (const double second : seconds) times.push_back(at_seconds(second));
  return TimerLaw::table(std::move(times));
}

/// Delays in seconds, exponential around their mean; the chances that a message is lost, and that it comes twice.
inline std::unique_ptr<Channel> random_links(std::uint64_t seed, double mean_delay, double loss, double duplicate = 0) {
  const RandomChannel::LinkLaw law{{.kind = Law::Kind::exponential, .first = mean_delay, .values = {}}, loss, duplicate};
  return std::make_unique<RandomChannel>(seed, law, std::map<std::pair<ClientId, ClientId>, RandomChannel::LinkLaw>{});
}

/// Set what differs from the usual, then run once. As it stands: no timer ticks, links take one microsecond, nothing is
/// lost, late, capped or unified.
class World {
 public:
  explicit World(Graph of, std::uint64_t seed = 1) : graph{std::move(of)} {
    push.graph = &graph;
    push.seed = seed;
    push.compute = {TimerLaw::off()};
    push.transmit = {TimerLaw::off()};
    settings.seed = seed;
    settings.graph = &graph;
    settings.samples_last_state = false;
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Graph graph;
  std::unique_ptr<Channel> channel = std::make_unique<IdealChannel>(Duration{1000});
  ClientSettings push;
  ConductorSettings settings;
  RoundBoard board;
  bool in_rounds = false;
  EventLog events;
  StepLog steps;

  Conductor& conductor() {
    if (!conductor_) build(steps, &events);
    return *conductor_;
  }
  void build(StepSink& sink, EventObserver* observer) {
    settings.channel = channel.get();
    board.settings = &push;
    std::vector<std::unique_ptr<Protocol>> protocols;
    for (std::uint32_t i = 0; i < graph.clients(); ++i)
      if (in_rounds)
        protocols.push_back(std::make_unique<Rounds>(board, ClientId{i}));
      else
        protocols.push_back(std::make_unique<Push>(push, ClientId{i}));
    conductor_ = std::make_unique<Conductor>(settings, std::move(protocols), sink, observer);
  }

  World& run_until(Time until) {
    settings.until = until;
    while (conductor().walk(1000)) {
    }
    return *this;
  }

 private:
  std::unique_ptr<Conductor> conductor_;
};

inline Graph directed(std::size_t clients, std::vector<Edge> edges) { return Graph(clients, true, std::move(edges)); }

/// Each possible directed edge with this probability.
inline Graph random_digraph(std::uint64_t seed, std::uint32_t clients, double probability) {
  Stream stream(seed, no_client, Purpose::topology);
  std::vector<Edge> edges;
  for (std::uint32_t i = 0; i < clients; ++i)
    for (std::uint32_t j = 0; j < clients; ++j)
      if (i != j && stream.uniform() < probability) edges.push_back({{i}, {j}});
  return directed(clients, std::move(edges));
}

}  // namespace rubato::test
