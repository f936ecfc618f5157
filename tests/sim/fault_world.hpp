// A world of faults: eight clients that learn over bad links while a script makes them come and go, and everything that
// must hold at every event. What holds is judged from the steps alone, not by what the conductor believes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "algos/catalogue.hpp"
#include "learning/models/problems.hpp"
#include "runtime/engine/conductor.hpp"
#include "runtime/engine/timing_check.hpp"
#include "runtime/protocols/push.hpp"
#include "runtime/world/channel.hpp"
#include "runtime/world/churn.hpp"
#include "runtime/world/mixing.hpp"
#include "runtime/world/topology.hpp"
#include "tests/support/performed_run.hpp"
#include "tests/support/world.hpp"

namespace rubato::test {

/// How soon a crash is noticed, and how often states are kept.
inline constexpr ChurnTimes fault_times{std::chrono::milliseconds(700), std::chrono::seconds(5)};

/// The lines, and what they leave undone put right at the instant at which the calm begins.
std::vector<ChurnLine> with_calm(std::vector<ChurnLine> lines);

/// Something did not hold.
class Broken : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Bugs for the search to find.
enum class Planted { nothing, no_reset, old_window };

inline constexpr std::uint32_t fault_clients = 8;
inline constexpr double fault_phase = 40;  // seconds; then it is calm

/// Performs steps, and watches who does what in which life and epoch.
class FaultWatch final : public StepSink {
 public:
  /// `shares_out`: the weights of who is known to be there sum to one.
  FaultWatch(PerformedRun& run, const Graph& graph, bool passes_mass_on, bool shares_out)
      : run_{run}, graph_{graph}, passes_mass_on_{passes_mass_on}, shares_out_{shares_out}, all_(fault_clients) {}

  SlotIndex open_slot(std::uint32_t receivers) override { return run_.open_slot(receivers); }

  void perform(const Step& step) override {
    if (step.kind == StepKind::measure) return;
    One& one = all_[step.client.value];
    if (!changes_at(one, step.at)) check_presence(step, one);
    if (step.kind == StepKind::load) ++one.life;
    if (step.kind == StepKind::reset) enter(one, step.index);
    if (step.kind == StepKind::publish) publish(step, one);
    if (step.kind == StepKind::merge) merge(step, one);
    run_.perform(step);
    one.is_dirty = true;
    asked_ |= step.kind == StepKind::decide;
  }

  /// At these instants, in ascending order, it does not matter whether a step comes before or after what happens.
  void expect_change(ClientId client, Time at) { all_[client.value].changes.push_back(at); }
  void churn(const ChurnEvent& event) {
    One& one = all_[event.client.value];
    using Kind = ChurnEvent::Kind;
    const bool goes = event.kind == Kind::leave || event.kind == Kind::crash;
    if (goes && one.epoch == highest_) has_lost_mass_ = true;
    if (event.kind == Kind::leave || event.kind == Kind::notice) one.is_missed = true;
    if (event.kind == Kind::come) one.is_missed = false;
    if (goes) one.is_here = one.is_paused = false;
    if (event.kind == Kind::come) one.is_here = true;
    if (event.kind == Kind::pause || event.kind == Kind::go_on) one.is_paused = event.kind == Kind::pause;
  }
  void begin_absent(ClientId client) {
    all_[client.value].is_here = false;
    all_[client.value].is_missed = true;
  }

  /// The sums over the newest epoch, if nobody has left it.
  bool check_balance(Time now) {
    if (!passes_mass_on_ || has_lost_mass_) return false;
    for (One& one : all_) {
      if (!one.is_dirty) continue;
      one.parts.values.clear();
      run_.algorithms()[static_cast<std::size_t>(&one - all_.data())]->balance(one.parts);
      one.is_dirty = false;
    }
    sum_.clear(), size_.clear();
    for (const One& one : all_) {
      if (one.epoch != highest_ || !one.is_here) continue;
      sum_.resize(one.parts.values.size()), size_.resize(sum_.size());
      for (std::size_t k = 0; k < sum_.size(); ++k) sum_[k] += one.parts.values[k], size_[k] += std::abs(one.parts.values[k]);
    }
    for (std::size_t k = 0; k < sum_.size(); ++k)
      if (!(std::abs(sum_[k]) < 1e-9 * std::max(1.0, size_[k])))
        throw Broken("at " + std::to_string(to_seconds(now)) + " s number " + std::to_string(k) +
                     " of what must sum to zero sums to " + std::to_string(sum_[k]));
    return !sum_.empty();
  }

  /// Everybody belongs to the newest epoch, and nobody has left it.
  bool is_whole() const {
    for (const One& one : all_)
      if (!one.is_here || one.epoch != highest_) return false;
    return !has_lost_mass_;
  }
  std::uint64_t copies() const { return copies_; }
  bool take_question() { return std::exchange(asked_, false); }
  bool answer() const { return run_.answer(); }

 private:
  class Parts final : public Probe {
   public:
    void vector(std::string_view, std::span<const double> part) override { values.insert(values.end(), part.begin(), part.end()); }
    std::vector<double> values;
  };
  struct One {
    bool is_here = true, is_missed = false, is_paused = false, is_dirty = true;
    std::uint32_t life = 0;
    std::uint64_t epoch = 0;
    std::vector<Time> changes;
    Parts parts;
  };
  using MessageName = std::tuple<ClientId, MessageKind, std::uint32_t, Sequence>;

  static bool changes_at(const One& one, Time at) { return std::binary_search(one.changes.begin(), one.changes.end(), at); }
  static std::string who(const Step& step) {
    return "client " + std::to_string(step.client.value) + " at " + std::to_string(to_seconds(step.at)) + " s: ";
  }
  void check_presence(const Step& step, const One& one) const {
    const bool is_own_act =
        step.kind == StepKind::compute || (step.kind == StepKind::publish && step.message == MessageKind::update);
    if (!one.is_here && step.kind != StepKind::discard && step.kind != StepKind::save)
      throw Broken(who(step) + "a " + std::string(name_of(step.kind)) + " step of who is not there");
    if (one.is_paused && is_own_act) throw Broken(who(step) + "a " + std::string(name_of(step.kind)) + " step in a pause");
  }
  void enter(One& one, std::uint64_t epoch) {
    if (epoch <= one.epoch) throw Broken("an epoch that is not newer");
    one.epoch = epoch;
    if (epoch <= highest_) return;
    highest_ = epoch;
    has_lost_mass_ = false;
  }
  void publish(const Step& step, const One& one) {
    for (const StepEntry& entry : step.entries) {
      if (!entry.lost) copies_ += entry.copies;
      if (entry.incarnation != one.life) throw Broken(who(step) + "a message of another life than its sender's");
      epochs_[{step.client, step.message, entry.incarnation, entry.sequence}] = one.epoch;
    }
  }
  void check_weights(const Step& step) const {
    std::size_t there = 0;
    for (const ClientId sender : graph_.senders_to(step.client)) there += !all_[sender.value].is_missed;
    for (const StepEntry& entry : step.entries)
      if (there > 0 && std::abs(entry.weight * static_cast<double>(there) - 1) > 1e-12)
        throw Broken(who(step) + "hears " + std::to_string(there) + " clients and weighs a message " +
                     std::to_string(entry.weight));
  }
  void merge(const Step& step, const One& one) const {
    if (shares_out_) check_weights(step);
    for (const StepEntry& entry : step.entries) {
      if (entry.incarnation != all_[entry.peer.value].life && !changes_at(all_[entry.peer.value], step.at))
        throw Broken(who(step) + "merges a message of an earlier life of client " + std::to_string(entry.peer.value));
      const auto sent = epochs_.find({entry.peer, step.message, entry.incarnation, entry.sequence});
      if (sent == epochs_.end()) throw Broken(who(step) + "merges a message that nobody has sent");
      if (passes_mass_on_ && sent->second != one.epoch) throw Broken(who(step) + "merges a message of another epoch");
    }
  }

  PerformedRun& run_;
  const Graph& graph_;
  bool passes_mass_on_, shares_out_;
  std::vector<One> all_;
  std::map<MessageName, std::uint64_t> epochs_;
  std::uint64_t highest_ = 0;
  bool has_lost_mass_ = false;
  std::uint64_t copies_ = 0;
  bool asked_ = false;
  std::vector<double> sum_, size_;
};

/// Hands events on to the watch and to the check of mailboxes.
class FaultObserver final : public EventObserver {
 public:
  FaultObserver(FaultWatch& watch, TimingCheck check) : watch_{watch}, check_{std::move(check)} {}
  void on_period(Time at, std::uint64_t index) override { check_.on_period(at, index); }
  void on_arrival(const Arrival& arrival, ClientId receiver, Offer offer, std::uint32_t tokens) override {
    check_.on_arrival(arrival, receiver, offer, tokens);
  }
  void on_window_close(Time at, ClientId client, std::span<const Arrival> batch, std::span<const StepEntry> used) override {
    check_.on_window_close(at, client, batch, used);
  }
  void on_churn(const ChurnEvent& event) override { watch_.churn(event); }

 private:
  FaultWatch& watch_;
  TimingCheck check_;
};

/// An algorithm, what it is to agree on, and how well.
struct FaultSubject {
  const char* name;
  AlgorithmOptions options;
  bool computes;         ///< else everybody starts elsewhere and they only pass on what they have
  bool is_pulled_apart;  ///< everybody has another optimum
  double agreement;      ///< how far models may be from their mean at the end, 1 being the start
  double calm;           ///< seconds
};

inline FaultSubject subject_of(std::uint64_t seed) {
  const auto with = [](std::initializer_list<std::pair<std::string, AlgorithmOptions::Value>> values) {
    AlgorithmOptions options;
    for (const auto& [name, value] : values) options.set(name, value);
    return options;
  };
  switch (seed % 6) {
    case 0:
      return {"spodgt", with({{"eta", 0.05}, {"gradient_mode", std::string("memory")}}), true, true, 0.01, 200};
    case 1:
      return {"sgp", {}, false, false, 1e-6, 60};
    case 2:
      return {"depositum", with({{"alpha", 0.05}, {"beta", 1.0}, {"gamma", 0.3}, {"h", std::string("none")}}), true, true, 0.01,
              200};
    case 3:
      return {"draco", with({{"eta", 0.05}, {"self_apply", true}}), true, false, 0.01, 100};
    case 4:
      return {"dpsgd", with({{"eta", 0.05}}), true, false, 0.01, 100};
    default:
      return {"choco", with({{"eta", 0.05}}), true, false, 0.01, 150};
  }
}

/// What scripts have put the clients through.
struct Hardship {
  MessageCounts messages;
  ChurnCounts churn;
  std::uint64_t events = 0, balanced = 0;  ///< events, and those after which something had to sum to zero
};

class FaultWorld {
 public:
  /// `lines` end before the fault phase does; what they leave undone is put right when the calm begins.
  FaultWorld(std::uint64_t seed, std::vector<ChurnLine> lines, Planted planted);
  /// Throws Broken or std::logic_error for the first thing that does not hold.
  void run(Hardship& hardship);

 private:
  static constexpr Index dimension = 2;

  std::unique_ptr<PerformedRun> make_clients(const CatalogueEntry& entry);
  void check_counts(const Conductor& conductor, const FaultWatch& watch) const;
  double disagreement() const;

  std::uint64_t seed_;
  Stream chance_;
  Planted planted_;
  FaultSubject subject_;
  Graph graph_;
  ClientSettings push_;
  ConductorSettings settings_;
  std::unique_ptr<RandomChannel> channel_;
  ChurnPlan plan_;
  std::vector<ChurnLine> lines_;
  std::unique_ptr<PerformedRun> run_;
};

/// A script of a few lines, drawn from the seed, that does not contradict itself.
std::vector<ChurnLine> random_script(std::uint64_t seed);
/// Without the lines that contradict those before them.
std::vector<ChurnLine> sound(const std::vector<ChurnLine>& lines);

/// Empty, or what did not hold.
std::string failure_of(std::uint64_t seed, const std::vector<ChurnLine>& lines, Hardship& hardship,
                       Planted planted = Planted::nothing);

/// The shortest script found that still fails: lines are left out as long as something fails.
std::vector<ChurnLine> shrink(std::uint64_t seed, std::vector<ChurnLine> lines, Planted planted = Planted::nothing);

/// As an experiment file says it.
std::string in_words(const std::vector<ChurnLine>& lines);

}  // namespace rubato::test
