#include "tests/transports/transport_contract.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <new>
#include <numeric>
#include <thread>
#include <vector>

#include "tests/support/property.hpp"
#include "tests/transports/collector.hpp"

namespace rubato::test {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t roomy = std::size_t{256} << 20;
constexpr std::size_t tight = std::size_t{1} << 20;

/// Hosts with a collector each, stopped before they go.
class Party {
 public:
  Party(const MakeEnds& make, std::uint32_t hosts, std::size_t queue_bytes = roomy)
      : ends_{make(hosts, queue_bytes)}, heard_(hosts) {}
  ~Party() {
    for (std::uint32_t host = 0; host < heard_.size(); ++host) end(host).stop({});
  }

  void start(std::uint32_t host) { end(host).start(heard_[host]); }
  void start_all() {
    for (std::uint32_t host = 0; host < heard_.size(); ++host) start(host);
  }
  Transport& end(std::uint32_t host) { return (*ends_)[host]; }
  Collector& heard(std::uint32_t host) { return heard_[host]; }

  TensorPool pool;  // outlives what was made of it

 private:
  std::unique_ptr<Ends> ends_;
  std::deque<Collector> heard_;
};

std::vector<std::uint64_t> count_up(std::size_t count) {
  std::vector<std::uint64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
  return numbers;
}

bool is_growing(const std::vector<std::uint64_t>& numbers) {
  return std::adjacent_find(numbers.begin(), numbers.end(), std::greater_equal<>{}) == numbers.end();
}

Parcel numbered_tensor(TensorPool& pool, std::uint64_t number, std::size_t bytes, WhenFull when_full) {
  Parcel parcel = numbered(number, when_full);
  parcel.tensors = {tensor_of(pool, Scalar::float32, bytes / 4, number)};
  return parcel;
}

void arrives_in_order(const MakeEnds& make) {
  Party party(make, 2);
  party.start_all();
  for (std::uint64_t i = 0; i < 2000; ++i) REQUIRE(party.end(0).send(b, numbered(i)));
  REQUIRE(party.heard(1).wait_for(2000));
  party.end(0).stop(patience);
  CHECK(numbers_of(party.heard(1).heard()) == count_up(2000));
}

void arrives_bit_for_bit(const MakeEnds& make) {
  Party party(make, 2);
  party.start_all();
  std::vector<Parcel> sent;
  for (const Scalar scalar : {Scalar::float32, Scalar::float64, Scalar::uint32})
    for (const std::size_t count : {1, 2, 15, 16, 17, 1000, 100'003}) {
      Parcel parcel = numbered(count);
      parcel.tensors = {tensor_of(party.pool, scalar, count, 3), tensor_of(party.pool, Scalar::uint32, 5, count)};
      sent.push_back(parcel);
      REQUIRE(party.end(0).send(b, std::move(parcel)));
    }
  REQUIRE(party.heard(1).wait_for(sent.size()));
  const auto heard = party.heard(1).heard();
  for (std::size_t i = 0; i < sent.size(); ++i) {
    CHECK(are_equal(heard[i].parcel, sent[i]));
    for (const Tensor& tensor : heard[i].parcel.tensors) CHECK(reinterpret_cast<std::uintptr_t>(tensor.data<char>()) % 64 == 0);
  }
}

void may_be_empty(const MakeEnds& make) {
  Party party(make, 2);
  party.start_all();
  std::vector<Parcel> sent(4);
  sent[1].head.resize(3);
  sent[2].tensors = {tensor_of(party.pool, Scalar::float64, 0)};
  sent[3].tensors = {tensor_of(party.pool, Scalar::uint32, 0), tensor_of(party.pool, Scalar::float32, 1),
                     tensor_of(party.pool, Scalar::float32, 0)};
  for (const Parcel& parcel : sent) REQUIRE(party.end(0).send(b, parcel));
  REQUIRE(party.heard(1).wait_for(sent.size()));
  const auto heard = party.heard(1).heard();
  for (std::size_t i = 0; i < sent.size(); ++i) CHECK(are_equal(heard[i].parcel, sent[i]));
}

void may_be_large(const MakeEnds& make) {
  Party party(make, 2);
  party.start_all();
  std::vector<Parcel> sent;
  for (std::uint64_t i = 0; i < 3; ++i) {
    sent.push_back(numbered(i));
    sent.back().head.resize(200'000);
    sent.back().tensors = {tensor_of(party.pool, Scalar::float32, 5'000'000, i), tensor_of(party.pool, Scalar::uint32, 9, i),
                           tensor_of(party.pool, Scalar::float64, 1'500'001, i)};
    REQUIRE(party.end(0).send(b, sent.back()));
  }
  REQUIRE(party.heard(1).wait_for(sent.size()));
  const auto heard = party.heard(1).heard();
  for (std::size_t i = 0; i < sent.size(); ++i) CHECK(are_equal(heard[i].parcel, sent[i]));
}

void carries_every_kind(const MakeEnds& make) {
  Party party(make, 2);
  party.start_all();
  for (std::uint8_t kind = 1; kind <= last_parcel_kind; ++kind)
    REQUIRE(party.end(0).send(b, numbered(kind, WhenFull::wait, ParcelKind{kind})));
  REQUIRE(party.heard(1).wait_for(last_parcel_kind));
  const Duration now = monotonic_now();
  for (const Heard& each : party.heard(1).heard()) {
    CHECK(static_cast<std::uint64_t>(each.parcel.kind) == number_of(each.parcel));
    CHECK(each.from == a);
    CHECK_FALSE(each.parcel.is_spoilt);
    CHECK(each.arrived <= now);
  }
}

void stamps_arrivals(const MakeEnds& make) {
  Party party(make, 2);
  party.start_all();
  for (std::size_t i = 0; i < 20; ++i) {
    const Duration before = monotonic_now();
    REQUIRE(party.end(0).send(b, numbered(i)));
    REQUIRE(party.heard(1).wait_for(i + 1));
    const Duration arrived = party.heard(1).heard().back().arrived;
    CHECK(before <= arrived);
    CHECK(arrived <= monotonic_now());
  }
}

void many_threads_send(const MakeEnds& make) {
  constexpr std::uint64_t threads = 4, each = 500;
  std::atomic<int> inside{0}, most_inside{0};
  Party party(make, 3);
  party.heard(2).on_each = [&](HostId, const Parcel&) {
    most_inside = std::max(most_inside.load(), ++inside);
    --inside;
  };
  party.start_all();
  std::atomic<int> refused{0};
  std::vector<std::thread> senders;
  for (std::uint64_t thread = 0; thread < threads; ++thread)
    senders.emplace_back([&, thread] {
      for (std::uint64_t i = 0; i < each; ++i) refused += !party.end(thread % 2).send(HostId{2}, numbered(thread * each + i));
    });
  for (std::thread& sender : senders) sender.join();
  CHECK(refused == 0);
  REQUIRE(party.heard(2).wait_for(threads * each));
  std::vector<std::vector<std::uint64_t>> by_thread(threads);
  for (const Heard& heard : party.heard(2).heard()) {
    const std::uint64_t number = number_of(heard.parcel);
    REQUIRE(number < threads * each);
    CHECK(heard.from.value == number / each % 2);
    by_thread[number / each].push_back(number);
  }
  for (const auto& numbers : by_thread) {
    CHECK(numbers.size() == each);
    CHECK(is_growing(numbers));
  }
  CHECK(most_inside == 1);
}

void a_sink_may_send(const MakeEnds& make) {
  constexpr std::uint64_t last = 500;
  Party party(make, 2);
  for (std::uint32_t host = 0; host < 2; ++host)
    party.heard(host).on_each = [&party, host](HostId from, const Parcel& parcel) {
      if (number_of(parcel) < last) party.end(host).send(from, numbered(number_of(parcel) + 1));
    };
  party.start_all();
  REQUIRE(party.end(0).send(b, numbered(0)));
  CHECK(party.heard(1).wait_for(last / 2 + 1));
  CHECK(party.heard(0).wait_for(last / 2));
}

void refuses_strange_receivers(const MakeEnds& make) {
  Party party(make, 2);
  party.start_all();
  CHECK_FALSE(party.end(0).send(a, numbered(0)));
  CHECK_FALSE(party.end(0).send(HostId{2}, numbered(1)));
  CHECK_FALSE(party.end(0).send(HostId{0xFFFF'FFFF}, numbered(2)));
  CHECK(party.end(0).counts().refused == 3);
  CHECK(party.end(0).counts().sent == 0);
  REQUIRE(party.end(0).send(b, numbered(3)));
  REQUIRE(party.heard(1).wait_for(1));
  CHECK(numbers_of(party.heard(1).heard()) == std::vector<std::uint64_t>{3});
  CHECK(party.heard(0).count() == 0);
}

void states_make_room(const MakeEnds& make) {
  constexpr std::uint64_t sent = 1000;
  Party party(make, 2, tight);
  party.start(0);
  for (std::uint64_t i = 0; i < sent; ++i)
    REQUIRE(party.end(0).send(b, numbered_tensor(party.pool, i, 100'000, WhenFull::drop_oldest)));
  party.start(1);
  REQUIRE(
      party.heard(1).wait_until([](const auto& heard) { return !heard.empty() && number_of(heard.back().parcel) == sent - 1; }));
  const auto heard = party.heard(1).heard();
  CHECK(is_growing(numbers_of(heard)));
  const TransportCounts counts = party.end(0).counts();
  CHECK(counts.dropped_states > 0);
  CHECK(counts.dropped_states + heard.size() == sent);
  CHECK(counts.sent == sent);
  CHECK(counts.refused == 0);
}

void increments_are_refused(const MakeEnds& make) {
  Party party(make, 2, tight);
  party.start(0);
  std::vector<std::uint64_t> taken;
  for (std::uint64_t i = 0; i < 1000; ++i)
    if (party.end(0).send(b, numbered_tensor(party.pool, i, 100'000, WhenFull::refuse))) taken.push_back(i);
  CHECK(taken.size() < 1000);
  CHECK(taken.size() >= 5);
  CHECK(party.end(0).counts().refused == 1000 - taken.size());
  CHECK(party.end(0).counts().sent == taken.size());
  party.start(1);
  REQUIRE(party.heard(1).wait_for(taken.size()));
  CHECK(numbers_of(party.heard(1).heard()) == taken);
}

void control_is_taken(const MakeEnds& make) {
  Party party(make, 2, tight);
  party.start(0);
  std::uint64_t taken = 0;
  for (int i = 0; i < 1000; ++i) taken += party.end(0).send(b, numbered_tensor(party.pool, 0, 100'000, WhenFull::refuse));
  for (std::uint64_t i = 1; i <= 100; ++i) REQUIRE(party.end(0).send(b, numbered(i, WhenFull::wait, ParcelKind::control)));
  party.start(1);
  REQUIRE(party.heard(1).wait_for(taken + 100));
  const auto numbers = numbers_of(party.heard(1).heard());
  CHECK(is_growing({numbers.end() - 100, numbers.end()}));
}

void what_gives_way_is_left_out(const MakeEnds& make) {
  Party party(make, 2, tight);
  party.start(0);
  std::uint64_t taken = 0;
  for (int i = 0; i < 1000; ++i) taken += party.end(0).send(b, numbered_tensor(party.pool, 0, 100'000, WhenFull::refuse));
  CHECK_FALSE(party.end(0).send(b, numbered(1, WhenFull::give_way, ParcelKind::view)));
  CHECK(party.end(0).counts().gave_way == 1);
  CHECK(party.end(0).counts().refused == 1000 - taken);
  party.start(1);
  REQUIRE(party.heard(1).wait_for(taken));
  REQUIRE(comes_true([&] { return party.end(0).send(b, numbered(2, WhenFull::give_way, ParcelKind::view)); }));
  REQUIRE(party.heard(1).wait_for(taken + 1));
  CHECK(number_of(party.heard(1).heard().back().parcel) == 2);
}

void a_slow_sink_holds_the_queue_bounded(const MakeEnds& make) {
  std::atomic<bool> may_go_on{false};
  Party party(make, 2, tight);
  party.heard(1).on_each = [&](HostId, const Parcel&) { may_go_on.wait(false); };
  party.start_all();
  for (std::uint64_t i = 0; i < 2000; ++i)
    REQUIRE(party.end(0).send(b, numbered_tensor(party.pool, i, 100'000, WhenFull::drop_oldest)));
  may_go_on = true;
  may_go_on.notify_all();
  CHECK(party.heard(1).wait_until([](const auto& heard) { return !heard.empty() && number_of(heard.back().parcel) == 1999; }));
  CHECK(is_growing(numbers_of(party.heard(1).heard())));
}

void stop_lets_what_is_queued_leave(const MakeEnds& make) {
  Party party(make, 2);
  party.start_all();
  for (std::uint64_t i = 0; i < 100; ++i) REQUIRE(party.end(0).send(b, numbered_tensor(party.pool, i, 400'000, WhenFull::refuse)));
  party.end(0).stop(patience);
  REQUIRE(party.heard(1).wait_for(100));
  CHECK(numbers_of(party.heard(1).heard()) == count_up(100));
}

void stop_keeps_to_its_linger(const MakeEnds& make) {
  Party party(make, 3);
  party.start(0);
  party.start(1);
  for (std::uint64_t i = 0; i < 100; ++i) party.end(0).send(HostId{2}, numbered(i));  // who never starts
  const Duration before = monotonic_now();
  party.end(0).stop(50ms);
  CHECK(monotonic_now() - before < 30s);
}

void nothing_comes_after_stop(const MakeEnds& make) {
  Party party(make, 2);
  party.start_all();
  std::atomic<bool> is_over{false};
  std::thread sender([&] {
    for (std::uint64_t i = 0; !is_over; ++i) party.end(0).send(b, numbered(i, WhenFull::drop_oldest));
  });
  const bool came = party.heard(1).wait_for(100);
  party.end(1).stop(10ms);
  const std::size_t count = party.heard(1).count();
  std::this_thread::sleep_for(20ms);
  CHECK(party.heard(1).count() == count);
  is_over = true;
  sender.join();
  CHECK(came);
}

void a_stopped_end_refuses(const MakeEnds& make) {
  Party party(make, 2);
  party.start_all();
  party.end(0).stop(patience);
  CHECK_FALSE(party.end(0).send(b, numbered(1)));
  CHECK(party.end(0).counts().refused == 1);
  party.end(0).stop(patience);
}

void an_end_may_stop_that_was_never_started(const MakeEnds& make) {
  Party party(make, 2);
  party.end(0).stop(10ms);
  CHECK_FALSE(party.end(0).send(b, numbered(1)));
}

void counts_add_up(const MakeEnds& make) {
  Party party(make, 3);
  party.start_all();
  std::uint64_t bytes = 0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    Parcel parcel = numbered_tensor(party.pool, i, 4 * (i % 50), WhenFull::refuse);
    bytes += parcel.bytes();
    REQUIRE(party.end(0).send(HostId{static_cast<std::uint32_t>(1 + i % 2)}, std::move(parcel)));
  }
  REQUIRE(party.heard(1).wait_for(150));
  REQUIRE(party.heard(2).wait_for(150));
  const auto received = [&] { return party.end(1).counts().received + party.end(2).counts().received; };
  CHECK(comes_true([&] { return received() == 300; }));  // a transport may count a little later
  const TransportCounts sent = party.end(0).counts(), one = party.end(1).counts(), two = party.end(2).counts();
  CHECK(sent.sent == 300);
  CHECK(sent.sent_bytes == bytes);
  CHECK(one.received == 150);
  CHECK(two.received == 150);
  CHECK(one.received_bytes + two.received_bytes == bytes);
  for (const TransportCounts& counts : {sent, one, two})
    CHECK(counts.refused + counts.dropped_states + counts.malformed + counts.oversized + counts.unknown + counts.unauthenticated +
              counts.replayed + counts.stale + counts.flooded ==
          0);
}

void the_spoilt_are_noticed(const MakeEnds& make) {
  Party party(make, 2);
  party.start_all();
  for (std::uint64_t i = 0; i < 60; ++i) {
    Parcel parcel = i % 6 == 5 ? numbered(i) : numbered_tensor(party.pool, i, 8000, WhenFull::refuse);
    parcel.is_spoilt = i % 3 == 2;
    REQUIRE(party.end(0).send(b, std::move(parcel)));
  }
  REQUIRE(party.heard(1).wait_for(40));
  CHECK(comes_true([&] { return party.end(1).counts().malformed == 20 && party.end(1).counts().received == 40; }));
  for (const std::uint64_t number : numbers_of(party.heard(1).heard())) CHECK(number % 3 != 2);
}

void a_sink_without_memory_loses_a_parcel(const MakeEnds& make) {
  Party party(make, 2);
  party.heard(1).on_each = [](HostId, const Parcel& parcel) {
    if (number_of(parcel) == 1) throw std::bad_alloc();
  };
  party.start_all();
  for (std::uint64_t i = 0; i < 3; ++i) REQUIRE(party.end(0).send(b, numbered(i)));
  REQUIRE(party.heard(1).wait_for(2));
  CHECK(numbers_of(party.heard(1).heard()) == std::vector<std::uint64_t>{0, 2});
  CHECK(comes_true([&] { return party.end(1).counts().unaffordable == 1; }));
}

void latecomers_hear_what_follows(const MakeEnds& make) {
  Party party(make, 2);
  party.start(0);
  for (std::uint64_t i = 0; i < 10; ++i) party.end(0).send(b, numbered(i));
  party.start(1);
  party.end(1).send(a, numbered(0));
  REQUIRE(party.heard(0).wait_for(1));
  for (std::uint64_t i = 10; i < 20; ++i) REQUIRE(party.end(0).send(b, numbered(i)));
  REQUIRE(party.heard(1).wait_until([](const auto& heard) { return !heard.empty() && number_of(heard.back().parcel) == 19; }));
  const auto numbers = numbers_of(party.heard(1).heard());
  CHECK(is_growing(numbers));
  CHECK(std::ranges::count_if(numbers, [](std::uint64_t number) { return number >= 10; }) == 10);
}

Parcel random_parcel(TensorPool& pool, std::uint64_t number) {
  Parcel parcel = numbered(number, *rc::gen::element(WhenFull::drop_oldest, WhenFull::refuse, WhenFull::wait),
                           ParcelKind{*rc::gen::inRange<std::uint8_t>(1, last_parcel_kind + 1)});
  const auto head = *rc::gen::container<std::vector<std::uint8_t>>(rc::gen::arbitrary<std::uint8_t>());
  for (const std::uint8_t byte : head) parcel.head.push_back(std::byte{byte});
  const auto tensors = *rc::gen::inRange(0, 4);
  for (int i = 0; i < tensors; ++i)
    parcel.tensors.push_back(tensor_of(pool, *rc::gen::element(Scalar::float32, Scalar::float64, Scalar::uint32),
                                       *rc::gen::weightedOneOf<std::size_t>({{8, rc::gen::inRange<std::size_t>(0, 40)},
                                                                             {1, rc::gen::inRange<std::size_t>(0, 90'000)}}),
                                       number));
  return parcel;
}

// The same party for all cases: what one case sends, it waits for.
void random_traffic(const MakeEnds& make) {
  constexpr std::uint32_t hosts = 3;
  Party party(make, hosts);
  party.start_all();
  std::vector<std::size_t> before(hosts, 0);
  std::uint64_t number = 0;
  const std::string counterexample = broken(
      [&] {
        std::vector<std::vector<std::vector<Parcel>>> sent(hosts, std::vector<std::vector<Parcel>>(hosts));
        std::vector<std::size_t> due = before;
        const int count = *rc::gen::inRange(0, 20);
        for (int i = 0; i < count; ++i) {
          const auto from = *rc::gen::inRange<std::uint32_t>(0, hosts);
          const auto to = (from + *rc::gen::inRange<std::uint32_t>(1, hosts)) % hosts;
          sent[from][to].push_back(random_parcel(party.pool, number++));
          RC_ASSERT(party.end(from).send(HostId{to}, sent[from][to].back()));
          ++due[to];
        }
        for (std::uint32_t to = 0; to < hosts; ++to) {
          RC_ASSERT(party.heard(to).wait_for(due[to]));
          auto heard = party.heard(to).heard();
          RC_ASSERT(heard.size() == due[to]);
          std::vector<std::vector<Parcel>> got(hosts);
          for (std::size_t i = before[to]; i < heard.size(); ++i) got.at(heard[i].from.value).push_back(std::move(heard[i].parcel));
          for (std::uint32_t from = 0; from < hosts; ++from)
            RC_ASSERT(std::ranges::equal(got[from], sent[from][to],
                                         [](const Parcel& one, const Parcel& other) { return are_equal(one, other); }));
        }
        before = due;
      },
      100);
  CAPTURE(counterexample);
  CHECK(counterexample.empty());
}

}  // namespace

void transport_contract(const MakeEnds& make) {
  SUBCASE("parcels of one host arrive in order, once") { arrives_in_order(make); }
  SUBCASE("tensors arrive bit for bit, at multiples of 64 bytes") { arrives_bit_for_bit(make); }
  SUBCASE("heads, tensors and whole parcels may be empty") { may_be_empty(make); }
  SUBCASE("large parcels arrive whole") { may_be_large(make); }
  SUBCASE("every kind of parcel is carried, and its sender named") { carries_every_kind(make); }
  SUBCASE("the time of arrival lies between sending and hearing") { stamps_arrivals(make); }
  SUBCASE("many threads may send, and one at a time is called back") { many_threads_send(make); }
  SUBCASE("a sink may send") { a_sink_may_send(make); }
  SUBCASE("a sink that throws std::bad_alloc loses that parcel, which is counted") { a_sink_without_memory_loses_a_parcel(make); }
  SUBCASE("nobody can send to himself or to strangers") { refuses_strange_receivers(make); }
  SUBCASE("in a full queue the oldest states make room for newer ones") { states_make_room(make); }
  SUBCASE("in a full queue increments are refused and counted") { increments_are_refused(make); }
  SUBCASE("in a full queue control is taken") { control_is_taken(make); }
  SUBCASE("what gives way leaves only where nothing waits, and is counted") { what_gives_way_is_left_out(make); }
  SUBCASE("while a sink is slow, sending goes on and only states are lost") { a_slow_sink_holds_the_queue_bounded(make); }
  SUBCASE("what is queued may leave while an end lingers") { stop_lets_what_is_queued_leave(make); }
  SUBCASE("stopping takes no longer than its linger") { stop_keeps_to_its_linger(make); }
  SUBCASE("nothing is handed over after stopping") { nothing_comes_after_stop(make); }
  SUBCASE("a stopped end refuses, and may be stopped again") { a_stopped_end_refuses(make); }
  SUBCASE("an end that was never started may be stopped") { an_end_may_stop_that_was_never_started(make); }
  SUBCASE("counts add up") { counts_add_up(make); }
  SUBCASE("spoilt parcels are noticed and counted") { the_spoilt_are_noticed(make); }
  SUBCASE("a host that starts late hears what follows") { latecomers_hear_what_follows(make); }
  SUBCASE("random traffic arrives as it was sent") { random_traffic(make); }
}

}  // namespace rubato::test
