// The lock-free hand-over of steps and payloads, run by plain threads under ThreadSanitizer: one thread walks the
// timing and opens slots, several perform the steps of whichever client they find. No mutex and no message between
// them, so that nothing but our own atomics orders what they do. The models must come out as those of one thread, bit
// for bit.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "actors/core/client_pool.hpp"
#include "tests/support/world.hpp"

using namespace rubato;
using namespace rubato::test;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t numbers = 16;

/// A model whose value depends on the order of its steps and on every payload.
class Mixer final : public Performer {
 public:
  Mixer(std::uint32_t self, TensorPool& pool) : x_(numbers, self + 1.0), pool_{pool} {}

  StepResult perform(const Step& step, std::span<const Payload* const> payloads, ThreadMemory& memory) override {
    StepResult result{.published = {}, .is_yes = true};
    if (step.kind == StepKind::compute)
      for (std::size_t i = 0; i < numbers; ++i) x_[i] = 0.75 * x_[i] + 0.001 * static_cast<double>(step.index + i);
    if (step.kind == StepKind::publish) result.published.common[0] = snapshot(memory);
    if (step.kind == StepKind::merge)
      for (std::size_t i = 0; i < payloads.size(); ++i) absorb(*payloads[i], 0.25 * step.entries[i].weight);
    if (step.kind == StepKind::adopt) adopt(*payloads.front());
    return result;
  }
  void absorb(const Payload& payload, double weight) {
    const double* const other = payload.common[0].data<double>();
    for (std::size_t i = 0; i < numbers; ++i) x_[i] += weight * (other[i] - x_[i]);
  }
  void adopt(const Payload& payload) {
    const double* const other = payload.common[0].data<double>();
    x_.assign(other, other + numbers);
  }
  bool fits(const Payload&, const Step&, std::uint32_t) const override { return true; }
  void validate_payloads() override {}
  void set_air(const Air&, ClientId) override {}
  void archive(Archive& archive) override { archive.fixed(x_); }
  Tensor snapshot(ThreadMemory&) const override { return copy(); }
  Tensor copy() const {
    Tensor tensor = pool_.make<double>(numbers);
    std::copy(x_.begin(), x_.end(), tensor.writable<double>());
    return tensor;
  }
  Tensor model() const override { return copy(); }
  std::span<const std::byte> model_bytes() const override { return std::as_bytes(std::span{x_}); }
  void inspect(Probe&) const override {}
  void balance(Probe&) const override {}
  void round_balance(Probe&) const override {}
  void owed(Probe&) const override {}
  const Traffic& traffic() const override { return traffic_; }
  void recall(const Traffic&) override {}
  Screening& screening() override { return screening_; }
  const Screening& screening() const override { return screening_; }

 private:
  std::vector<double> x_;
  TensorPool& pool_;
  Traffic traffic_;
  Screening screening_{0};
};

struct NoSnapshots final : SnapshotSink {
  void on_measure(const Step&, const Performer& performer, ThreadMemory& memory) override {
    const Tensor copy = performer.snapshot(memory);
  }
};

std::unique_ptr<World> busy_world(std::uint64_t seed, std::uint32_t clients) {
  auto world = std::make_unique<World>(random_digraph(seed, clients, 0.4), seed);
  world->push.compute = {TimerLaw::poisson(2)};
  world->push.transmit = {seed % 2 ? TimerLaw::coupled(1, 1) : TimerLaw::poisson(3)};
  world->push.limits = {.window = Duration(seed % 3 * 100ms), .deadline = 400ms, .cap = 20};
  world->push.needs.fixes_model_at_start = seed % 2;
  world->push.needs.keep = seed % 4 == 2 ? Keep::newest : Keep::all;
  world->settings.cap_period = 3s;
  world->settings.unification.period = 2s;
  world->settings.unification.via_transport = seed % 4 == 3;
  world->settings.sample_every = 700ms;
  world->channel = random_links(seed, 0.1, 0.1);
  world->settings.until = Time{60s};
  return world;
}

std::vector<std::byte> bytes_of(const Performer& performer) {
  const auto bytes = performer.model_bytes();
  return {bytes.begin(), bytes.end()};
}
using Models = std::vector<std::vector<std::byte>>;

/// One thread, no slots: every step at once, in the order of time.
class AtOnce final : public StepSink {
 public:
  explicit AtOnce(std::uint32_t clients) {
    for (std::uint32_t i = 0; i < clients; ++i) mixers_.push_back(std::make_unique<Mixer>(i, pool_));
  }
  SlotIndex open_slot(std::uint32_t) override {
    payloads_.emplace_back();
    return static_cast<SlotIndex>(payloads_.size() - 1);
  }
  void perform(const Step& step) override {
    Mixer& mixer = *mixers_[step.client.value];
    std::vector<const Payload*> payloads;
    if (needs_payloads(step.kind))
      for (const StepEntry& entry : step.entries) payloads.push_back(&payloads_[entry.slot]);
    StepResult result = mixer.perform(step, payloads, memory_);
    if (step.kind == StepKind::publish && !step.entries.empty()) payloads_[step.entries.front().slot] = std::move(result.published);
  }
  Models models() const {
    Models all;
    for (const auto& mixer : mixers_) all.push_back(bytes_of(*mixer));
    return all;
  }

 private:
  TensorPool pool_;
  ThreadMemory memory_;
  std::vector<std::unique_ptr<Mixer>> mixers_;
  std::vector<Payload> payloads_;
};

/// Stages steps in blocks and hands them over between slices, as the conducting actor does.
class Desk final : public StepSink {
 public:
  explicit Desk(ClientPool& client_pool) : client_pool_{client_pool}, first_(client_pool.clients.size()), last_(first_) {}

  SlotIndex open_slot(std::uint32_t receivers) override {
    const SlotIndex slot = client_pool_.slots.open(receivers);
    if (slot >= wanted_.size()) wanted_.resize(slot + 1);
    if (wanted_[slot] != 0) reused_too_early = true;
    wanted_[slot] = receivers;
    return slot;
  }
  void perform(const Step& step) override {
    if (step.kind != StepKind::publish)
      for (const StepEntry& entry : step.entries) --wanted_[entry.slot];
    if (step.kind == StepKind::discard) {
      for (const StepEntry& entry : step.entries) client_pool_.slots.release(entry.slot);
      return;
    }
    StepBatch*& last = last_[step.client.value];
    if (!last) {
      last = first_[step.client.value] = &client_pool_.batches.take(step);
    } else if (!last->fits(step)) {
      last->next = &client_pool_.batches.take(step);
      last = last->next;
    }
    last->add(step);
    ++handed;
  }
  void hand_over() {
    for (std::size_t client = 0; client < first_.size(); ++client)
      if (first_[client]) client_pool_.clients[client]->add(*first_[client]);
    first_.assign(first_.size(), nullptr);
    last_ = first_;
  }

  /// Slots whose messages are under way or in a mailbox.
  std::int64_t slots_in_use() const {
    return std::count_if(wanted_.begin(), wanted_.end(), [](std::int64_t receivers) { return receivers > 0; });
  }

  std::int64_t handed = 0;
  bool reused_too_early = false;

 private:
  ClientPool& client_pool_;
  std::vector<std::int64_t> wanted_;  // by slot: receivers that are not done
  std::vector<StepBatch*> first_, last_;
};

Models with_threads(World& world, std::uint32_t clients, unsigned threads, std::uint64_t slice, bool& is_clean) {
  NoSnapshots snapshots;
  ClientPool client_pool(snapshots, 512, false);
  for (std::uint32_t i = 0; i < clients; ++i)
    client_pool.clients.push_back(std::make_unique<Client>(ClientId{i}, std::make_unique<Mixer>(i, client_pool.pool)));
  Desk dispatcher(client_pool);
  world.build(dispatcher, nullptr);
  std::atomic<std::int64_t> performed{0};
  std::atomic<bool> is_over{false};
  std::vector<std::thread> workers;
  for (unsigned worker = 0; worker < threads; ++worker)
    workers.emplace_back([&, worker] {
      ThreadMemory memory;
      Stream chance(worker, {}, Purpose::batch);
      while (!is_over.load(std::memory_order_relaxed)) {
        Client& client = *client_pool.clients[chance.below(clients)];
        if (!client.enter()) continue;
        run_with_neighbours(
            client, client_pool, memory, [](Client&) { return false; },
            [&](std::int64_t count) { performed.fetch_add(count, std::memory_order_relaxed); });
      }
    });
  while (world.conductor().walk(slice)) {
    dispatcher.hand_over();
    while (dispatcher.handed - performed.load(std::memory_order_relaxed) > 500) std::this_thread::yield();
  }
  dispatcher.hand_over();
  while (performed.load(std::memory_order_relaxed) < dispatcher.handed) std::this_thread::yield();
  is_over.store(true, std::memory_order_relaxed);
  for (std::thread& worker : workers) worker.join();
  is_clean = !client_pool.failure() && performed.load() == dispatcher.handed && !dispatcher.reused_too_early &&
             client_pool.slots.in_use() == dispatcher.slots_in_use();
  Models models;
  for (const auto& client : client_pool.clients) models.push_back(bytes_of(client->performer()));
  return models;
}

}  // namespace

int main() {
  int faults = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const std::uint32_t clients = 4 + 3 * static_cast<std::uint32_t>(seed);
    AtOnce plain(clients);
    const auto alone = busy_world(seed, clients);
    alone->build(plain, nullptr);
    while (alone->conductor().walk(1000)) {
    }
    const auto shared = busy_world(seed, clients);
    bool is_clean = false;
    const Models models = with_threads(*shared, clients, 3, seed % 2 ? 20 : 300, is_clean);
    if (models == plain.models() && is_clean) continue;
    std::fprintf(stderr, "seed %d: %s\n", static_cast<int>(seed),
                 is_clean ? "the models differ from those of one thread" : "steps or slots are left over");
    ++faults;
  }
  std::puts(faults ? "broken" : "8 runs on 3 threads ended with the models of one thread");
  return faults ? EXIT_FAILURE : EXIT_SUCCESS;
}
