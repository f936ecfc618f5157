// Timers in step: the handlers of continuous time, driven so that everybody acts at once, do what the rounds do.
#include <doctest/doctest.h>

#include "algos/catalogue.hpp"
#include "learning/models/problems.hpp"
#include "runtime/engine/conductor.hpp"
#include "runtime/protocols/push.hpp"
#include "runtime/protocols/rounds.hpp"
#include "runtime/world/mixing.hpp"
#include "runtime/world/topology.hpp"
#include "tests/support/performed_run.hpp"
#include "tests/support/values.hpp"

using namespace rubato;
using rubato::test::options_of;
using rubato::test::PerformedRun;

namespace {

constexpr std::uint32_t clients = 6;
constexpr int rounds = 12;

std::vector<std::unique_ptr<Learner<double>>> learners() {
  std::vector<std::unique_ptr<Learner<double>>> all;
  for (std::uint32_t i = 0; i < clients; ++i) {
    Stream chance(5, ClientId{i}, Purpose::init);
    Matrix<double> pull = Matrix<double>::Identity(4, 4);
    Vector<double> centre(4);
    for (Index k = 0; k < 4; ++k) {
      pull(k, k) = 0.5 + chance.uniform();
      centre[k] = 4 * chance.uniform() - 2;
    }
    all.push_back(make_quadratic<double>(pull, centre));
  }
  return all;
}

std::vector<Vector<double>> starts() {
  std::vector<Vector<double>> all;
  for (std::uint32_t i = 0; i < clients; ++i) all.push_back(Vector<double>::LinSpaced(4, -1.0 * i, 1.0 + i));
  return all;
}

struct Form {
  std::string name;
  AlgorithmOptions options;
  std::vector<double> merge, share;  // by link
  double compute_phase = 0;          // of the ticks in continuous time; transmissions are at whole seconds
  int unify_every = 0;
};

std::vector<double> links_of(const MixingMatrix& matrix) { return {matrix.link_weights().begin(), matrix.link_weights().end()}; }

ClientSettings settings_of(const Form& form, const Graph& graph) {
  ClientSettings settings;
  settings.graph = &graph;
  settings.seed = 4;
  settings.compute = {TimerLaw::fixed(1, form.compute_phase)};
  settings.transmit = {TimerLaw::fixed(1, 0)};
  settings.limits.window = from_seconds(0.125);
  settings.needs = catalogue_entry(form.name).needs(form.options);
  if (!form.merge.empty()) settings.merge_weights = {form.merge};
  if (!form.share.empty()) settings.share_weights = {form.share};
  return settings;
}

std::vector<Vector<double>> run(const Form& form, const Graph& graph, bool in_rounds) {
  ClientSettings settings = settings_of(form, graph);
  settings.needs.opens_with_compute = settings.needs.program.opening.size() > 0;
  PerformedRun performed(graph, learners(), make_algorithm<double>(catalogue_entry(form.name), form.options), starts(), in_rounds);
  IdealChannel channel(from_seconds(0.25));
  ConductorSettings conducting;
  conducting.graph = &graph;
  conducting.channel = &channel;
  conducting.samples_last_state = false;
  conducting.until = Time{from_seconds(rounds - 1 + 0.75)};  // the last window has closed, the last computation is done
  RoundBoard board;
  board.settings = &settings;
  board.unify_every = static_cast<std::uint64_t>(form.unify_every);
  if (in_rounds) {  // computing takes three quarters of a second, a message one: a round is a second long
    settings.compute = {TimerLaw::fixed(0.75, 0)};
    const bool opens = settings.needs.program.opening.size() > 0;
    conducting.until = Time{from_seconds(rounds + (opens ? 0.75 : 0) + 0.1)};
  } else if (form.unify_every > 0) {
    conducting.unification.period = from_seconds(form.unify_every);
    conducting.until = Time{from_seconds(rounds)};
  }
  std::vector<std::unique_ptr<Protocol>> protocols;
  for (std::uint32_t i = 0; i < clients; ++i) {
    if (in_rounds)
      protocols.push_back(std::make_unique<Rounds>(board, ClientId{i}));
    else
      protocols.push_back(std::make_unique<Push>(settings, ClientId{i}));
  }
  Conductor conductor(conducting, std::move(protocols), performed);
  while (conductor.walk(1'000'000)) {
  }
  if (in_rounds) CHECK(board.round == rounds);
  std::vector<Vector<double>> models;
  for (std::uint32_t i = 0; i < clients; ++i) models.push_back(performed.model(i));
  return models;
}

void check_equal_forms(const Form& form, const Graph& graph) {
  const auto continuous = run(form, graph, false), synchronous = run(form, graph, true);
  for (std::uint32_t i = 0; i < clients; ++i) {
    CHECK((continuous[i] - synchronous[i]).cwiseAbs().maxCoeff() < 1e-12);
    CHECK((continuous[i] - starts()[i]).norm() > 0.1);
  }
}

}  // namespace

TEST_CASE("Spod-GT that transmits at k and computes at k + 1/2 is Spod-GT in rounds with everything always on") {
  const Graph graph = topologies::exponential(clients);
  check_equal_forms({"spodgt", options_of({{"eta", 0.05}, {"gradient_mode", std::string("paper")}}),
                     links_of(weights::uniform_row(graph)), links_of(weights::uniform_column(graph)), 0.5},
                    graph);
}

TEST_CASE("push-sum that computes and transmits at k is SGP in rounds") {
  const Graph graph = topologies::exponential(clients);
  check_equal_forms({"sgp", options_of({{"eta", 0.05}}), {}, links_of(weights::uniform_column(graph))}, graph);
}

TEST_CASE("gossip that computes and transmits at k is D-PSGD in rounds, adapt then combine") {
  const Graph graph = topologies::ring(clients);
  check_equal_forms({"dpsgd", options_of({{"eta", 0.1}}), links_of(weights::metropolis(graph)), {}}, graph);
}

TEST_CASE(
    "DRACO that computes and transmits at k and unifies every four seconds is DRACO in rounds that unify every "
    "fourth") {
  const Graph graph = topologies::ring(clients);
  check_equal_forms({"draco", options_of({{"eta", 0.05}}), links_of(weights::neighbours_only(graph)), {}, 0, 4}, graph);
}

TEST_CASE("PaME that sends parts at k and computes at k + 1/2 is PaME in rounds") {
  const Graph graph = topologies::complete(clients);
  check_equal_forms({"pame", options_of({{"nu", 1.0}, {"share", 0.5}, {"kappa", 1.0}, {"sigma0", 5.0}}), {}, {}, 0.5}, graph);
}
