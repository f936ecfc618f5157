// HandOver: how an actor gets a message and the turn to read it. CAF makes sure that one thread at a time runs an actor, but
// its library is not instrumented: here, and only here, ThreadSanitizer is told what passes from thread to thread.
#pragma once

#include <caf/all.hpp>
#include <utility>

#if defined(__SANITIZE_THREAD__)
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace rubato {

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

/// Sends a message from no actor in particular; to nobody: nothing happens.
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

  caf::invoke_message_result consume(caf::mailbox_element& message) override {
    take_turn(this);
    const auto result = caf::event_based_actor::consume(message);
    give_turn(this);
    return result;
  }
};

}  // namespace rubato
