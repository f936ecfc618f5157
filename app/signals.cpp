#include "app/signals.hpp"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <string_view>

namespace rubato::app {

namespace {

// A signal handler reaches static storage only.
std::atomic<bool> wants_stop{false};
std::atomic<bool> speaks{false};
std::atomic<std::int64_t> first_at{0};  // monotonic nanoseconds; 0: no signal yet
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free);

constexpr std::int64_t echo = 2'000'000'000;  // ns in which another signal counts as the first one
constexpr std::string_view sentence = "\nstopping, with the results so far; a signal 2 s from now or later ends this at once\n";

std::int64_t monotonic() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

void on_signal(int signal) {
  const int kept = errno;
  const std::int64_t now = monotonic();
  std::int64_t first = 0;
  if (first_at.compare_exchange_strong(first, now)) {
    wants_stop.store(true);
    if (speaks.load() && write(STDERR_FILENO, sentence.data(), sentence.size()) < 0) errno = 0;  // there is no other way to say it
  } else if (now - first >= echo) {
    std::signal(signal, SIG_DFL);
    raise(signal);  // delivered on return
  }
  errno = kept;
}

}  // namespace

const std::atomic<bool>& watch_signals(bool is_quiet) {
  speaks.store(!is_quiet);
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, on_signal);
  if (std::signal(SIGHUP, on_signal) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
  return wants_stop;
}

}  // namespace rubato::app
