#include "actors/core/client_pool.hpp"

#include <fmt/format.h>
#include <time.h>

#include <tuple>
#include <utility>

namespace rubato {

std::string to_string(const RunFailure& failure) {
  const double at = to_seconds(failure.at);
  if (failure.client == no_client) return fmt::format("the timing failed at {:f} s: {}", at, failure.what);
  return fmt::format("client {} failed in {} {} at {:f} s: {}", failure.client.value, name_of(failure.step), failure.index, at,
                     failure.what);
}

void Client::add(StepBatch& first) {
  // The list is kept newest first, as a stack that the runner takes as a whole and turns round.
  for (StepBatch* block = &first; block;) {
    StepBatch* following = block->next;
    block->next = added_.load(std::memory_order_relaxed);
    while (!added_.compare_exchange_weak(block->next, block, std::memory_order_release, std::memory_order_relaxed)) {
    }
    block = following;
  }
}

void Client::take_added() {
  StepBatch* in_order = nullptr;
  StepBatch* newest = added_.exchange(nullptr, std::memory_order_acquire);
  StepBatch* const last = newest;
  while (newest) {
    StepBatch* older = newest->next;
    newest->next = in_order;
    in_order = newest;
    newest = older;
  }
  if (!in_order) return;
  if (first_)
    last_->next = in_order;
  else
    first_ = in_order;
  last_ = last;
}

bool Client::payloads_are_there(const Step& step, ClientPool& client_pool) {
  if (!needs_payloads(step.kind)) return true;
  for (const StepEntry& entry : step.entries)
    if (!client_pool.slots.is_ready(entry.slot)) {
      is_waiting_.store(true, std::memory_order_relaxed);  // before any thread can know that we wait
      if (!client_pool.slots.ready_or_wait(entry.slot, *this)) return false;
      is_waiting_.store(false, std::memory_order_relaxed);
    }
  return true;
}

void Client::measure(const Step& step, ClientPool& client_pool, ThreadMemory& memory) {
  if (client_pool.has_failed()) return;
  const std::int64_t since = client_pool.math_clock();
  client_pool.guard(step, [&] { client_pool.snapshots().on_measure(step, *performer_, memory); });
  memory.evaluation_nanoseconds += client_pool.math_clock() - since;
}

Waiter* Client::perform(const Step& step, ClientPool& client_pool, ThreadMemory& memory) {
  StepResult result;
  client_pool.guard(step, [&] {
    if (client_pool.has_failed()) return;
    memory.payloads.clear();
    if (needs_payloads(step.kind))
      for (const StepEntry& entry : step.entries) memory.payloads.push_back(&client_pool.slots.payload(entry.slot));
    result = rubato::perform(*performer_, saved_, step, memory.payloads, memory, client_pool.pool);
  });
  if (step.kind == StepKind::decide) client_pool.answer.store(result.is_yes ? 1 : 0);  // after a failure too: the conductor waits
  if (step.kind == StepKind::publish && client_pool.on_published) client_pool.on_published(step, result.published);
  return client_pool.settle(step, std::move(result.published));
}

void ClientPool::fail(const Step& step, std::string what) {
  const std::lock_guard lock(mutex_);
  RunFailure failure{step.client, step.kind, step.index, step.at, std::move(what)};
  if (!failure_ || std::tie(failure.at, failure.client) < std::tie(failure_->at, failure_->client)) failure_ = std::move(failure);
  has_failed_.store(true, std::memory_order_release);
}

std::optional<RunFailure> ClientPool::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

std::unique_ptr<ThreadMemory, ClientPool::TakeBack> ClientPool::lend() {
  const std::lock_guard lock(mutex_);
  if (at_home_.empty()) {
    at_home_.push_back(memories_.emplace_back(std::make_unique<ThreadMemory>()).get());
    at_home_.back()->times_messages = exact_time_;
  }
  ThreadMemory* const memory = at_home_.back();
  at_home_.pop_back();
  return {memory, TakeBack{this}};
}

void ClientPool::take_back(ThreadMemory& memory) {
  const std::lock_guard lock(mutex_);
  at_home_.push_back(&memory);
}

double ClientPool::seconds_of(std::int64_t ThreadMemory::*nanoseconds) const {
  const std::lock_guard lock(mutex_);
  std::int64_t sum = 0;
  for (const auto& memory : memories_) sum += (*memory).*nanoseconds;
  return static_cast<double>(sum) * 1e-9;
}

std::int64_t ClientPool::math_clock() const {
  if (exact_time_) return thread_nanoseconds();
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

}  // namespace rubato
