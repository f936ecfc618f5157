// ActorSystem: CAF's threads, for the actors of one run.
#pragma once

#include <caf/all.hpp>
#include <cstddef>
#include <optional>

#if defined(__SANITIZE_THREAD__)
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
    system_.emplace(config_);
  }
  /// Waits for the last handler. By then nobody knows the run's actors any more.
  ~ActorSystem() {
    look_away();
    system_.reset();
    look_again();
  }
  ActorSystem(const ActorSystem&) = delete;
  ActorSystem& operator=(const ActorSystem&) = delete;

  caf::actor_system& operator*() { return *system_; }

 private:
  // At the end CAF hands an actor of its own to another thread, in code that is not instrumented. None of ours runs on this
  // thread meanwhile.
  static void look_away() {
#if defined(__SANITIZE_THREAD__)
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
#endif
  }
  static void look_again() {
#if defined(__SANITIZE_THREAD__)
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
#endif
  }

  caf::actor_system_config config_;
  std::optional<caf::actor_system> system_;
};

}  // namespace rubato
