// What is concurrent in the transports under ThreadSanitizer, by plain threads. Hub and impaired transport: hosts send,
// answer, cut, count, stop and come back, all at once. And what surrounds the sockets of ZeroMQ, which itself is not
// instrumented: queue, waking, borrowed tensors and reception, with frames handed over in place of sockets. What
// arrives must be what was sent, and the counts must add up.
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "transports/frame.hpp"
#include "transports/hub.hpp"
#include "transports/impaired.hpp"
#include "transports/known_sums.hpp"
#include "transports/parcel_queue.hpp"
#include "transports/reception.hpp"
#include "transports/waker.hpp"

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
  Parcel parcel{.kind = ParcelKind::message, .when_full = when_full, .head = {}, .tensors = {pool.make<double>(numbers)}};
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

// How long it waits for what must happen: generous, because only what is broken waits so long.
constexpr Duration patience = 120s;

bool hears_something(const Life& life) {
  const Duration end = monotonic_now() + patience;
  while (life.impaired.counts().received == 0 && monotonic_now() < end) std::this_thread::sleep_for(1ms);  // between two looks
  return life.impaired.counts().received > 0;
}

// Host 2 comes and goes; the others stay.
void meet(std::uint64_t seed, const Impairment& impairment) {
  TensorPool pool;
  Hub hub(hosts, 200'000);
  Life one(hub, 0, impairment, pool), two(hub, 1, impairment, pool);
  std::atomic<bool> is_over{false};
  std::thread switcher([&] {
    for (std::uint64_t i = seed; !is_over; ++i) {
      if (i % 2)
        one.impaired.cut(HostId{0}, HostId{1});
      else
        one.impaired.heal(HostId{0}, HostId{1});
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
  for (const Life* life : {&one, &two}) expect(hears_something(*life), "something was heard");
  one.impaired.stop(50ms);
  two.impaired.stop(50ms);
  expect(heard_by_third == received_by_third, "the third host has counted what it heard");
  for (Life* life : {&one, &two}) {
    expect(life->reader.wrong == 0, "what was read is what was written");
    expect(life->reader.heard == life->impaired.counts().received, "what was heard was counted");
  }
}

/// Sending threads, one thread that makes frames of what they send and receives them, and threads that let go of what
/// it has received. It sleeps for ever unless it is woken: a wake-up that gets lost would end in a test that does not
/// end.
class Relay {
 public:
  static constexpr std::uint64_t senders = 3, readers = 2, each = 2000;

  void run() {
    std::vector<std::thread> threads;
    threads.emplace_back([this] { relay(); });
    for (std::uint64_t reader = 0; reader < readers; ++reader) threads.emplace_back([this] { read(); });
    for (std::uint64_t i = 0; i < senders; ++i) threads.emplace_back([this] { send(); });
    for (std::thread& thread : threads) thread.join();
    expect(wrong_ == 0, "what was read from frames is what was written");
    expect(read_ == reception_.counts().received && read_ > 0, "what was received was read");
    expect(reception_.counts().received + reception_.counts().flooded == taken_, "what was taken arrived, or was too much");
  }

 private:
  void send() {
    for (std::uint64_t i = 0; i < each; ++i) {
      Parcel parcel = parcel_of(senders_pool_, static_cast<double>(i), WhenFull{static_cast<std::uint8_t>(i % 3)});
      {
        const std::lock_guard lock(mutex_);
        const auto outcome = queue_.put(std::move(parcel));
        taken_ += outcome.is_taken;
        taken_ -= outcome.dropped_states;
        waiting_ += outcome.is_taken;
        waiting_ -= outcome.dropped_states;
      }
      waker_.wake();
      if (i % 16 == 0) std::this_thread::sleep_for(100us);
    }
    ++finished_;
    waker_.wake();
  }

  void relay() {
    for (;;) {
      while (const std::optional<Parcel> parcel = next()) pass_on(*parcel);
      if (finished_ == senders && waiting_ == 0) break;
      waker_.prepare_sleep();
      pollfd roused{waker_.descriptor(), POLLIN, 0};
      if (waiting_ == 0 && finished_ < senders) poll(&roused, 1, -1);
      waker_.rise();
    }
    reception_.tidy();
    sums_.forget();
    is_over_ = true;
  }

  std::optional<Parcel> next() {
    const std::lock_guard lock(mutex_);
    if (queue_.is_empty()) return {};
    --waiting_;
    return queue_.take();
  }

  void pass_on(const Parcel& parcel) {
    std::size_t first = 0;
    do {
      const std::size_t bytes = std::min<std::size_t>(1000, parcel.bytes() - first);
      WrittenFrame frame;
      write_frame({HostId{1}, HostId{0}, 1, ++sequence_}, parcel, first, bytes, &sums_, frame);
      std::vector<FramePart> parts{frame.first_part};
      for (const TensorSlice& slice : frame.slices)
        parts.push_back({parcel.tensors[slice.tensor].data<std::byte>() + slice.first, slice.bytes});
      if (auto arrived = reception_.take(parts, HostId{1})) {
        const std::lock_guard lock(received_mutex_);
        received_.push_back(std::move(arrived->parcel));
      }
      first += bytes;
    } while (first < parcel.bytes());
  }

  void read() {
    for (;;) {
      const bool was_over = is_over_;
      std::vector<Parcel> parcels;
      {
        const std::lock_guard lock(received_mutex_);
        parcels.swap(received_);
      }
      for (const Parcel& parcel : parcels) {
        double value = 0;
        std::memcpy(&value, parcel.head.data(), sizeof value);
        for (std::size_t i = 0; i < numbers; ++i)
          if (parcel.tensors[0].data<double>()[i] != value) ++wrong_;
        ++read_;
      }
      if (was_over && parcels.empty()) return;
      if (parcels.empty()) std::this_thread::yield();
    }
  }

  TensorPool senders_pool_, pool_;
  std::mutex mutex_, received_mutex_;
  ParcelQueue queue_{100'000};
  Waker waker_;
  std::atomic<std::uint64_t> waiting_{0}, taken_{0}, finished_{0}, read_{0}, wrong_{0};
  std::atomic<bool> is_over_{false};
  KnownSums sums_;
  std::uint64_t sequence_ = 0;
  Reception reception_{HostId{0}, 2, {.parcel_bytes = 50'000, .piece_bytes = 1000, .least_piece_bytes = 1000}, 60'000, pool_};
  std::vector<Parcel> received_;
};

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
  Relay().run();
  std::puts(faults ? "broken" : "6 meetings of 3 hosts, and a relay: everything arrived as it was sent, and was counted");
  return faults ? EXIT_FAILURE : EXIT_SUCCESS;
}
