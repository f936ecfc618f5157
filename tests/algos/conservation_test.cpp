// Masses in continuous time over links that lose, delay, reorder and duplicate, with a deadline and a reception cap.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <string>

#include "algos/catalogue.hpp"
#include "learning/models/problems.hpp"
#include "runtime/engine/conductor.hpp"
#include "runtime/protocols/push.hpp"
#include "runtime/world/channel.hpp"
#include "runtime/world/mixing.hpp"
#include "runtime/world/topology.hpp"
#include "tests/support/performed_run.hpp"
#include "tests/support/values.hpp"

using namespace rubato;
using rubato::test::options_of;
using rubato::test::PerformedRun;

namespace {

using Numbers = Vector<double>;

class Parts final : public Probe {
 public:
  void vector(std::string_view name, std::span<const double> values) override {
    Numbers& sum = sums[std::string(name)];
    const Numbers part = Eigen::Map<const Numbers>(values.data(), static_cast<Index>(values.size()));
    sum = sum.size() == 0 ? part : Numbers(sum + part);
  }
  std::map<std::string, Numbers> sums;
};

// Clients on quadratics that pull to different points with different strengths.
class HardWorld {
 public:
  HardWorld(Graph given_graph, const std::string& name, const AlgorithmOptions& options, double until)
      : graph_{std::move(given_graph)}, until_{until} {
    const auto m = static_cast<std::uint32_t>(graph_.clients());
    std::vector<std::unique_ptr<Learner<double>>> learners;
    std::vector<Numbers> starts;
    for (std::uint32_t i = 0; i < m; ++i) {
      Stream chance(7, ClientId{i}, Purpose::init);
      Matrix<double> pull = Matrix<double>::Zero(dimension, dimension);
      Numbers centre(dimension), start(dimension);
      for (Index k = 0; k < dimension; ++k) {
        pull(k, k) = 0.5 + 1.5 * chance.uniform();
        centre[k] = 4 * chance.uniform() - 2;
        start[k] = 4 * chance.uniform() - 2;
      }
      optimum_weight_ += pull.diagonal();
      optimum_sum_ += pull.diagonal().cwiseProduct(centre);
      start_mean += start / m;
      learners.push_back(make_quadratic<double>(pull, centre));
      starts.push_back(start);
      settings.compute.push_back(TimerLaw::poisson(0.5 + 0.25 * (i % 5)));
    }
    settings.needs = catalogue_entry(name).needs(options);
    run_ = std::make_unique<PerformedRun>(graph_, std::move(learners), make_algorithm<double>(catalogue_entry(name), options),
                                          starts, false);
    settings.graph = &graph_;
    settings.seed = 11;
    settings.transmit = {TimerLaw::poisson(3)};
    settings.limits = {from_seconds(0.05), from_seconds(0.6), 12};
    settings.may_duplicate = true;
  }

  void merge_by(const MixingMatrix& matrix) { settings.merge_weights = {links_of(matrix)}; }
  void share_by(const MixingMatrix& matrix) { settings.share_weights = {links_of(matrix)}; }

  void run(double sample_from = 1e18) {
    RandomChannel channel(3, {{.kind = Law::Kind::exponential, .first = 0.2}, 0.3, 0.2}, {});
    std::vector<std::unique_ptr<Protocol>> protocols;
    for (std::uint32_t i = 0; i < graph_.clients(); ++i) protocols.push_back(std::make_unique<Push>(settings, ClientId{i}));
    ConductorSettings conducting;
    conducting.until = Time{from_seconds(until_)};
    conducting.graph = &graph_;
    conducting.channel = &channel;
    conducting.cap_period = from_seconds(1);
    conducting.samples_last_state = false;
    Conductor conductor(conducting, std::move(protocols), *run_);
    while (conductor.walk(1)) {
      worst_defect = std::max(worst_defect, defect());
      if (to_seconds(conductor.now()) < sample_from) continue;
      distance_sum += distance_to(optimum());
      ++distances;
    }
    counts = conductor.total_counts();
  }

  double defect() const {
    Parts parts;
    for (const auto& algorithm : run_->algorithms()) algorithm->balance(parts);
    double worst = 0;
    for (const auto& [name, sum] : parts.sums) worst = std::max(worst, sum.cwiseAbs().maxCoeff());
    quantities = parts.sums.size();
    return worst;
  }
  Numbers optimum() const { return optimum_sum_.cwiseQuotient(optimum_weight_); }
  double distance_to(const Numbers& goal) const {
    double worst = 0;
    for (const auto& algorithm : run_->algorithms()) worst = std::max(worst, (algorithm->model() - goal).norm());
    return worst;
  }

  ClientSettings settings;
  Numbers start_mean = Numbers::Zero(dimension);
  MessageCounts counts;
  double worst_defect = 0;
  mutable std::size_t quantities = 0;
  double distance_sum = 0;
  std::size_t distances = 0;

 private:
  static constexpr Index dimension = 3;
  static std::vector<double> links_of(const MixingMatrix& matrix) {
    return {matrix.link_weights().begin(), matrix.link_weights().end()};
  }

  Graph graph_;
  double until_;
  std::unique_ptr<PerformedRun> run_;
  Numbers optimum_weight_ = Numbers::Zero(dimension), optimum_sum_ = Numbers::Zero(dimension);
};

// All that can go wrong with a message has gone wrong.
void check_hardship(const HardWorld& world) {
  CHECK(world.counts.lost > world.counts.sent / 4);
  CHECK(world.counts.duplicates > 100);
  CHECK(world.counts.late > 100);
  CHECK(world.counts.capped > 20);
  CHECK(world.counts.superseded > 100);
  CHECK(world.quantities >= 1);
}

}  // namespace

TEST_CASE(
    "Spod-GT in memory mode keeps its mass after every event and finds the optimum through loss, duplicates, "
    "reordering, deadline and cap") {
  const Graph graph = topologies::exponential(6);
  HardWorld world(graph, "spodgt", options_of({{"eta", 0.03}, {"gradient_mode", std::string("memory")}}), 2500);
  world.merge_by(weights::uniform_row(graph));
  world.share_by(weights::uniform_column(graph));
  world.run();
  check_hardship(world);
  CHECK(world.worst_defect < 1e-9);
  CHECK(world.distance_to(world.optimum()) < 1e-6);
}

TEST_CASE("DEPOSITUM without a penalty keeps its mass after every event and finds the optimum through the same links") {
  const Graph graph = topologies::complete(5);
  HardWorld world(graph, "depositum", options_of({{"alpha", 0.03}, {"beta", 1.0}, {"gamma", 0.5}, {"h", std::string("none")}}),
                  2500);
  world.merge_by(weights::metropolis(graph));
  world.share_by(weights::metropolis(graph));
  world.run();
  check_hardship(world);
  CHECK(world.worst_defect < 1e-9);
  CHECK(world.distance_to(world.optimum()) < 1e-6);
}

TEST_CASE("push-sum without gradients keeps both masses after every event and brings everybody to the mean start") {
  const Graph graph = topologies::exponential(6);
  HardWorld world(graph, "sgp", {}, 400);
  world.settings.compute.assign(graph.clients(), TimerLaw::off());
  world.share_by(weights::uniform_column(graph));
  world.run();
  check_hardship(world);
  CHECK(world.quantities == 2);
  CHECK(world.worst_defect < 1e-9);
  CHECK(world.distance_to(world.start_mean) < 1e-9);
}

TEST_CASE("push-sum with a constant step stays in a neighbourhood of the optimum that halves with the step") {
  const Graph graph = topologies::exponential(6);
  const auto radius = [&](double eta, bool weighs) {  // as by default outside rounds, or literally
    const auto options = weighs ? options_of({{"eta", eta}}) : options_of({{"eta", eta}, {"weigh_step", false}});
    HardWorld world(graph, "sgp", options, 3000);
    world.settings.compute.assign(graph.clients(), TimerLaw::poisson(1));
    world.settings.share_weights = {std::vector<double>(graph.links(), 0.1)};  // a client keeps most of its mass
    world.run(1000);
    check_hardship(world);
    CHECK(world.worst_defect < 1e-9);
    return world.distance_sum / static_cast<double>(world.distances);
  };
  for (const bool weighs : {true, false}) {
    const double wide = radius(0.02, weighs), narrow = radius(0.01, weighs);
    CAPTURE(weighs);
    CAPTURE(wide);
    CAPTURE(narrow);
    CHECK(narrow / wide > 0.35);
    CHECK(narrow / wide < 0.65);
  }
}
