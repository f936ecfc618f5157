// What an impaired transport does to parcels: as much as it was told, to whom it was told, the same for the same seed.
#include "transports/impaired.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

#include "tests/support/property.hpp"
#include "tests/transports/collector.hpp"
#include "tests/transports/transport_contract.hpp"
#include "transports/hub.hpp"

using namespace rubato;
using namespace rubato::test;
using namespace std::chrono_literals;

namespace {

class ImpairedEnds final : public Ends {
 public:
  ImpairedEnds(std::uint32_t hosts, std::size_t queue_bytes) : hub_{hosts, queue_bytes} {
    for (std::uint32_t host = 0; host < hosts; ++host) {
      ends_.push_back(hub_.end(HostId{host}));
      impaired_.push_back(std::make_unique<Impaired>(*ends_.back(), Impairment{}, host));
    }
  }
  Transport& operator[](std::uint32_t host) override { return *impaired_[host]; }

 private:
  Hub hub_;
  std::vector<std::unique_ptr<Transport>> ends_;
  std::vector<std::unique_ptr<Impaired>> impaired_;
};

/// Three hosts on a hub; what the first sends is impaired.
class Link {
 public:
  explicit Link(Impairment impairment, std::uint64_t seed = 1) : impaired{*one_, std::move(impairment), seed} {
    impaired.start(at_a);
    two_->start(at_b);
    three_->start(at_c);
  }
  ~Link() {
    impaired.stop({});
    two_->stop({});
    three_->stop({});
  }

  /// Lets everything arrive that will.
  void drain() {
    impaired.stop(patience);
    two_->stop(patience);
    three_->stop(patience);
  }
  Transport& end_of_b() { return *two_; }

  Collector at_a, at_b, at_c;

 private:
  Hub hub_{3};
  std::unique_ptr<Transport> one_ = hub_.end(a), two_ = hub_.end(b), three_ = hub_.end(c);

 public:
  Impaired impaired;
};

void send_numbers(Link& link, std::uint64_t count, HostId to = b) {
  for (std::uint64_t i = 0; i < count; ++i) REQUIRE(link.impaired.send(to, numbered(i)));
}

std::vector<std::uint64_t> sorted_numbers(const Collector& collector) {
  auto numbers = numbers_of(collector.heard());
  std::ranges::sort(numbers);
  return numbers;
}

Impairment everything() {
  return {.delay = {.kind = Law::Kind::exponential, .first = 0.001, .values = {}},
          .loss = 0.2,
          .duplicate = 0.2,
          .reorder = 0.2,
          .held_back = 3ms,
          .spoil = 0.1};
}

bool near(std::uint64_t count, double chance, double of) {
  return std::abs(static_cast<double>(count) - chance * of) < 6 * std::sqrt(of * chance * (1 - chance));
}

}  // namespace

TEST_CASE("a transport with no impairment keeps the transport contract") {
  transport_contract(
      [](std::uint32_t hosts, std::size_t queue_bytes) { return std::make_unique<ImpairedEnds>(hosts, queue_bytes); });
}

TEST_CASE("the same parcels meet the same fates with the same seed, whatever else is sent, and others with another") {
  std::vector<std::vector<std::uint64_t>> arrived;
  std::vector<ImpairmentCounts> did;
  for (const std::uint64_t seed : {7, 7, 8}) {
    Link link(everything(), seed);
    const bool has_company = arrived.size() == 1;
    for (std::uint64_t i = 0; i < 400; ++i) {
      if (has_company) link.impaired.send(c, numbered(i));
      if (has_company) link.impaired.send(b, numbered(9999, WhenFull::wait, ParcelKind::hello));
      link.impaired.send(b, numbered(i));
    }
    link.drain();
    arrived.push_back(sorted_numbers(link.at_b));
    std::erase(arrived.back(), 9999);
  }
  CHECK(arrived[0] == arrived[1]);
  CHECK(arrived[0] != arrived[2]);
  CHECK(arrived[0].size() > 100);
}

TEST_CASE("the fates of two links are not the same") {
  Link link({.loss = 0.5});
  send_numbers(link, 200, b);
  send_numbers(link, 200, c);
  link.drain();
  CHECK(numbers_of(link.at_b.heard()) != numbers_of(link.at_c.heard()));
}

TEST_CASE("a constant delay is kept and leaves the order as it was") {
  Link link({.delay = Law::constant(0.03)});
  std::vector<Duration> sent;
  for (std::uint64_t i = 0; i < 50; ++i) {
    sent.push_back(monotonic_now());
    REQUIRE(link.impaired.send(b, numbered(i)));
  }
  REQUIRE(link.at_b.wait_for(50));
  const auto heard = link.at_b.heard();
  for (std::size_t i = 0; i < 50; ++i) {
    CHECK(number_of(heard[i].parcel) == i);
    CHECK(heard[i].arrived - sent[i] >= 30ms);
  }
  CHECK(link.impaired.impairments().delayed == 50);
}

TEST_CASE("delays are drawn from their law, the same for the same seed") {
  // Half of the draws are below 0 and leave at once; the other half would take an hour or so.
  const Law law{.kind = Law::Kind::uniform, .first = -7200, .second = 7200, .values = {}};
  std::vector<std::vector<std::uint64_t>> arrived;
  for (const std::uint64_t seed : {3, 3, 4}) {
    Link link({.delay = law}, seed);
    send_numbers(link, 200);
    REQUIRE(link.at_b.wait_for(200 - link.impaired.impairments().delayed));
    arrived.push_back(numbers_of(link.at_b.heard()));
    CHECK(near(arrived.back().size(), 0.5, 200));
  }
  CHECK(arrived[0] == arrived[1]);
  CHECK(arrived[0] != arrived[2]);
}

TEST_CASE("what is lost, doubled and spoilt is as much as the chances say, and counted") {
  Link link({.loss = 0.1, .duplicate = 0.05, .spoil = 0.2});
  send_numbers(link, 10'000);
  link.drain();
  const ImpairmentCounts did = link.impaired.impairments();
  CHECK(near(did.lost, 0.1, 10'000));
  CHECK(near(did.duplicated, 0.9 * 0.05, 10'000));
  CHECK(near(did.spoilt, 0.9 * 0.2, 10'000));
  const TransportCounts counts = link.end_of_b().counts();
  CHECK(counts.received == link.at_b.count());
  CHECK(counts.received + counts.malformed == 10'000 - did.lost + did.duplicated);
  CHECK(counts.malformed >= did.spoilt);
  std::map<std::uint64_t, int> times;
  for (const std::uint64_t number : numbers_of(link.at_b.heard())) ++times[number];
  CHECK(std::ranges::all_of(times, [](const auto& each) { return each.second <= 2; }));
  CHECK(std::ranges::count_if(times, [](const auto& each) { return each.second == 2; }) > 0);
}

TEST_CASE("who is held back is overtaken, nobody else is") {
  Link forever({.reorder = 0.25, .held_back = 1h});
  send_numbers(forever, 200);
  const std::uint64_t held_back = forever.impaired.impairments().reordered;
  CHECK(near(held_back, 0.25, 200));
  REQUIRE(forever.at_b.wait_for(200 - held_back));  // while the others wait
  const auto in_time = numbers_of(forever.at_b.heard());
  CHECK(std::ranges::is_sorted(in_time));

  Link link({.reorder = 0.25, .held_back = 50ms});  // the same are held back, by the same seed
  send_numbers(link, 200);
  REQUIRE(link.at_b.wait_for(200));
  auto numbers = numbers_of(link.at_b.heard());
  const auto overtaken =
      std::ranges::stable_partition(numbers, [&](std::uint64_t number) { return std::ranges::binary_search(in_time, number); });
  CHECK(std::is_sorted(numbers.begin(), overtaken.begin()));
  CHECK(std::is_sorted(overtaken.begin(), numbers.end()));
  CHECK(overtaken.size() == held_back);
}

TEST_CASE("only the kinds that are named are impaired") {
  Link link({.loss = 1});
  for (std::uint8_t kind = 1; kind <= last_parcel_kind; ++kind)
    CHECK(link.impaired.send(b, numbered(kind, WhenFull::wait, ParcelKind{kind})));
  REQUIRE(link.at_b.wait_for(last_parcel_kind - 2));
  link.drain();
  for (const Heard& each : link.at_b.heard()) {
    CHECK(each.parcel.kind != ParcelKind::message);
    CHECK(each.parcel.kind != ParcelKind::control);
  }
  CHECK(link.impaired.impairments().lost == 2);
}

TEST_CASE("hosts that are cut off hear nothing of each other until that is healed") {
  Link link({});
  link.impaired.cut(b, a);
  CHECK(link.impaired.send(b, numbered(0)));
  CHECK(link.impaired.send(c, numbered(1)));
  link.impaired.heal(a, b);
  CHECK(link.impaired.send(b, numbered(2)));
  link.drain();
  CHECK(sorted_numbers(link.at_b) == std::vector<std::uint64_t>{2});
  CHECK(sorted_numbers(link.at_c) == std::vector<std::uint64_t>{1});
  CHECK(link.impaired.impairments().cut == 1);
}

TEST_CASE("stopping lets what is held leave at its time") {
  Link link({.delay = Law::constant(0.1), .duplicate = 0.5});
  send_numbers(link, 100);
  const Duration before = monotonic_now();
  link.impaired.stop(patience);
  CHECK(monotonic_now() - before < patience / 2);
  REQUIRE(link.at_b.wait_for(100 + link.impaired.impairments().duplicated));
  CHECK(link.impaired.impairments().overdue == 0);
  CHECK_FALSE(link.impaired.send(b, numbered(100)));
  CHECK(link.impaired.counts().refused == 1);
}

TEST_CASE("what is not due when stopping must end is counted and forgotten") {
  Link link({.delay = Law::constant(3600)});
  send_numbers(link, 10);
  const Duration before = monotonic_now();
  link.impaired.stop(10ms);
  CHECK(monotonic_now() - before < 60s);
  CHECK(link.impaired.impairments().overdue == 10);
  CHECK(link.at_b.count() == 0);
}

TEST_CASE("what is held is bounded in bytes, for control at twice as many") {
  Link link({.delay = Law::constant(3600), .held_bytes = 100'000});
  Parcel increment = numbered(0, WhenFull::refuse), control = numbered(1);
  increment.head.resize(10'000);
  control.head.resize(10'000);
  int increments = 0, controls = 0;
  for (int i = 0; i < 100; ++i) increments += link.impaired.send(b, increment);
  for (int i = 0; i < 100; ++i) controls += link.impaired.send(b, control);
  CHECK(increments == 9);
  CHECK(controls == 10);
  CHECK(link.impaired.counts().refused == 181);
}

TEST_CASE("an impairment that cannot be is refused with a sentence") {
  Hub hub(1);
  const auto end = hub.end(a);
  CHECK_THROWS_WITH_AS(Impaired(*end, {.loss = 1.5}, 1), "loss of an impaired transport is a chance, from 0 to 1; it is 1.500000",
                       std::invalid_argument);
  CHECK_THROWS_AS(Impaired(*end, {.duplicate = -0.1}, 1), std::invalid_argument);
  CHECK_THROWS_AS(Impaired(*end, {.reorder = 2}, 1), std::invalid_argument);
  CHECK_THROWS_AS(Impaired(*end, {.spoil = std::nan("")}, 1), std::invalid_argument);
  CHECK_THROWS_AS(Impaired(*end, {.held_back = -1ns}, 1), std::invalid_argument);
  CHECK_THROWS_AS(Impaired(*end, {.delay = Law::constant(-1)}, 1), std::invalid_argument);
  CHECK_THROWS_AS(Impaired(*end, {.delay = {.kind = Law::Kind::list, .values = {1}}}, 1), std::invalid_argument);
}

TEST_CASE("whatever is done to parcels, none is invented or changed, and the counts add up") {
  const std::string counterexample = broken(
      [] {
        const auto chance = [] { return *rc::gen::inRange(0, 101) / 100.0; };
        const Impairment impairment{.delay = {.kind = *rc::gen::element(Law::Kind::constant, Law::Kind::exponential),
                                              .first = *rc::gen::inRange(0, 3) / 1000.0,
                                              .values = {}},
                                    .loss = chance(),
                                    .duplicate = chance(),
                                    .reorder = chance(),
                                    .held_back = 1ms,
                                    .spoil = chance()};
        TensorPool pool;
        Link link(impairment, *rc::gen::arbitrary<std::uint64_t>());
        const auto count = *rc::gen::inRange<std::uint64_t>(0, 60);
        std::vector<Parcel> sent;
        for (std::uint64_t i = 0; i < count; ++i) {
          sent.push_back(numbered(i, WhenFull::refuse));
          sent.back().tensors = {tensor_of(pool, Scalar::float64, i, i)};
          RC_ASSERT(link.impaired.send(b, sent.back()));
        }
        link.drain();
        for (const Heard& each : link.at_b.heard()) {
          RC_ASSERT(number_of(each.parcel) < count);
          RC_ASSERT(are_equal(each.parcel, sent[number_of(each.parcel)]));
        }
        const ImpairmentCounts did = link.impaired.impairments();
        const TransportCounts heard = link.end_of_b().counts();
        RC_ASSERT(link.impaired.counts().sent == count - did.lost + did.duplicated);
        RC_ASSERT(heard.received + heard.malformed == link.impaired.counts().sent);
        RC_ASSERT(heard.received == link.at_b.count());
      },
      60);
  CAPTURE(counterexample);
  CHECK(counterexample.empty());
}
