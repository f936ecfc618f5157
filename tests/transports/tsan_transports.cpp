// Hub, impaired transport and their queues under ThreadSanitizer: plain threads send, answer, cut, count, stop and come
// back, all at once. What arrives must be what was sent, and the counts must add up.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "transports/hub.hpp"
#include "transports/impaired.hpp"

using namespace rubato;
using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t hosts = 3;
constexpr std::uint64_t parcels_each = 400;
constexpr std::size_t numbers = 300;

std::atomic<int> faults{0};

void expect(bool claim, const char* sentence) {
  if (claim) return;
  std::fprintf(stderr, "not true: %s\n", sentence);
  ++faults;
}

Parcel parcel_of(TensorPool& pool, double value, WhenFull when_full) {
  Parcel parcel{.kind = ParcelKind::letter, .when_full = when_full, .head = {}, .tensors = {pool.make<double>(numbers)}};
  std::fill_n(parcel.tensors[0].writable<double>(), numbers, value);
  parcel.head.resize(sizeof value);
  std::memcpy(parcel.head.data(), &value, sizeof value);
  return parcel;
}

/// Reads every number that arrives, and answers some parcels.
class Reader final : public ParcelSink {
 public:
  Reader(Transport& end, TensorPool& pool) : end_{end}, pool_{pool} {}

  void on_parcel(HostId from, Parcel parcel, Duration) override {
    double value = 0;
    std::memcpy(&value, parcel.head.data(), sizeof value);
    const double* const read = parcel.tensors[0].data<double>();
    for (std::size_t i = 0; i < numbers; ++i)
      if (read[i] != value) ++wrong;
    ++heard;  // no atomic: one thread at a time calls
    if (heard % 4 == 0) end_.send(from, parcel_of(pool_, value + 0.5, WhenFull::drop_oldest));
  }

  std::uint64_t heard = 0, wrong = 0;

 private:
  Transport& end_;
  TensorPool& pool_;
};

/// One life of a host.
struct Life {
  Life(Hub& hub, std::uint32_t host, const Impairment& impairment, TensorPool& pool)
      : end{hub.end(HostId{host})}, impaired{*end, impairment, host}, reader{impaired, pool} {
    impaired.start(reader);
  }

  void send_all(TensorPool& pool) {
    const std::uint32_t self = impaired.self().value;
    std::vector<std::thread> senders;
    for (std::uint32_t step = 1; step < hosts; ++step)
      senders.emplace_back([this, &pool, self, step] {
        for (std::uint64_t i = 0; i < parcels_each; ++i)
          impaired.send(HostId{(self + step) % hosts},
                        parcel_of(pool, static_cast<double>(i), WhenFull{static_cast<std::uint8_t>(i % 3)}));
      });
    for (std::thread& sender : senders) sender.join();
  }

  std::unique_ptr<Transport> end;
  Impaired impaired;
  Reader reader;
};

// Host 2 comes and goes; the others stay.
void meet(std::uint64_t seed, const Impairment& impairment) {
  TensorPool pool;
  Hub hub(hosts, 200'000);
  Life one(hub, 0, impairment, pool), two(hub, 1, impairment, pool);
  std::atomic<bool> is_over{false};
  std::thread switcher([&] {
    for (std::uint64_t i = seed; !is_over; ++i) {
      if (i % 2) one.impaired.cut(HostId{0}, HostId{1});
      else one.impaired.heal(HostId{0}, HostId{1});
      const ImpairmentCounts did = two.impaired.impairments();
      expect(did.duplicated <= 10'000'000 && one.impaired.counts().sent <= 10'000'000, "counts are no rubbish");
      std::this_thread::sleep_for(200us);
    }
  });
  std::thread first([&] { one.send_all(pool); });
  std::thread second([&] { two.send_all(pool); });
  std::uint64_t heard_by_third = 0, received_by_third = 0;
  for (int life = 0; life < 3; ++life) {
    Life three(hub, 2, impairment, pool);
    three.send_all(pool);
    three.impaired.stop(life % 2 ? 20ms : 0ms);
    heard_by_third += three.reader.heard;
    received_by_third += three.impaired.counts().received;
    expect(three.reader.wrong == 0, "what the third host read is what was written");
  }
  first.join();
  second.join();
  is_over = true;
  switcher.join();
  one.impaired.stop(50ms);
  two.impaired.stop(50ms);
  expect(heard_by_third == received_by_third, "the third host has counted what it heard");
  for (Life* life : {&one, &two}) {
    expect(life->reader.wrong == 0, "what was read is what was written");
    expect(life->reader.heard > 0, "something was heard");
    expect(life->reader.heard == life->impaired.counts().received, "what was heard was counted");
  }
}

}  // namespace

int main() {
  const Impairment some{.delay = {.kind = Law::Kind::exponential, .first = 0.0005, .values = {}},
                        .loss = 0.05,
                        .duplicate = 0.1,
                        .reorder = 0.1,
                        .held_back = 1ms,
                        .spoil = 0.05,
                        .held_bytes = 400'000};
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    meet(seed, {});
    meet(seed, some);
  }
  std::puts(faults ? "broken" : "6 meetings of 3 hosts: everything arrived as it was sent, and was counted");
  return faults ? EXIT_FAILURE : EXIT_SUCCESS;
}
