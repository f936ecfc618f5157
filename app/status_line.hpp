// One line about what goes on, on standard error: drawn again and again on a terminal, as wide as that is, and plain
// lines in a pipe.
#pragma once

#include <chrono>
#include <span>
#include <string>

#include "app/terminal.hpp"
#include "app/text/fitted_line.hpp"

namespace rubato::app {

class StatusLine {
 public:
  StatusLine(bool is_quiet, Colour colour);
  ~StatusLine() { finish(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;
  /// True where a line would be shown now: not when quiet, and not too soon after the last.
  bool is_due() const;
  /// What standard error can show.
  const Terminal& terminal() const { return terminal_; }
  /// On a terminal never more than one line of its width at this instant.
  void show(std::span<const LinePart> parts);
  /// A whole line that stays, above the one that is drawn again.
  void say(const std::string& text);
  /// Clears the terminal's line.
  void finish();

 private:
  bool is_quiet_;
  Terminal terminal_;
  bool has_drawn_ = false;
  std::chrono::steady_clock::time_point last_;
};

/// How far it has come, from 0 to 1, in colour; it leaves before what is said in words becomes brief.
LinePart bar_part(double share, const Terminal& terminal);

}  // namespace rubato::app
