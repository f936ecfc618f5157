#include "app/progress_line.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace rubato::app {

namespace {

constexpr std::chrono::milliseconds between_drawings{100};
constexpr std::chrono::seconds between_lines{5};
constexpr int bar_width = 24;

std::string bar(double share) {
  const int filled = static_cast<int>(share * bar_width);
  return "[" + std::string(static_cast<std::size_t>(filled), '#') +
         std::string(static_cast<std::size_t>(bar_width - filled), '.') + "]";
}

}  // namespace

ProgressLine::ProgressLine(double until_seconds, bool is_quiet)
    : until_{until_seconds},
      is_quiet_{is_quiet},
      is_terminal_{isatty(STDERR_FILENO) == 1},
      last_{std::chrono::steady_clock::now()} {}

void ProgressLine::show(const Progress& progress) {
  const auto now = std::chrono::steady_clock::now();
  if (is_quiet_ || now - last_ < (is_terminal_ ? std::chrono::nanoseconds(between_drawings) : between_lines)) return;
  last_ = now;
  const double share = std::clamp(progress.virtual_seconds / until_, 0.0, 1.0);
  const double left = share > 0 ? progress.wall_seconds * (1 - share) / share : 0;
  const double rate = progress.wall_seconds > 0 ? static_cast<double>(progress.events) / progress.wall_seconds : 0;
  char accuracy[32] = "";
  if (progress.accuracy) std::snprintf(accuracy, sizeof accuracy, "  accuracy %.3f", *progress.accuracy);
  std::fprintf(stderr, "%s%s %.1f of %.1f s  %.3g events/s%s  %.0f s left%s", is_terminal_ ? "\r" : "",
               is_terminal_ ? bar(share).c_str() : "", progress.virtual_seconds, until_, rate, accuracy, left,
               is_terminal_ ? "\x1b[K" : "\n");
  has_drawn_ = true;
}

void ProgressLine::finish() {
  if (has_drawn_ && is_terminal_) std::fputs("\r\x1b[K", stderr);
  has_drawn_ = false;
}

}  // namespace rubato::app
