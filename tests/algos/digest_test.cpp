// DIGEST on numbers that can be computed by hand, and against a loop over visits (docs/references.md#digest).
#include <doctest/doctest.h>

#include "learning/models/problems.hpp"
#include "runtime/protocols/token.hpp"
#include "runtime/world/topology.hpp"
#include "tests/support/seated_run.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

Vector<double> number(double value) { return Vector<double>::Constant(1, value); }

// f_i(x) = (x - c_i)^2 / 2
std::vector<std::unique_ptr<Learner<double>>> pulls_towards(const std::vector<double>& centres) {
  std::vector<std::unique_ptr<Learner<double>>> learners;
  for (const double centre : centres) learners.push_back(make_quadratic<double>(Matrix<double>::Identity(1, 1), number(centre)));
  return learners;
}

struct DigestWorld : ProtocolWorld {
  DigestWorld(Graph of, const AlgorithmOptions& options, const std::vector<double>& centres, double start)
      : ProtocolWorld(std::move(of)),
        run(graph, pulls_towards(centres), make_algorithm<double>(catalogue_entry("digest"), options),
            std::vector<Vector<double>>(centres.size(), number(start))) {
    push.needs = catalogue_entry("digest").needs(options);
    push.transmit = {TimerLaw::fixed(1, 1)};
  }
  Conductor& walk(double seconds) {
    return ProtocolWorld::run([&](ClientId client) { return std::make_unique<Token>(push, client); }, run, seconds);
  }
  double shown(std::uint32_t client, const char* name) const { return run.shown(client, name)[0]; }

  SeatedRun run;
};

AlgorithmOptions digest_options(double eta, std::int64_t streams = 1) {
  AlgorithmOptions options;
  options.set("eta", eta);
  options.set("streams", streams);
  return options;
}

}  // namespace

TEST_CASE("a token takes its share of what a client has learnt, and the client goes on from the token") {
  // Both step half way to their centre at 0.5. The token is absorbed by 0 at 1 and by 1 at 1.1.
  DigestWorld world(topologies::path(2), digest_options(0.5), {8, 16}, 0);
  world.push.compute = {ticks({0.5})};
  world.walk(1.05);
  CHECK(world.shown(0, "x") == 2);  // 4 / 2
  CHECK(world.shown(0, "a") == 2);
  CHECK(world.shown(0, "global0") == 2);
  CHECK(world.shown(1, "x") == 8);
  CHECK(world.shown(1, "a") == 0);
}

TEST_CASE("the next visit continues with the token as it came") {
  DigestWorld world(topologies::path(2), digest_options(0.5), {8, 16}, 0);
  world.push.compute = {ticks({0.5})};
  world.walk(1.2);
  CHECK(world.shown(1, "x") == 6);  // 2 + 8 / 2
  CHECK(world.shown(1, "global0") == 6);
  CHECK(world.shown(0, "x") == 2);
  CHECK(world.shown(0, "global0") == 2);  // as it left
}

TEST_CASE("a second visit adds only what was learnt since the first") {
  DigestWorld world(topologies::path(2), digest_options(0.5), {8, 16}, 0);
  world.push.compute = {ticks({0.5, 1.5})};
  world.walk(2.2);
  // 0: 0 -> 4, token 2; 2 -> 5.  1: 0 -> 8, token 6; 6 -> 11. At 2.1 the token is back at 0: 6 + (5 - 2) / 2.
  CHECK(world.shown(0, "x") == 7.5);
  CHECK(world.shown(1, "x") == 11);
}

TEST_CASE("a token that is sent again is the copy of its last holder, whatever that has learnt since") {
  DigestWorld world(topologies::path(2), digest_options(0.5), {8, 16}, 0);
  world.push.compute = {ticks({0.5, 1.2}), TimerLaw::off()};
  world.push.limits.deadline = from_seconds(0.5);
  world.channel = std::make_unique<ScriptedLinks>(ScriptedLinks::Exceptions{{{0, 0, 1}, -1}});
  world.walk(1.7);
  CHECK(world.shown(0, "x") == 5);
  CHECK(world.shown(1, "x") == 2);
  CHECK(world.shown(1, "global0") == 2);
}

TEST_CASE("clients and tokens are the loop over visits, with several streams, whatever is lost") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const std::vector<double> centres{1, -2, 3, 5, 8};
    const AlgorithmOptions options = digest_options(0.1, 3);
    DigestWorld world(topologies::ring(5), options, centres, 0.5);
    world.reseed(seed);
    world.push.compute = {TimerLaw::poisson(2)};
    world.push.transmit = {TimerLaw::poisson(1)};
    world.push.limits.deadline = from_seconds(0.5);
    world.channel = random_links(seed, 0.2, 0.2);
    std::vector<double> x(5, 0.5), a(5, 0.5);
    std::vector<std::vector<double>> left(5, std::vector<double>(3, 0.5));  // [client][stream]
    std::map<SlotIndex, double> under_way;
    std::uint64_t merges = 0;
    world.run.after = [&](const Step& step) {
      const std::uint32_t i = step.client.value;
      if (step.kind == StepKind::compute) x[i] -= 0.1 * (x[i] - centres[i]);
      if (step.kind == StepKind::publish) under_way[step.entries.front().slot] = left[i][step.phase];
      if (step.kind == StepKind::merge) {
        const double token = step.entries.empty() ? left[i][step.phase] : under_way.at(step.entries.front().slot);
        left[i][step.phase] = a[i] = x[i] = token + (x[i] - a[i]) / 5;
        ++merges;
      }
      REQUIRE(world.run.model(i)[0] == doctest::Approx(x[i]).epsilon(1e-12));
    };
    world.walk(100);
    REQUIRE(merges > 100);
  }
}

TEST_CASE("clients that agree on their minimiser and stand on it never leave it") {
  DigestWorld world(topologies::ring(4), digest_options(0.3, 2), {2, 2, 2, 2}, 2);
  world.push.compute = {TimerLaw::poisson(2)};
  world.push.transmit = {TimerLaw::poisson(1)};
  world.walk(50);
  for (std::uint32_t i = 0; i < 4; ++i) CHECK(world.run.model(i)[0] == 2);
}

TEST_CASE("digest says by its program how many streams there are, and refuses more than it can name") {
  CHECK(catalogue_entry("digest").needs(digest_options(0.1, 3)).program.round.size() == 4);
  try {
    make_algorithm<float>(catalogue_entry("digest"), digest_options(0.1, 40));
    FAIL("nothing was thrown");
  } catch (const std::invalid_argument& error) {
    CHECK(std::string(error.what()) == "algorithm.streams = 40: must be at least 1 and at most 39");
  }
}
