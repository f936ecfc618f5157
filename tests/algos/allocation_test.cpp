// What a step of an algorithm asks of the system once it runs: nothing but what the payload is made of. A program of
// its own: it counts every allocation of the process.
#include <doctest/doctest.h>

#include <optional>

#include "algos/catalogue.hpp"
#include "learning/models/problems.hpp"
#include "runtime/world/topology.hpp"
#include "tests/support/counted_allocations.hpp"

using namespace rubato;

namespace {

constexpr Index dimension = 96;

struct Counts {
  std::uint64_t compute = 0, publish = 0, merge = 0, publications = 0;
};

// Two clients that hear each other, driven through the phases of a round, through compute, publish, merge, or through exchanges.
class Pair {
 public:
  Pair(const CatalogueEntry& entry, bool in_rounds, const AlgorithmOptions& options = {}, bool counts_increments = false)
      : graph_{topologies::complete(2)} {
    const auto factory = make_algorithm<double>(entry, options);
    needs_ = entry.needs(options);
    for (std::uint32_t i = 0; i < 2; ++i) {
      learners_.push_back(
          make_quadratic<double>(Matrix<double>::Identity(dimension, dimension), Vector<double>::Constant(dimension, i)));
      const ClientView client_view{.client = {i},
                                   .senders = graph_.senders_to({i}),
                                   .receivers = graph_.receivers_of({i}),
                                   .samples = samples_,
                                   .in_rounds = in_rounds,
                                   .counts_increments = counts_increments};
      const Vector<double> start = Vector<double>::LinSpaced(dimension, -1, 1);
      algorithms_.push_back(factory(client_view, view(start), pool_));
    }
    if (!in_rounds) needs_.program = {};
    run(needs_.program.opening);
  }

  void round() { run(needs_.program.round); }
  /// A batch of one computation each, and then each asks the other.
  void meet() {
    compute({.number = 1});
    for (std::uint32_t asker = 0; asker < 2; ++asker) {
      const Payload request = publish(asker, pair_request);
      merge(1 - asker, pair_request, request);
      const Payload reply = publish(1 - asker, pair_reply);
      merge(asker, pair_reply, reply);
      ++sequence_;
    }
  }
  Counts counts;

 private:
  void run(const PhaseList& phases) {
    for (std::size_t p = 0; p < phases.size(); ++p) {
      const Phase& phase = phases[p];
      if (!phase.happens_in(rounds_)) continue;
      if (phase.kind == PhaseKind::begin)
        for (std::uint32_t i = 0; i < 2; ++i) algorithms_[i]->begin(works_[i]);
      if (phase.kind == PhaseKind::compute)
        for (std::uint32_t k = 0; k < phase.repeat; ++k) compute(phase);
      if (phase.kind == PhaseKind::exchange) exchange(phase);
    }
    if (&phases == &needs_.program.round) ++rounds_;
  }
  void compute(const Phase& phase) {
    const std::uint64_t before = allocations;
    for (std::uint32_t i = 0; i < 2; ++i) {
      if (needs_.fixes_model_at_start) algorithms_[i]->begin(works_[i]);
      Step step{.kind = StepKind::compute, .phase = phase.number, .client = {i}, .at = now(), .entries = {}};
      step.index = computations_;
      algorithms_[i]->compute(works_[i], step);
    }
    ++computations_;
    counts.compute += allocations - before;
  }
  void exchange(const Phase& phase) {
    Payload payloads[2];
    for (std::uint32_t i = 0; i < 2; ++i) payloads[i] = publish(i, phase.number);
    for (std::uint32_t i = 0; i < 2; ++i) merge(i, phase.number, payloads[1 - i]);
    ++sequence_;
  }
  // To the other one.
  Payload publish(std::uint32_t i, std::uint8_t phase) {
    const StepEntry entry{.peer = {1 - i}, .sequence = sequence_, .weight = 0.25};
    const Step step{
        .kind = StepKind::publish, .phase = phase, .client = {i}, .index = sequence_, .at = now(), .entries = {&entry, 1}};
    const std::uint64_t before = allocations;
    Payload payload = algorithms_[i]->publish(works_[i], step);
    counts.publish += allocations - before;
    ++counts.publications;
    return payload;
  }
  void merge(std::uint32_t i, std::uint8_t phase, const Payload& payload) {
    const Received<double> heard{{1 - i}, sequence_, 0.25, {}, payload, 0};
    const Step step{.kind = StepKind::merge, .phase = phase, .client = {i}, .at = now(), .entries = {}};
    const std::uint64_t before = allocations;
    algorithms_[i]->merge(works_[i], step, {&heard, 1});
    counts.merge += allocations - before;
  }
  Time now() const { return Time{from_seconds(static_cast<double>(computations_))}; }

  TensorPool pool_;
  Scratch<double> scratch_;
  Graph graph_;
  Needs needs_;
  std::vector<std::unique_ptr<Learner<double>>> learners_;
  std::vector<std::uint32_t> samples_{1, 1};
  BatchPlan plans_[2] = {{1, {0}, 0, nullptr}, {1, {1}, 0, nullptr}};
  std::vector<std::unique_ptr<Algorithm<double>>> algorithms_;
  std::uint64_t rounds_ = 0, computations_ = 0;
  Sequence sequence_ = 0;

  struct Works {
    Pair& pair;
    Work<double>& operator[](std::uint32_t i) {
      current.emplace(*pair.learners_[i], pair.plans_[i], pair.scratch_, pair.pool_);
      return *current;
    }
    std::optional<Work<double>> current;
  };
  Works works_{*this, {}};
};

}  // namespace

TEST_CASE("compute and merge of every algorithm allocate nothing, and publish only the row of its receivers' own tensors") {
  for (const CatalogueEntry* entry : catalogue())
    for (const bool in_rounds : {false, true}) {
      if (!entry->runs.has(in_rounds ? ProtocolKind::rounds : ProtocolKind::push)) continue;
      if (entry->name == "kdpdfl") continue;  // its exchange needs a learner with classes
      CAPTURE(entry->name);
      CAPTURE(in_rounds);
      Pair pair(*entry, in_rounds);
      for (int k = 0; k < 30; ++k) pair.round();
      pair.counts = {};
      for (int k = 0; k < 60; ++k) pair.round();
      CHECK(pair.counts.compute == 0);
      CHECK(pair.counts.merge == 0);
      CHECK(pair.counts.publish <= 2 * pair.counts.publications);
    }
}

TEST_CASE("a step of AD-PSGD, and of every other method of pairs, allocates nothing") {
  for (const CatalogueEntry* entry : catalogue()) {
    if (!entry->runs.has(ProtocolKind::pair)) continue;
    for (const bool counts_increments : {false, true}) {
      AlgorithmOptions options;
      if (!entry->needs(options).pairing.in_increments && counts_increments) continue;
      CAPTURE(entry->name);
      CAPTURE(counts_increments);
      Pair pair(*entry, false, options, counts_increments);
      for (int k = 0; k < 30; ++k) pair.meet();
      pair.counts = {};
      for (int k = 0; k < 60; ++k) pair.meet();
      CHECK(pair.counts.publications == 240);
      CHECK(pair.counts.compute == 0);
      CHECK(pair.counts.publish == 0);
      CHECK(pair.counts.merge == 0);
    }
  }
}
