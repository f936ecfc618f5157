// A random small experiment: everything that the timing can depend on is drawn from one seed.
#pragma once

#include <array>
#include <memory>

#include "tests/support/world.hpp"

namespace rubato::test {

inline std::unique_ptr<World> random_world(std::uint64_t seed) {
  Stream chance(seed, {7}, Purpose::split);
  const auto some = [&](std::uint64_t bound) { return static_cast<std::uint32_t>(chance.below(bound)); };
  const auto maybe = [&](double probability) { return chance.uniform() < probability; };
  const std::uint32_t clients = 1 + some(8);
  auto world = std::make_unique<World>(random_digraph(seed, clients, 0.2 + 0.8 * chance.uniform()), seed);
  const auto hundredths = [&](std::uint64_t bound) { return 0.01 * static_cast<double>(1 + some(bound)); };

  // Periods in hundredths of a second, so that ticks, arrivals, windows and periods meet at one instant.
  const auto law = [&] {
    switch (some(6)) {
      case 0:
        return TimerLaw::fixed(10 * hundredths(9), hundredths(50));
      case 1:
        return TimerLaw::gamma(0.5 + chance.uniform(), 2);
      case 2:
        return TimerLaw::shifted_exponential(0.1, 3);
      case 3:
        return TimerLaw::lognormal(0.5, 1);
      default:
        return TimerLaw::poisson(0.5 + 3 * chance.uniform());
    }
  };
  const auto laws = [&](bool may_be_coupled) {
    const std::uint32_t count = maybe(0.5) ? 1 : clients;
    std::vector<TimerLaw> all;
    for (std::uint32_t i = 0; i < count; ++i)
      all.push_back(may_be_coupled && maybe(0.4) ? TimerLaw::coupled(1 + some(3), 1 + some(3)) : law());
    return all;
  };
  world->push.compute = laws(false);
  world->push.transmit_per_link = maybe(0.25);
  world->push.transmit = laws(!world->push.transmit_per_link);

  MailboxLimits& limits = world->push.limits;
  limits.window = maybe(0.4) ? Duration{} : from_seconds(10 * hundredths(10));
  if (maybe(0.6)) limits.deadline = from_seconds(10 * hundredths(6));
  if (maybe(0.6)) {
    limits.cap = 1 + some(4);
    world->settings.cap_period = from_seconds(10 * hundredths(20));
  }
  Needs& needs = world->push.needs;
  needs.send_only_if_computed = maybe(0.5);
  needs.keep = maybe(0.3) ? Keep::newest : Keep::all;
  needs.fixes_model_at_start = maybe(0.3);
  needs.weights_by_batch = needs.keep == Keep::all && maybe(0.3);
  if (maybe(0.5)) {
    std::vector<double>& weights = world->push.merge_weights.emplace_back();
    for (std::size_t link = 0; link < world->graph.links(); ++link) weights.push_back(chance.uniform());
  }

  if (maybe(0.3)) {
    world->channel = std::make_unique<IdealChannel>(from_seconds(10 * hundredths(5)));
  } else {
    const auto delay = [&]() -> Law {
      switch (some(5)) {
        case 0:
          return Law::constant(10 * hundredths(5));
        case 1:
          return {.kind = Law::Kind::uniform, .first = 0.01, .second = 0.6};
        case 2:
          return {.kind = Law::Kind::gamma, .first = 0.7, .second = 3};
        case 3:
          return {.kind = Law::Kind::lognormal, .first = 0.3, .second = 1};
        default:
          return {.kind = Law::Kind::exponential, .first = 0.3};
      }
    };
    std::map<std::pair<ClientId, ClientId>, RandomChannel::LinkLaw> exceptions;
    for (const Edge& edge : world->graph.edges())
      if (maybe(0.2)) exceptions[{edge.source, edge.target}] = {delay(), 0.9 * chance.uniform()};
    world->channel = std::make_unique<RandomChannel>(seed, RandomChannel::LinkLaw{delay(), maybe(0.5) ? 0.4 * chance.uniform() : 0},
                                                     std::move(exceptions));
  }

  if (maybe(0.6)) {
    UnificationPlan& plan = world->settings.unification;
    plan.period = from_seconds(10 * hundredths(30));
    constexpr std::array policies{HubPolicy::round_robin, HubPolicy::fixed, HubPolicy::random, HubPolicy::max_degree,
                                  HubPolicy::table};
    plan.policy = policies[some(5)];
    plan.fixed = {some(clients)};
    for (std::uint32_t i = 0; i < 3; ++i) plan.table.push_back({some(clients)});
    plan.via_transport = maybe(0.4);
    plan.clears_mailbox = maybe(0.4);
  }
  world->settings.until = at_seconds(10 + 0.01 * some(500));
  return world;
}

}  // namespace rubato::test
