// What holds in every run, whatever the timers, the links and the limits are.
#include <doctest/doctest.h>

#include <map>
#include <tuple>
#include <vector>

#include "tests/sim/random_world.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

/// Every law is checked on these runs.
template <class Law>
void in_every_run(Law law) {
  for (std::uint64_t seed = 1001; seed <= 1300; ++seed) {
    CAPTURE(seed);
    const std::unique_ptr<World> world = random_world(seed);
    world->run_until(world->settings.until);
    law(*world);
  }
}

using MessageKey = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;  // receiver, sender, sequence

}  // namespace

TEST_CASE("no kept message is older than the deadline and no late one is younger, whatever the network does") {
  in_every_run([](const World& world) {
    for (const Seen& seen : world.events.seen) {
      if (seen.kind != Priority::arrival) continue;
      REQUIRE((seen.outcome == Offer::late) == (seen.age > world.push.limits.deadline));
    }
  });
}

TEST_CASE("no receiver keeps more messages in a period than its cap") {
  in_every_run([](const World& world) {
    std::vector<std::uint32_t> kept(world.graph.clients());
    for (const Seen& seen : world.events.seen) {
      if (seen.kind == Priority::period) kept.assign(kept.size(), 0);
      if (seen.kind != Priority::arrival || seen.outcome != Offer::kept) continue;
      REQUIRE(++kept[seen.client.value] <= world.push.limits.cap);
    }
  });
}

TEST_CASE("a message is capped only when no token is left, and takes none") {
  in_every_run([](const World& world) {
    const std::uint32_t cap = world.push.limits.cap;
    std::vector<std::uint32_t> tokens(world.graph.clients(), cap);
    for (const Seen& seen : world.events.seen) {
      if (seen.kind == Priority::period) tokens.assign(tokens.size(), cap);
      if (seen.kind != Priority::arrival) continue;
      std::uint32_t& left = tokens[seen.client.value];
      if (seen.outcome == Offer::capped) REQUIRE(left == 0);
      if (seen.outcome == Offer::kept) REQUIRE(left > 0);
      if (seen.outcome == Offer::kept && cap != MailboxLimits::unlimited) --left;
      REQUIRE(seen.tokens == left);
    }
  });
}

TEST_CASE("every kept message is in exactly one batch or superseded, unless its window is open at the end") {
  in_every_run([](const World& world) {
    std::map<MessageKey, int> fates;
    for (const Seen& seen : world.events.seen)
      if (seen.kind == Priority::arrival && seen.outcome == Offer::kept)
        fates[{seen.client.value, seen.source.value, seen.sequence}] = 0;
    for (const KeptStep& kept : world.steps.steps) {
      if (kept.step.kind != StepKind::merge && kept.step.kind != StepKind::discard) continue;
      if (kept.step.message == MessageKind::model) continue;
      for (const StepEntry& entry : kept.entries) {
        const auto found = fates.find({kept.step.client.value, entry.peer.value, entry.sequence});
        if (kept.step.kind == StepKind::merge) REQUIRE(found != fates.end());
        if (found != fates.end()) ++found->second;
      }
    }
    for (const auto& [message, fate] : fates) {
      if (fate == 1) continue;
      REQUIRE(fate == 0);
      bool is_open = false;
      const ClientId receiver{std::get<0>(message)};
      for (const Arrival& arrival : const_cast<World&>(world).conductor().protocol(receiver).mailbox().batch())
        is_open |= arrival.id.sender.value == std::get<1>(message) && arrival.id.sequence == std::get<2>(message);
      REQUIRE(is_open);
    }
  });
}

TEST_CASE("a window closes exactly its length after its first message, and nobody is kept waiting longer") {
  in_every_run([](const World& world) {
    std::map<std::uint32_t, Time> first;  // of the open window of each receiver
    for (const Seen& seen : world.events.seen) {
      if (seen.kind == Priority::unify && world.settings.unification.clears_mailbox) first.clear();
      if (seen.kind == Priority::arrival && seen.outcome == Offer::kept) first.insert({seen.client.value, seen.at});
      if (seen.kind != Priority::window_close) continue;
      REQUIRE(first.count(seen.client.value) == 1);
      REQUIRE(seen.at - first[seen.client.value] == world.push.limits.window);
      first.erase(seen.client.value);
    }
    for (const auto& [receiver, at] : first) REQUIRE(at + world.push.limits.window > world.settings.until);
  });
}

TEST_CASE("weights by batch sum to one in every window, and link weights are the link's") {
  in_every_run([](const World& world) {
    for (const KeptStep& merge : world.steps.of_kind(StepKind::merge)) {
      double sum = 0;
      for (const StepEntry& entry : merge.entries) {
        sum += entry.weight;
        if (!world.push.needs.weights_by_batch && !world.push.merge_weights.empty())
          REQUIRE(entry.weight == world.push.merge_weights[0][*world.graph.find_link(entry.peer, merge.step.client)]);
      }
      if (world.push.needs.weights_by_batch) REQUIRE(sum == doctest::Approx(1).epsilon(1e-12));
    }
  });
}

TEST_CASE("a batch of the newest holds each sender once, ascending; any other batch is in the order of arrival") {
  in_every_run([](const World& world) {
    for (const KeptStep& merge : world.steps.of_kind(StepKind::merge))
      if (world.push.needs.keep == Keep::newest)
        for (std::size_t i = 1; i < merge.entries.size(); ++i) REQUIRE(merge.entries[i - 1].peer < merge.entries[i].peer);
  });
}

TEST_CASE("what is sent is lost, kept, refused or still under way, and the counters say so") {
  in_every_run([](World& world) {
    const MessageCounts counts = world.conductor().total_counts();
    std::uint64_t sent = 0, lost = 0, models = 0;
    for (const KeptStep& publish : world.steps.of_kind(StepKind::publish)) {
      std::uint64_t lost_here = 0;
      for (const StepEntry& entry : publish.entries) lost_here += entry.lost;
      if (publish.step.message == MessageKind::model) {
        if (world.settings.unification.via_transport) models += publish.entries.size() - lost_here;
        continue;
      }
      sent += publish.entries.size();
      lost += lost_here;
    }
    std::uint64_t models_arrived = 0;
    for (const KeptStep& kept : world.steps.steps)
      models_arrived += world.settings.unification.via_transport && kept.step.message == MessageKind::model &&
                        kept.step.kind != StepKind::publish;
    REQUIRE(counts.sent == sent);
    REQUIRE(counts.lost == lost);
    REQUIRE(counts.sent + models ==
            counts.lost + counts.kept + counts.late + counts.capped + models_arrived + world.conductor().flights());
  });
}

TEST_CASE("time never goes backwards, and at one instant events come by priority and client") {
  in_every_run([](const World& world) {
    for (std::size_t i = 1; i < world.events.seen.size(); ++i) {
      const Seen& before = world.events.seen[i - 1];
      const Seen& after = world.events.seen[i];
      REQUIRE(before.at <= after.at);
      if (before.at == after.at && before.kind != Priority::unify && after.kind != Priority::unify)
        REQUIRE(std::tie(before.kind, before.client) <= std::tie(after.kind, after.client));
    }
  });
}

TEST_CASE("every payload that was taken is let go, but those under way and in open windows") {
  in_every_run([](World& world) {
    std::int64_t wanted = 0;
    for (const std::int64_t receivers : world.steps.wanted()) {
      REQUIRE(receivers >= 0);
      wanted += receivers;
    }
    std::int64_t waiting = 0;
    for (std::uint32_t i = 0; i < world.graph.clients(); ++i)
      waiting += static_cast<std::int64_t>(world.conductor().protocol({i}).mailbox().batch().size());
    REQUIRE(wanted == waiting + static_cast<std::int64_t>(world.conductor().flights()));
  });
}

TEST_CASE("after an ideal unification everyone but the hub adopts its model of that instant") {
  in_every_run([](const World& world) {
    if (world.settings.unification.via_transport) return;
    std::map<std::uint64_t, std::vector<std::uint32_t>> adopters;
    for (const KeptStep& adopt : world.steps.of_kind(StepKind::adopt)) {
      REQUIRE(adopt.step.at.time_since_epoch() == world.settings.unification.period * static_cast<std::int64_t>(adopt.step.index));
      REQUIRE(adopt.entries.at(0).age == Duration{});
      adopters[adopt.step.index].push_back(adopt.step.client.value);
    }
    for (const Seen& unify : world.events.seen) {
      if (unify.kind != Priority::unify) continue;
      std::vector<std::uint32_t> others;
      for (std::uint32_t i = 0; i < world.graph.clients(); ++i)
        if (i != unify.client.value) others.push_back(i);
      REQUIRE(adopters[unify.sequence] == others);
    }
  });
}
