// Random fault scripts over exchanges in pairs: at every client by itself what was decided and heard accounts for its model, and
// in the calm all come to the mean of their first models, whatever was lost, crashed and restarted. RUBATO_FAULTS sets how many.
#include <doctest/doctest.h>

#include <cstdlib>

#include "runtime/protocols/pair.hpp"
#include "tests/sim/fault_world.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

constexpr double calm = 200;  // seconds
constexpr Index dimension = 3;

std::uint64_t pair_scripts() {
  const char* wanted = std::getenv("RUBATO_FAULTS");
  return wanted ? std::strtoull(wanted, nullptr, 10) : 1000;
}

class Largest final : public Probe {
 public:
  void vector(std::string_view, std::span<const double> part) override {
    for (const double number : part) most = std::max(most, std::abs(number));
  }
  double most = 0;
};

// Clients that never compute: what they hold moves by meetings alone.
class PairFaults {
 public:
  explicit PairFaults(std::uint64_t seed)
      : chance_(seed, {0}, Purpose::split, 1),
        graph_{chance_.uniform() < 0.5 ? topologies::complete(fault_clients) : topologies::ring(fault_clients)},
        plan_(fault_clients, with_calm(random_script(seed)), fault_times),
        channel_(seed,
                 RandomChannel::LinkLaw{{.kind = Law::Kind::exponential, .first = 0.01 + 0.04 * chance_.uniform()},
                                        0.3 * chance_.uniform(),
                                        0.2 * chance_.uniform()},
                 {}) {
    push_.graph = &graph_;
    push_.seed = seed;
    push_.compute = {TimerLaw::off()};
    push_.transmit = {TimerLaw::poisson(4)};
    push_.limits.deadline = from_seconds(0.5);
    push_.may_duplicate = true;
    pair_.push = &push_;
    pair_.commit = Commit::counted;
    pair_.busy = chance_.uniform() < 0.8 ? Busy::wait : Busy::refuse;
    pair_.retries = static_cast<std::uint32_t>(chance_.below(3));
    pair_.retry_after = from_seconds(0.1);
    settings_.seed = seed;
    settings_.graph = &graph_;
    settings_.channel = &channel_;
    settings_.samples_last_state = false;
    settings_.until = at_seconds(fault_phase + calm);
    settings_.churn = &plan_;
    settings_.goes_by_exchange = true;
    std::vector<std::unique_ptr<Learner<double>>> learners;
    for (std::uint32_t i = 0; i < fault_clients; ++i) {
      Stream own(seed, ClientId{i}, Purpose::init);
      starts_.emplace_back(dimension);
      for (double& number : starts_.back()) number = 4 * own.uniform() - 2;
      learners.push_back(make_quadratic<double>(Matrix<double>::Identity(dimension, dimension), starts_.back()));
    }
    run_ = std::make_unique<PerformedRun>(graph_, std::move(learners), make_algorithm<double>(catalogue_entry("adpsgd"), {}),
                                          starts_, false, true);
  }

  /// Empty, or what does not hold.
  std::string failure(PairCounts& counts) {
    std::vector<std::unique_ptr<Protocol>> protocols;
    for (std::uint32_t i = 0; i < fault_clients; ++i) protocols.push_back(std::make_unique<Pair>(pair_, ClientId{i}));
    Conductor conductor(settings_, std::move(protocols), *run_);
    while (conductor.walk(64))
      for (const auto& algorithm : run_->algorithms()) {
        Largest part;
        algorithm->balance(part);
        if (!(part.most < 1e-9)) return "at " + std::to_string(to_seconds(conductor.now())) + " s a model is off its account";
      }
    Vector<double> mean = Vector<double>::Zero(dimension);
    for (std::uint32_t i = 0; i < fault_clients; ++i) {
      mean += starts_[i] / fault_clients;
      counts += dynamic_cast<const Pair&>(conductor.protocol({i})).exchanges();
    }
    Vector<double> now = under_way();
    for (std::uint32_t i = 0; i < fault_clients; ++i) now += run_->model(i) / fault_clients;
    if (!((now - mean).norm() < 1e-9)) return "the mean, with what is not heard of yet, is not that of the first models";
    for (std::uint32_t i = 0; i < fault_clients; ++i)
      if (const double rest = (run_->model(i) - mean).norm(); !(rest < 0.05))
        return "in the calm client " + std::to_string(i) + " is " + std::to_string(rest) + " off the mean of the first models";
    return {};
  }

 private:
  // Of what partners have decided the part that their askers have not heard of, for each client in the mean.
  Vector<double> under_way() const {
    struct Seen final : Probe {
      void vector(std::string_view name, std::span<const double> values) override {
        if (name.starts_with("for ")) sum += Eigen::Map<const Vector<double>>(values.data(), dimension);
        if (name.starts_with("from ")) sum -= Eigen::Map<const Vector<double>>(values.data(), dimension);
      }
      Vector<double> sum = Vector<double>::Zero(dimension);
    } seen;
    for (const auto& algorithm : run_->algorithms()) algorithm->inspect(seen);
    return seen.sum / fault_clients;
  }

  Stream chance_;
  Graph graph_;
  ChurnPlan plan_;
  RandomChannel channel_;
  ClientSettings push_;
  PairSettings pair_;
  ConductorSettings settings_;
  std::vector<Vector<double>> starts_;
  std::unique_ptr<PerformedRun> run_;
};

}  // namespace

TEST_CASE("whatever a fault script does to clients that meet in pairs, none of what they began with is lost") {
  PairCounts all;
  for (std::uint64_t seed = 1; seed <= pair_scripts(); ++seed) {
    const std::string failure = PairFaults(seed).failure(all);
    CAPTURE(seed);
    REQUIRE(failure == "");
  }
  if (pair_scripts() < 100) return;
  CHECK(all.met > 100 * pair_scripts());
  CHECK(all.over > pair_scripts());
  CHECK(all.queued > pair_scripts());
}
