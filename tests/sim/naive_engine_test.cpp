// The engine against the naive event loop, event by event and step by step, on random small experiments.
#include "tests/sim/naive_engine.hpp"

#include <doctest/doctest.h>

#include "tests/sim/random_world.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

struct Agreement {
  std::size_t events = 0;
  std::size_t steps = 0;
};

Agreement the_engine_agrees(std::uint64_t seed) {
  CAPTURE(seed);
  const std::unique_ptr<World> world = random_world(seed);
  NaiveEngine naive(world->push, world->settings, *world->channel);
  world->run_until(world->settings.until);
  naive.play();
  const auto& engine = world->events.seen;
  for (std::size_t i = 0; i < std::min(engine.size(), naive.seen.size()); ++i)
    REQUIRE(in_words(engine[i]) == in_words(naive.seen[i]));
  REQUIRE(engine.size() == naive.seen.size());
  const auto& steps = world->steps.steps;
  for (std::size_t i = 0; i < std::min(steps.size(), naive.steps.size()); ++i)
    REQUIRE(in_words(steps[i]) == in_words(naive.steps[i]));
  REQUIRE(steps.size() == naive.steps.size());
  REQUIRE(world->conductor().steps() == naive.steps.size());
  return {engine.size(), steps.size()};
}

}  // namespace

TEST_CASE("the engine and a naive event loop agree on every event and every step of 600 random experiments") {
  Agreement sum;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    const Agreement one = the_engine_agrees(seed);
    sum.events += one.events;
    sum.steps += one.steps;
  }
  CHECK(sum.events > 100000);  // the experiments are not empty
  CHECK(sum.steps > 50000);
}
