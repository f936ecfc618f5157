// The contract of runtime/mailbox.hpp, case by case.
#include "runtime/mailbox.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <vector>

#include "tests/support/property.hpp"
#include "tests/support/world.hpp"

using namespace rubato;
using namespace rubato::test;
using namespace std::chrono_literals;

namespace {

Arrival message(Time sent, Time arrived, std::uint32_t sender = 0, Sequence sequence = 0) {
  return {{.id = {{sender}, 0, sequence}, .sent = sent}, no_slot, arrived};
}

}  // namespace

TEST_CASE("a message as old as the deadline is kept, a nanosecond more and it is late") {
  const MailboxLimits limits{.window = 1s, .deadline = 50ms};
  Mailbox mailbox(limits, 4);
  CHECK(mailbox.offer(message(Time{1s}, Time{1050ms}), limits) == Offer::kept);
  CHECK(mailbox.offer(message(Time{1s}, Time{1050ms + 1ns}), limits) == Offer::late);
  CHECK(mailbox.batch().size() == 1);
}

TEST_CASE("without a deadline no message is late") {
  const MailboxLimits limits{.window = 1s};
  Mailbox mailbox(limits, 1);
  CHECK(mailbox.offer(message(Time{}, Time{std::chrono::hours(24 * 365 * 100)}), limits) == Offer::kept);
}

TEST_CASE("a late message takes no token and opens no window") {
  const MailboxLimits limits{.window = 1s, .deadline = 50ms, .cap = 1};
  Mailbox mailbox(limits, 4);
  CHECK(mailbox.offer(message(Time{0s}, Time{1s}), limits) == Offer::late);
  CHECK(mailbox.tokens() == 1);
  CHECK(mailbox.open_until() == never);
  CHECK(mailbox.offer(message(Time{1s}, Time{1s}), limits) == Offer::kept);
  CHECK(mailbox.tokens() == 0);
}

TEST_CASE("a message that is both late and over the cap counts as late") {
  const MailboxLimits limits{.window = 1s, .deadline = 50ms, .cap = 1};
  Mailbox mailbox(limits, 4);
  CHECK(mailbox.offer(message(Time{1s}, Time{1s}), limits) == Offer::kept);
  CHECK(mailbox.offer(message(Time{1s}, Time{2s}), limits) == Offer::late);
  CHECK(mailbox.offer(message(Time{2s}, Time{2s}), limits) == Offer::capped);
}

TEST_CASE("the cap lets so many messages in and no more, across windows, until it is refilled") {
  const MailboxLimits limits{.cap = 3};
  Mailbox mailbox(limits, 4);
  for (int i = 0; i < 3; ++i) {
    CHECK(mailbox.offer(message(Time{}, Time{1s * i}), limits) == Offer::kept);
    mailbox.clear();
  }
  CHECK(mailbox.offer(message(Time{}, Time{5s}), limits) == Offer::capped);
  CHECK(mailbox.open_until() == never);
  mailbox.refill(limits);
  CHECK(mailbox.tokens() == 3);
  CHECK(mailbox.offer(message(Time{}, Time{6s}), limits) == Offer::kept);
}

TEST_CASE("unused tokens do not add up from period to period") {
  const MailboxLimits limits{.cap = 2};
  Mailbox mailbox(limits, 4);
  for (int period = 0; period < 5; ++period) mailbox.refill(limits);
  CHECK(mailbox.tokens() == 2);
}

TEST_CASE("without a cap tokens never run out") {
  const MailboxLimits limits{};
  Mailbox mailbox(limits, 0);
  for (int i = 0; i < 1000; ++i) CHECK(mailbox.offer(message(Time{}, Time{1s}), limits) == Offer::kept);
  CHECK(mailbox.tokens() == MailboxLimits::unlimited);
}

TEST_CASE("the first kept message opens the window and later ones do not move its end") {
  const MailboxLimits limits{.window = 1s};
  Mailbox mailbox(limits, 4);
  CHECK(mailbox.open_until() == never);
  CHECK(mailbox.offer(message(Time{3s}, Time{3s}), limits) == Offer::kept);
  CHECK(mailbox.open_until() == Time{4s});
  CHECK(mailbox.offer(message(Time{3s}, Time{3900ms}), limits) == Offer::kept);
  CHECK(mailbox.open_until() == Time{4s});
  mailbox.clear();
  CHECK(mailbox.open_until() == never);
  CHECK(mailbox.offer(message(Time{3s}, Time{9s}), limits) == Offer::kept);
  CHECK(mailbox.open_until() == Time{10s});
}

TEST_CASE("the batch keeps the order of arrival") {
  const MailboxLimits limits{.window = 1s};
  Mailbox mailbox(limits, 1);
  for (const std::uint32_t sender : {4u, 0u, 4u, 2u})
    CHECK(mailbox.offer(message(Time{}, Time{1s}, sender), limits) == Offer::kept);
  std::vector<std::uint32_t> senders;
  for (const Arrival& arrival : mailbox.batch()) senders.push_back(arrival.id.sender.value);
  CHECK(senders == std::vector{4u, 0u, 4u, 2u});
}

TEST_CASE("an arrival at the instant the window closes belongs to the batch, one a nanosecond later to the next") {
  // 1, 2 and 3 send to 0 so that they arrive at 1.000000, 2.000000 and 2.000000001 s; the window is 1 s.
  World world(directed(4, {{{1}, {0}}, {{2}, {0}}, {{3}, {0}}}));
  world.channel = std::make_unique<IdealChannel>(Duration{1ms});
  world.push.limits.window = 1s;
  world.push.transmit = {TimerLaw::off(), ticks({0.999}), ticks({1.999}), TimerLaw::table({Time{1999ms + 1ns}})};
  world.run_until(Time{10s});
  const auto closes = world.events.of_kind(Priority::window_close);
  REQUIRE(closes.size() == 2);
  CHECK(closes[0].at == Time{2s});
  REQUIRE(closes[0].entries.size() == 2);
  CHECK(closes[0].entries[0].peer.value == 1);
  CHECK(closes[0].entries[1].peer.value == 2);
  CHECK(closes[1].at == Time{3s + 1ns});
  REQUIRE(closes[1].entries.size() == 1);
  CHECK(closes[1].entries[0].peer.value == 3);
}

TEST_CASE("with a window of nothing every set of arrivals at one instant is one batch") {
  World world(topologies::star(4, {0}));
  world.push.transmit = {TimerLaw::off(), ticks({1, 2}), ticks({1, 2}), ticks({1, 3})};
  world.run_until(Time{10s});
  std::vector<std::size_t> sizes;
  for (const Seen& close : world.events.of_kind(Priority::window_close))
    if (close.client.value == 0) sizes.push_back(close.entries.size());
  CHECK(sizes == std::vector<std::size_t>{3, 2, 1});
}

TEST_CASE("an arrival exactly when a period begins belongs to the new period") {
  // One token a second. 1 sends twice a second; the arrivals are at 0.25, 0.75 | 1.0, 1.5 | 2.0.
  World world(directed(2, {{{1}, {0}}}));
  world.channel = std::make_unique<IdealChannel>(Duration{1ms});
  world.push.limits.cap = 1;
  world.settings.cap_period = 1s;
  world.push.transmit = {TimerLaw::off(), ticks({0.249, 0.749, 0.999, 1.499, 1.999})};
  world.run_until(Time{10s});
  std::vector<Offer> outcomes;
  for (const Seen& arrival : world.events.of_kind(Priority::arrival)) outcomes.push_back(arrival.outcome);
  CHECK(outcomes == std::vector{Offer::kept, Offer::capped, Offer::kept, Offer::capped, Offer::kept});
}

TEST_CASE("a window that spans two periods is not cut") {
  World world(directed(2, {{{1}, {0}}}));
  world.channel = std::make_unique<IdealChannel>(Duration{1ms});
  world.push.limits = {.window = 1s, .cap = 1};
  world.settings.cap_period = 1s;
  world.push.transmit = {TimerLaw::off(), ticks({0.599, 1.199})};
  world.run_until(Time{10s});
  const auto closes = world.events.of_kind(Priority::window_close);
  REQUIRE(closes.size() == 1);
  CHECK(closes[0].at == Time{1600ms});
  CHECK(closes[0].entries.size() == 2);
}

namespace {

/// The contract once more, sentence by sentence.
struct NaiveMailbox {
  Duration window, deadline;
  std::optional<std::uint32_t> cap;
  std::uint32_t tokens = cap.value_or(0);
  std::optional<Time> open_until{};
  std::vector<Sequence> batch{};

  Offer arrive(Time t, Time sent, Sequence sequence) {
    if (t - sent > deadline) return Offer::late;
    if (cap && tokens == 0) return Offer::capped;
    if (cap) tokens -= 1;
    if (!open_until) open_until = t + window;
    batch.push_back(sequence);
    return Offer::kept;
  }
};

}  // namespace

TEST_CASE("the mailbox agrees with the specification read line by line, whatever comes") {
  CHECK(broken([] {
          const auto window = *rc::gen::inRange(0, 4);
          const auto deadline = *rc::gen::inRange(0, 4);
          const auto cap = *rc::gen::inRange(0, 5);  // 0: none
          MailboxLimits limits{.window = Duration{window}, .deadline = Duration{deadline}};
          if (cap > 0) limits.cap = static_cast<std::uint32_t>(cap);
          Mailbox mailbox(limits, 2);
          NaiveMailbox naive{Duration{window}, Duration{deadline},
                             cap > 0 ? std::optional{static_cast<std::uint32_t>(cap)} : std::nullopt};
          Time now{1s};
          Sequence sequence = 0;
          for (const auto& [pause, age, action] : *rc::gen::container<std::vector<std::tuple<int, int, int>>>(
                   rc::gen::tuple(rc::gen::inRange(0, 3), rc::gen::inRange(0, 6), rc::gen::inRange(0, 8)))) {
            now += Duration{pause};
            if (naive.open_until && now > *naive.open_until) {
              mailbox.clear();
              naive.batch.clear();
              naive.open_until.reset();
            }
            if (action == 0) {
              mailbox.refill(limits);
              naive.tokens = naive.cap.value_or(0);
            }
            const Offer offer = mailbox.offer(message(now - Duration{age}, now, 0, sequence), limits);
            RC_ASSERT(offer == naive.arrive(now, now - Duration{age}, sequence));
            ++sequence;
            RC_ASSERT(mailbox.open_until() == naive.open_until.value_or(never));
            RC_ASSERT(mailbox.batch().size() == naive.batch.size());
            for (std::size_t i = 0; i < naive.batch.size(); ++i) RC_ASSERT(mailbox.batch()[i].id.sequence == naive.batch[i]);
            if (naive.cap) RC_ASSERT(mailbox.tokens() == naive.tokens);
          }
        }) == "");
}
