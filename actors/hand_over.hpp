// HandOver: tells ThreadSanitizer of the one place where an actor's state passes from thread to thread. CAF makes sure that
// one thread at a time runs an actor, but its library is not instrumented.
#pragma once

#if defined(__SANITIZE_THREAD__)
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace rubato {

/// Lives as long as a handler runs.
class HandOver {
 public:
  explicit HandOver([[maybe_unused]] void* actor) {
#if defined(__SANITIZE_THREAD__)
    actor_ = actor;
    __tsan_acquire(actor_);
#endif
  }
  ~HandOver() {
#if defined(__SANITIZE_THREAD__)
    __tsan_release(actor_);
#endif
  }
  HandOver(const HandOver&) = delete;
  HandOver& operator=(const HandOver&) = delete;

#if defined(__SANITIZE_THREAD__)
 private:
  void* actor_;
#endif
};

}  // namespace rubato
