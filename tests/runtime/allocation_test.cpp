// The conductor asks the system for nothing once it has seen its greatest load. A program of its own: it counts every
// allocation of the process.
#include <doctest/doctest.h>

#include "runtime/protocols/pair.hpp"
#include "tests/support/counted_allocations.hpp"
#include "tests/support/world.hpp"

using namespace rubato;
using namespace rubato::test;
using namespace std::chrono_literals;

namespace {

struct Count {
  std::uint64_t allocations;
  std::uint64_t events;
};

constexpr Time end{1000s};

/// Of the second half of a run.
Count steady(Conductor& conductor) {
  while (conductor.now() < end - end.time_since_epoch() / 2 && conductor.walk(100)) {
  }
  const std::uint64_t before = allocations.load(), events = conductor.events();
  while (conductor.walk(100)) {
  }
  return {allocations.load() - before, conductor.events() - events};
}

Count steady(World& world) {
  NoSteps nobody;
  world.settings.until = end;
  world.build(nobody, nullptr);
  return steady(world.conductor());
}

std::unique_ptr<World> busy() {
  auto world = std::make_unique<World>(topologies::ring(20));
  world->push.compute = {TimerLaw::poisson(1)};
  world->push.transmit = {TimerLaw::poisson(1)};
  world->push.limits = {.window = 100ms, .deadline = 3s, .cap = 5};
  world->settings.cap_period = 4s;
  return world;
}

// A queue or a mailbox may still see a new greatest length now and then; an allocation per event would be 50,000.
constexpr std::uint64_t few = 20;

}  // namespace

TEST_CASE("this program notices an allocation") {
  const std::uint64_t before = allocations.load();
  int* volatile one = new int;  // not left out by the compiler
  delete one;
  CHECK(allocations.load() == before + 1);
}

TEST_CASE("push over links of one delay allocates nothing per event") {
  const auto world = busy();
  const Count count = steady(*world);
  CHECK(count.events > 30000);
  CHECK(count.allocations <= few);
}

TEST_CASE("push over random links allocates nothing per event") {
  const auto world = busy();
  world->channel = random_links(1, 1, 0.2);
  CHECK(steady(*world).allocations <= few);
}

TEST_CASE("unifications and samples allocate nothing") {
  for (const bool via_transport : {false, true}) {
    CAPTURE(via_transport);
    const auto world = busy();
    world->channel = random_links(1, 1, 0.2);
    world->settings.unification.period = 1s;
    world->settings.unification.via_transport = via_transport;
    world->settings.sample_every_events = 50;
    CHECK(steady(*world).allocations <= few);
  }
}

TEST_CASE("a mailbox that keeps the newest only allocates nothing per window") {
  const auto world = busy();
  world->push.needs.keep = Keep::newest;
  CHECK(steady(*world).allocations <= few);
}

TEST_CASE("rounds allocate nothing per event") {
  const auto world = busy();
  world->in_rounds = true;
  world->channel = random_links(1, 1, 0.2);
  world->board.unify_every = 3;
  world->settings.retransmits = true;
  CHECK(steady(*world).allocations <= few);
}

TEST_CASE("exchanges of pairs allocate nothing per event") {
  for (const Commit commit : {Commit::known, Commit::counted})
    for (const std::uint32_t retries : {0u, 2u}) {
      CAPTURE(static_cast<int>(commit));
      CAPTURE(retries);
      const auto world = busy();
      world->channel = random_links(1, 0.1, 0.2);
      world->push.limits.deadline = 500ms;
      PairSettings pair;
      pair.push = &world->push;
      pair.commit = commit;
      pair.retries = retries;
      pair.retry_after = 100ms;
      world->settings.channel = world->channel.get();
      world->settings.until = end;
      world->settings.cap_period = {};
      world->settings.goes_by_exchange = true;
      world->settings.foresight = &pair.foresight;
      std::vector<std::unique_ptr<Protocol>> protocols;
      for (std::uint32_t i = 0; i < 20; ++i) protocols.push_back(std::make_unique<Pair>(pair, ClientId{i}));
      NoSteps nobody;
      Conductor conductor(world->settings, std::move(protocols), nobody);
      const Count count = steady(conductor);
      CHECK(count.events > 25000);
      CHECK(count.allocations <= few);
      std::uint64_t met = 0;
      for (std::uint32_t i = 0; i < 20; ++i) met += dynamic_cast<const Pair&>(conductor.protocol({i})).exchanges().met;
      CHECK(met > 5000);
    }
}
