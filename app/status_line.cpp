#include "app/status_line.hpp"

#include <cstdio>
#include <limits>

#include "runtime/printable.hpp"

namespace rubato::app {

namespace {

constexpr std::chrono::milliseconds between_drawings{100};
constexpr std::chrono::seconds between_lines{5};
constexpr std::size_t bar_columns = 21;
constexpr std::string_view cyan = "\x1b[36m";

}  // namespace

StatusLine::StatusLine(bool is_quiet, Colour colour)
    : is_quiet_{is_quiet}, terminal_{terminal_on_errors(colour)}, last_{std::chrono::steady_clock::now()} {}

bool StatusLine::is_due() const {
  const auto since = std::chrono::steady_clock::now() - last_;
  return !is_quiet_ && since >= (terminal_.is_there ? std::chrono::nanoseconds(between_drawings) : between_lines);
}

void StatusLine::show(std::span<const LinePart> parts) {
  if (is_quiet_) return;
  last_ = std::chrono::steady_clock::now();
  if (terminal_.is_there)  // a line as wide as the terminal would move the cursor to the next one
    std::fprintf(stderr, "\r%s\x1b[K", fitted(parts, columns_of_errors() - 1, terminal_.has_colour).c_str());
  else
    std::fprintf(stderr, "%s\n", fitted(parts, std::numeric_limits<std::size_t>::max(), false).c_str());
  has_drawn_ = true;
}

void StatusLine::say(const std::string& text) {
  constexpr std::size_t longest = 2000;
  finish();
  std::fprintf(stderr, "%s\n", printable(text, longest).c_str());
}

void StatusLine::finish() {
  if (has_drawn_ && terminal_.is_there) std::fputs("\r\x1b[K", stderr);
  has_drawn_ = false;
}

LinePart bar_part(double share, const Terminal& terminal) {
  return {.text = bar(share, bar_columns, terminal.has_utf8), .leaves = Leaves::early, .colour = cyan};
}

}  // namespace rubato::app
