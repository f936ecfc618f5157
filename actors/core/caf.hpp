// The one door to CAF: the threads of a run's actors, and how an actor gets a message and the turn to read it. CAF
// makes sure that one thread at a time runs an actor, but its library is not instrumented: here, and only here,
// ThreadSanitizer is told what passes from thread to thread.
#pragma once

#include <caf/all.hpp>
#include <cstddef>
#include <optional>
#include <utility>

#include "runtime/limits.hpp"

#if defined(__SANITIZE_THREAD__)
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
extern "C" void AnnotateIgnoreReadsBegin(const char* file, int line);
extern "C" void AnnotateIgnoreReadsEnd(const char* file, int line);
extern "C" void AnnotateIgnoreWritesBegin(const char* file, int line);
extern "C" void AnnotateIgnoreWritesEnd(const char* file, int line);
#endif

namespace rubato {

class ActorSystem {
 public:
  explicit ActorSystem(unsigned threads) {
    config_.set("scheduler.policy", caf::atom("sharing"));
    config_.set("scheduler.max-threads", static_cast<std::size_t>(threads));
    require_threads(threads + own_threads);
    system_.emplace(config_);
  }
  /// Waits for the last handler. By then nothing refers to the run's actors any more.
  ~ActorSystem() {
#if defined(__SANITIZE_THREAD__)
    // At the end CAF hands an actor of its own to another thread, in code that is not instrumented. None of ours runs on
    // this thread meanwhile.
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
#endif
    system_.reset();
#if defined(__SANITIZE_THREAD__)
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
#endif
  }
  ActorSystem(const ActorSystem&) = delete;
  ActorSystem& operator=(const ActorSystem&) = delete;

  caf::actor_system& operator*() { return *system_; }

 private:
  static constexpr unsigned own_threads = 4;  // CAF's clock, printer and the like: it ends the process where it gets none

  caf::actor_system_config config_;
  std::optional<caf::actor_system> system_;
};

/// The last thing before a message leaves: its receiver may read what this thread has written so far.
inline void give_turn([[maybe_unused]] caf::abstract_actor* to) {
#if defined(__SANITIZE_THREAD__)
  __tsan_release(to);
#endif
}

/// The first thing before a message is looked at.
inline void take_turn([[maybe_unused]] caf::abstract_actor* self) {
#if defined(__SANITIZE_THREAD__)
  __tsan_acquire(self);
#endif
}

/// Sends a message from no actor in particular; to none: nothing happens.
template <class Message>
void hand(const caf::actor& to, Message message) {
  if (!to) return;
  auto* const receiver = caf::actor_cast<caf::abstract_actor*>(to);
  auto element = caf::make_mailbox_element(nullptr, caf::make_message_id(), {}, std::move(message));
  give_turn(receiver);
  receiver->enqueue(std::move(element), nullptr);
}

/// An actor whose messages come by hand().
class HandedActor : public caf::event_based_actor {
 public:
  using caf::event_based_actor::event_based_actor;

  /// May run before there is a message.
  void initialize() override {
    caf::event_based_actor::initialize();
    give_turn(this);
  }
  caf::invoke_message_result consume(caf::mailbox_element& message) override {
    take_turn(this);
    const auto result = caf::event_based_actor::consume(message);
    give_turn(this);
    return result;
  }
};

}  // namespace rubato
