#include "app/status_line.hpp"

#include <unistd.h>

#include <cstdio>

namespace rubato::app {

namespace {

constexpr std::chrono::milliseconds between_drawings{100};
constexpr std::chrono::seconds between_lines{5};
constexpr int bar_width = 24;

std::string bar(double share) {
  const int filled = static_cast<int>(share * bar_width);
  return "[" + std::string(static_cast<std::size_t>(filled), '#') + std::string(static_cast<std::size_t>(bar_width - filled), '.') +
         "]";
}

}  // namespace

StatusLine::StatusLine(bool is_quiet)
    : is_quiet_{is_quiet}, is_terminal_{isatty(STDERR_FILENO) == 1}, last_{std::chrono::steady_clock::now()} {}

bool StatusLine::is_due() const {
  const auto since = std::chrono::steady_clock::now() - last_;
  return !is_quiet_ && since >= (is_terminal_ ? std::chrono::nanoseconds(between_drawings) : between_lines);
}

void StatusLine::show(double share, const std::string& text) {
  if (is_quiet_) return;
  last_ = std::chrono::steady_clock::now();
  if (is_terminal_)
    std::fprintf(stderr, "\r%s %s\x1b[K", bar(share).c_str(), text.c_str());
  else
    std::fprintf(stderr, "%s\n", text.c_str());
  has_drawn_ = true;
}

void StatusLine::say(const std::string& text) {
  finish();
  std::fprintf(stderr, "%s\n", text.c_str());
}

void StatusLine::finish() {
  if (has_drawn_ && is_terminal_) std::fputs("\r\x1b[K", stderr);
  has_drawn_ = false;
}

}  // namespace rubato::app
