#include "app/signals.hpp"

#include <csignal>

namespace rubato::app {

namespace {

// A signal handler can reach nothing but what has static storage.
std::atomic<bool> wants_stop{false};
static_assert(std::atomic<bool>::is_always_lock_free);

// The next one of either kind ends the program as usual.
void on_signal(int) {
  wants_stop.store(true);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

}  // namespace

const std::atomic<bool>& watch_signals() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  return wants_stop;
}

}  // namespace rubato::app
