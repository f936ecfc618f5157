// A new epoch: whatever was lost, masses balance again, and what is learnt is right again.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tests/actors/support.hpp"
#include "tests/support/experiment_run.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

constexpr const char* six_clients = R"(
until = 60.5
precision = "float64"
[clients]
count = 6
[clients.compute]
law = "poisson"
rate = 2.0
[clients.transmit]
law = "poisson"
rate = 3.0
[topology]
kind = "complete"
[algorithm]
name = "NAME"
[data]
name = "quadratic"
dimension = 5
[model]
name = "quadratic"
)";

config::Experiment of(const std::string& algorithm, ProtocolKind protocol, std::uint64_t seed,
                      const std::vector<std::string>& more = {}) {
  std::string text = six_clients;
  text.replace(text.find("NAME"), 4, algorithm);
  std::vector<std::string> overrides = {"protocol.kind=" + std::string(word_of(protocol)), "seed=" + std::to_string(seed)};
  if (protocol == ProtocolKind::push)
    overrides = overrides + std::vector<std::string>{"channel.kind=random",   "channel.loss=0.2",
                                                     "channel.duplicate=0.1", "channel.delay={law=\"exponential\",mean=0.1}",
                                                     "mailbox.window=0.05",   "mailbox.deadline=0.3"};
  return experiment(overrides + more, text);
}

using Numbers = std::vector<double>;

Numbers& operator+=(Numbers& sum, const Numbers& part) {
  sum.resize(std::max(sum.size(), part.size()));
  for (std::size_t i = 0; i < part.size(); ++i) sum[i] += part[i];
  return sum;
}

double largest(const Numbers& numbers) {
  double most = 0;
  for (const double number : numbers) most = std::max(most, std::abs(number));
  return most;
}

Numbers shown(const Performer& performer, const std::string& name) {
  AddedVectors shown;
  performer.inspect(shown);
  const auto found = shown.sums.find(name);
  return found == shown.sums.end() ? Numbers{} : found->second;
}

// A client's part of what must sum to zero, as one vector: push-sum has a mass and a weight.
Numbers balance_of(const Performer& performer) {
  AddedVectors parts;
  performer.balance(parts);
  Numbers all;
  for (const auto& [name, part] : parts.sums) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// How much the living are short of, or have too much: what lies on links to and from the dead never comes.
double defect(ExperimentRun& run) {
  Numbers sum;
  for (std::uint32_t i = 0; i < run.clients(); ++i) {
    if (run.is_dead({i})) continue;
    sum += balance_of(run.performer({i}));
    for (std::uint32_t j = 0; j < run.clients(); ++j) {
      if (!run.is_dead({j})) continue;
      sum += shown(run.performer({i}), "rho " + std::to_string(j));
      Numbers lost = shown(run.performer({i}), "sigma " + std::to_string(j));
      for (double& number : lost) number = -number;
      sum += lost;
    }
  }
  return largest(sum);
}

double round_defect(ExperimentRun& run) {
  AddedVectors sums;
  for (std::uint32_t i = 0; i < run.clients(); ++i) run.performer({i}).round_balance(sums);
  return sums.largest();
}

bool keeps_mass(const std::string& name, ProtocolKind protocol) {
  ExperimentRun run(of(name, protocol, 1));
  return !balance_of(run.performer({0})).empty();
}

constexpr std::uint64_t not_at_all = 1'000'000'000;
constexpr ClientId victim{2}, other_victim{4};
const std::vector<std::string> none;

// When something happens, in steps of the run.
struct Plan {
  std::uint64_t saved = not_at_all, fallen = not_at_all, dead = not_at_all, reset = not_at_all;
};

// A client that falls back to an older archive of itself, another that is gone for good, a new epoch of those who live.
class Accidents {
 public:
  Accidents(ExperimentRun& run, const Plan& plan) : run_{run}, plan_{plan} {
    run.before = [this](const Step&) { on_step(); };
  }
  Accidents(const Accidents&) = delete;
  Accidents& operator=(const Accidents&) = delete;

  double before_death = 0, before_reset = 0, right_after = 1, worst_after = 0;
  std::uint64_t steps = 0;

 private:
  void on_step() {
    ++steps;
    if (steps == plan_.saved) run_.performer(victim).archive(archive_);
    if (steps == plan_.fallen) {
      Archive older(archive_.bytes(), run_.pool());
      run_.performer(victim).archive(older);
    }
    if (steps < plan_.dead && steps % 16 == 0) before_death = std::max(before_death, defect(run_));
    if (steps == plan_.dead) run_.bury(other_victim);
    if (steps == plan_.reset) {
      before_reset = defect(run_);
      run_.reset_all();
      right_after = defect(run_);
    }
    if (steps > plan_.reset) worst_after = std::max(worst_after, defect(run_));
  }

  ExperimentRun& run_;
  Plan plan_;
  Archive archive_;
};

}  // namespace

TEST_CASE(
    "a client that is gone takes mass along, and a reset of the others balances theirs for good, whatever was under "
    "way") {
  std::size_t tried = 0;
  for (const CatalogueEntry* entry : catalogue())
    for (const ProtocolKind protocol : {ProtocolKind::push, ProtocolKind::rounds}) {
      const std::string name(entry->name);
      if (!entry->runs.has(protocol) || !keeps_mass(name, protocol)) continue;
      CAPTURE(name);
      CAPTURE(word_of(protocol));
      ++tried;
      for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        CAPTURE(seed);
        // Rounds that wait for every message do not know clients that are gone.
        const bool in_rounds = protocol == ProtocolKind::rounds;
        ExperimentRun run(of(name, protocol, seed, in_rounds ? std::vector<std::string>{"protocol.missing=drop"} : none));
        Stream chance(seed, {0}, Purpose::noise);
        const auto some = [&](double most) { return 1 + static_cast<std::uint64_t>(most * chance.uniform()); };
        Plan plan;
        plan.saved = 150 + some(60);
        plan.fallen = plan.saved + some(60);
        plan.dead = plan.fallen + some(60);
        plan.reset = plan.dead + some(60);
        Accidents accidents(run, plan);
        run.run();
        REQUIRE(accidents.steps > plan.reset + 40);
        CHECK(accidents.before_death < 1e-11);  // counters even bear a client that falls back
        CHECK(accidents.before_reset > 1e-6);
        CHECK(accidents.right_after < 1e-12);
        CHECK(accidents.worst_after < 1e-11);
      }
    }
  CHECK(tried > 15);
}

TEST_CASE("algorithms whose means hold between two rounds hold them again after a reset of all") {
  for (const char* name : {"choco", "beer", "nids", "anq_nids"}) {
    CAPTURE(name);
    ExperimentRun run(of(name, ProtocolKind::rounds, 3));
    Archive saved;
    std::uint64_t rounds = 0;
    double before = 0, after = 0, broken = 0;
    run.after_round = [&] {
      const double now = round_defect(run);
      ++rounds;
      if (rounds <= 10) before = std::max(before, now);
      if (rounds == 5) run.performer({2}).archive(saved);
      if (rounds == 10) {
        Archive older(saved.bytes(), run.pool());
        run.performer({2}).archive(older);
      }
      if (rounds == 15) {
        broken = now;
        run.reset_all();
      }
      if (rounds > 15) after = std::max(after, now);
    };
    run.run();
    CHECK(rounds > 20);
    CHECK(before < 1e-12);
    CHECK(broken > 1e-6);
    CHECK(after < 1e-12);
  }
}

TEST_CASE(
    "push-sum's weights stay above zero through a client that falls back if there is a reset, and not if there is "
    "none") {
  const auto least_weight = [](std::uint64_t seed, bool has_reset) {
    ExperimentRun run(of("sgp", ProtocolKind::push, seed));
    Plan plan{.saved = 60, .fallen = 400};
    if (has_reset) plan.reset = 400;
    Accidents accidents(run, plan);
    double least = 1;
    run.after = [&](const Step& step, auto, const Payload&) {
      least = std::min(least, shown(run.performer(step.client), "w").front());
    };
    run.run();
    return least;
  };
  int below_zero = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    CHECK(least_weight(seed, true) > 0);
    below_zero += least_weight(seed, false) < 0;
  }
  CHECK(below_zero > 0);
}

TEST_CASE("after a client is gone the others find their own optimum only if there was a reset") {
  struct Case {
    const char* name;
    const char* step;
    const char* gradient;
  };
  for (const Case& one : {Case{"spodgt", "algorithm.eta=0.05", "ghat"}, Case{"dsgt", "algorithm.alpha=0.05", "g"},
                          Case{"depositum", "algorithm.alpha=0.05", "g"}}) {
    const std::string name = one.name;
    CAPTURE(name);
    // Gradients of the living sum to zero where the mean of their losses is smallest.
    const auto slope_at_the_end = [&](std::uint64_t reset) {
      ExperimentRun run(of(name, ProtocolKind::push, 1, {"until=800.5", one.step}));
      Accidents accidents(run, {.saved = 100, .fallen = 300, .dead = 400, .reset = reset});
      run.run();
      Numbers sum;
      for (std::uint32_t i = 0; i < run.clients(); ++i)
        if (!run.is_dead({i})) sum += shown(run.performer({i}), one.gradient);
      return largest(sum);
    };
    CHECK(slope_at_the_end(500) < 1e-6);
    CHECK(slope_at_the_end(not_at_all) > 1e-3);
  }
}

TEST_CASE("algorithms that pass no mass on do nothing in a reset") {
  for (const char* name : {"draco", "dpsgd", "decefl", "pame", "local_only", "event_triggered"}) {
    CAPTURE(name);
    ExperimentRun run(of(name, ProtocolKind::push, 2));
    run.run();
    for (std::uint32_t i = 0; i < run.clients(); ++i) {
      Archive before, after;
      run.performer({i}).archive(before);
      run.performer({i}).perform({.kind = StepKind::reset, .client = {i}}, {}, run.memory());
      run.performer({i}).archive(after);
      CHECK(before.bytes() == after.bytes());
    }
  }
}
