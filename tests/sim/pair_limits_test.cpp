// Where clients that meet in pairs come to rest, and how fast their models come together: numbers measured once with another
// program, here with the engine's own clocks.
#include <doctest/doctest.h>

#include "algos/acid.hpp"
#include "algos/catalogue.hpp"
#include "learning/models/problems.hpp"
#include "runtime/engine/conductor.hpp"
#include "runtime/protocols/pair.hpp"
#include "runtime/world/topology.hpp"
#include "tests/support/performed_run.hpp"
#include "tests/support/world.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

// Clients of a ring with Poisson clocks, that ask any of their two neighbours.
struct RingOfPairs {
  std::uint32_t clients;
  double compute_rate, ask_rate;  // per second; 0: never
  Duration delay;
  double until;  // seconds
  std::uint64_t seed = 1;
};

// f_i = (x - i)^2 / 2.
std::vector<Vector<double>> numbered(std::uint32_t clients) {
  std::vector<Vector<double>> all;
  for (std::uint32_t i = 0; i < clients; ++i) all.push_back(Vector<double>::Constant(1, i));
  return all;
}

// Sees the models every second.
template <class See>
void play(const RingOfPairs& is, const std::string& algorithm, const AlgorithmOptions& options,
          const std::vector<Vector<double>>& starts, See see) {
  const Graph graph = topologies::ring(is.clients);
  const CatalogueEntry& entry = catalogue_entry(algorithm);
  const auto law = [](double rate) { return rate > 0 ? TimerLaw::poisson(rate) : TimerLaw::off(); };
  ClientSettings push;
  push.graph = &graph;
  push.seed = is.seed;
  push.compute = {law(is.compute_rate)};
  push.transmit = {law(is.ask_rate)};
  push.needs = entry.needs(options);
  PairSettings pair;
  pair.push = &push;
  IdealChannel channel(is.delay);
  ConductorSettings settings;
  settings.seed = is.seed;
  settings.graph = &graph;
  settings.channel = &channel;
  settings.samples_last_state = false;
  settings.until = at_seconds(is.until);
  settings.goes_by_exchange = true;
  settings.foresight = &pair.foresight;
  std::vector<std::unique_ptr<Learner<double>>> learners;
  for (const Vector<double>& c : numbered(is.clients))
    learners.push_back(make_quadratic<double>(Matrix<double>::Identity(1, 1), c));
  PerformedRun run(graph, std::move(learners), make_algorithm<double>(entry, options), starts, false);
  std::vector<std::unique_ptr<Protocol>> protocols;
  for (std::uint32_t i = 0; i < is.clients; ++i) protocols.push_back(std::make_unique<Pair>(pair, ClientId{i}));
  Conductor conductor(settings, std::move(protocols), run);
  for (double second = 1; second <= is.until; ++second) {
    conductor.pause_after(at_seconds(second));
    while (conductor.walk(64) && !conductor.is_paused()) {
    }
    Vector<double> models(is.clients);
    for (std::uint32_t i = 0; i < is.clients; ++i) models[i] = run.model(i)[0];
    see(second, models);
  }
}

// Of a ring whose edges meet so often per second.
AlgorithmOptions acid_options(std::uint32_t clients, double rate, double gamma) {
  std::vector<MeetingRate> edges;
  for (std::uint32_t i = 0; i < clients; ++i) edges.push_back({{i}, {(i + 1) % clients}, rate});
  const AcidConstants constants = acid_constants(clients, edges);
  AlgorithmOptions options;
  options.set("gamma", gamma);
  options.set("eta", constants.eta);
  options.set("alpha_tilde", constants.alpha_tilde);
  return options;
}

AlgorithmOptions adpsgd_options(double eta) {
  AlgorithmOptions options;
  options.set("eta", eta);
  return options;
}

// In the mean over the second half.
double rest_of(const std::string& algorithm, const AlgorithmOptions& options) {
  constexpr RingOfPairs ring{.clients = 6, .compute_rate = 1, .ask_rate = 1, .delay = Duration{10'000'000}, .until = 1500};
  double sum = 0, count = 0;
  play(ring, algorithm, options, std::vector<Vector<double>>(6, Vector<double>::Zero(1)), [&](double second, const auto& models) {
    if (second > ring.until / 2) sum += models.mean(), ++count;
  });
  return sum / count;
}

double spread(const Vector<double>& models) { return (models.array() - models.mean()).matrix().squaredNorm(); }

// What is left of the spread after 60 units, in the mean of 60 seeds.
double spread_left(const std::string& algorithm, const AlgorithmOptions& options) {
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const RingOfPairs ring{.clients = 32, .compute_rate = 0, .ask_rate = 0.5, .delay = Duration{1}, .until = 60, .seed = seed};
    std::vector<Vector<double>> starts;
    Vector<double> first(32);
    Stream draws(seed, no_client, Purpose::noise);
    for (double& number : first) {
      number = draws.normal();
      starts.push_back(Vector<double>::Constant(1, number));
    }
    double last = 0;
    play(ring, algorithm, options, starts, [&](double, const auto& models) { last = spread(models); });
    sum += last / spread(first);
  }
  return sum / 60;
}

}  // namespace

TEST_CASE("six clients of a ring whose minima are 0 to 5 come to rest at their mean, with one model each and with two") {
  CHECK(std::abs(rest_of("adpsgd", adpsgd_options(0.02)) - 2.5) < 0.05);
  CHECK(std::abs(rest_of("acid", acid_options(6, 1, 0.02)) - 2.5) < 0.05);
}

TEST_CASE(
    "meetings alone leave 0.02 of the spread on a ring of 32 after 60 units, and a tenth of that with A2CiD2's second model") {
  const double plain = spread_left("adpsgd", adpsgd_options(0.1)), with_flow = spread_left("acid", acid_options(32, 0.5, 0.1));
  CHECK(plain > 0.01);
  CHECK(plain < 0.04);
  CHECK(with_flow > 0.001);
  CHECK(with_flow < 0.004);
}
