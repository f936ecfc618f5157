// A synchronous run without protocols: executes a round program with dense tables, client after client, in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "algos/algorithm.hpp"
#include "algos/catalogue.hpp"
#include "runtime/world/graph.hpp"

namespace rubato::test {

/// What an algorithm shows, by name.
class NamedVectors final : public Probe {
 public:
  void vector(std::string_view name, std::span<const double> values) override {
    seen[std::string(name)] = Eigen::Map<const Vector<double>>(values.data(), static_cast<Index>(values.size()));
  }
  std::map<std::string, Vector<double>> seen;
};

/// Everything about a lock-step run that is given instead of drawn. Matrices are W[receiver][sender].
struct LockStepWorld {
  Graph graph;
  RoundProgram program{};
  std::vector<Matrix<double>> merge{};  ///< round r uses merge[r % size]; empty: every weight is 1
  std::vector<Matrix<double>> share{};  ///< likewise
  /// Is this link used in the exchange of this phase number and round? The opening is round 0.
  std::function<bool(std::uint64_t round, std::uint8_t phase, ClientId receiver, ClientId sender)> uses_link{};
  /// Does this client tell its neighbours anything in the exchange of this round? Who does not publishes nothing.
  std::function<bool(std::uint64_t round, ClientId client)> tells{};
  /// Does this client's computation come with a gradient? The number counts its computations, opening included.
  std::function<bool(std::uint64_t number, ClientId client)> with_gradient{};
  std::vector<ChoiceTable> choices{};  ///< by client; empty: nothing is given, batches are the full data
  bool in_rounds = true;               ///< what the seats say; false: a continuous form, driven in lock-step
  bool loses_nothing = false;
  bool keeps_balance = true;
};

/// m clients in lock-step. Every exchange: all publish, then all merge, messages in ascending sender order.
class LockStep {
 public:
  LockStep(LockStepWorld world, std::vector<std::unique_ptr<Learner<double>>> learners, const AlgorithmFactory<double>& factory,
           const std::vector<Vector<double>>& starts)
      : world_{std::move(world)},
        learners_{std::move(learners)},
        samples_(starts.size(), 1),
        computations_(starts.size(), 0),
        sequences_(starts.size(), 0) {
    for (std::uint32_t i = 0; i < starts.size(); ++i) {
      samples_[i] = learners_[i]->samples();
      plans_.push_back({1, {i}, 0, world_.choices.empty() ? nullptr : &world_.choices[i]});
    }
    for (std::uint32_t i = 0; i < starts.size(); ++i) {
      const Vector<double> start = starts[i];
      const ClientView client_view{.client = {i},
                                   .senders = world_.graph.senders_to({i}),
                                   .receivers = world_.graph.receivers_of({i}),
                                   .samples = samples_,
                                   .in_rounds = world_.in_rounds,
                                   .loses_nothing = world_.loses_nothing,
                                   .keeps_balance = world_.keeps_balance};
      algorithms_.push_back(factory(client_view, view(start), pool_));
    }
  }

  /// Called after every begin, compute, publish and merge of a client.
  std::function<void(ClientId)> after_step = [](ClientId) {};

  /// The opening, and after_round(0); then `rounds` rounds, each followed by after_round(rounds done so far).
  void run(
      std::uint64_t rounds, const std::function<void(std::uint64_t)>& after_round = [](std::uint64_t) {}) {
    for (std::size_t p = 0; p < world_.program.opening.size(); ++p) perform(world_.program.opening[p], 0);
    after_round(0);
    for (std::uint64_t r = 0; r < rounds; ++r) {
      for (std::size_t p = 0; p < world_.program.round.size(); ++p)
        if (world_.program.round[p].happens_in(r)) perform(world_.program.round[p], r);
      after_round(r + 1);
    }
  }

  std::uint32_t clients() const { return static_cast<std::uint32_t>(algorithms_.size()); }
  Algorithm<double>& algorithm(std::uint32_t client) { return *algorithms_[client]; }
  Vector<double> model(std::uint32_t client) const { return algorithms_[client]->model(); }

  /// A vector that the client's inspect shows. Throws std::out_of_range if it shows none of this name.
  Vector<double> shown(std::uint32_t client, const std::string& name) const {
    NamedVectors probe;
    algorithms_[client]->inspect(probe);
    return probe.seen.at(name);
  }

  /// The largest number in the sums of the clients' balances; -1 if nobody says anything.
  double imbalance() const {
    std::map<std::string, Vector<double>> sums;
    for (const auto& algorithm : algorithms_) {
      NamedVectors probe;
      algorithm->balance(probe);
      for (const auto& [name, part] : probe.seen) {
        Vector<double>& sum = sums.try_emplace(name, Vector<double>::Zero(part.size())).first->second;
        sum += part;
      }
    }
    double largest = -1;
    for (const auto& [name, sum] : sums) largest = std::max(largest, sum.cwiseAbs().maxCoeff());
    return largest;
  }

 private:
  Work<double> lend(std::uint32_t i) { return Work<double>(*learners_[i], plans_[i], scratch_, pool_); }

  double weight(const std::vector<Matrix<double>>& cycle, std::uint64_t round, ClientId receiver, ClientId sender) {
    return cycle.empty() ? 1 : cycle[round % cycle.size()](receiver.value, sender.value);
  }

  bool is_used(std::uint64_t round, std::uint8_t phase, ClientId receiver, ClientId sender) {
    return !world_.uses_link || world_.uses_link(round, phase, receiver, sender);
  }

  void perform(const Phase& phase, std::uint64_t round) {
    if (phase.kind == PhaseKind::begin) begin();
    if (phase.kind == PhaseKind::compute) compute(phase);
    if (phase.kind == PhaseKind::exchange) exchange(phase, round);
  }

  void begin() {
    for (std::uint32_t i = 0; i < clients(); ++i) {
      Work<double> work = lend(i);
      algorithms_[i]->begin(work);
      after_step({i});
    }
  }

  void compute(const Phase& phase) {
    for (std::uint32_t i = 0; i < clients(); ++i)
      for (std::uint32_t k = 0; k < phase.repeat; ++k) {
        const std::uint64_t number = computations_[i]++;
        Work<double> work = lend(i);
        algorithms_[i]->compute(work, {.kind = StepKind::compute,
                                       .with_gradient = !world_.with_gradient || world_.with_gradient(number, {i}),
                                       .phase = phase.number,
                                       .client = {i},
                                       .index = number});
        after_step({i});
      }
  }

  void exchange(const Phase& phase, std::uint64_t round) {
    std::vector<Payload> payloads(clients());
    std::vector<std::vector<StepEntry>> receivers(clients()), senders(clients());
    for (std::uint32_t i = 0; i < clients(); ++i) {
      if (world_.tells && !world_.tells(round, {i})) continue;
      for (const ClientId to : world_.graph.receivers_of({i})) {
        if (!is_used(round, phase.number, to, {i})) continue;
        senders[to.value].push_back({.peer = {i},
                                     .sequence = sequences_[i],
                                     .weight = weight(world_.merge, round, to, {i}),
                                     .place = static_cast<std::uint32_t>(receivers[i].size())});
        receivers[i].push_back({.peer = to, .sequence = sequences_[i], .weight = weight(world_.share, round, to, {i})});
      }
      Work<double> work = lend(i);
      payloads[i] = algorithms_[i]->publish(
          work, {.kind = StepKind::publish, .phase = phase.number, .client = {i}, .index = sequences_[i], .entries = receivers[i]});
      ++sequences_[i];
      after_step({i});
    }
    for (std::uint32_t i = 0; i < clients(); ++i) {
      std::vector<Received<double>> window;
      for (const StepEntry& entry : senders[i])
        window.push_back({entry.peer, entry.sequence, entry.weight, Duration{}, payloads[entry.peer.value], entry.place});
      Work<double> work = lend(i);
      algorithms_[i]->merge(work, {.kind = StepKind::merge, .phase = phase.number, .client = {i}, .entries = senders[i]}, window);
      after_step({i});
    }
  }

  TensorPool pool_;  // first: it outlives everything that holds tensors
  Scratch<double> scratch_;
  LockStepWorld world_;
  std::vector<std::unique_ptr<Learner<double>>> learners_;
  std::vector<std::uint32_t> samples_;
  std::vector<std::uint64_t> computations_;
  std::vector<Sequence> sequences_;
  std::vector<BatchPlan> plans_;
  std::vector<std::unique_ptr<Algorithm<double>>> algorithms_;
};

}  // namespace rubato::test
