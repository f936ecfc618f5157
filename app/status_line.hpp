// One line about what goes on, on standard error: drawn again and again with a bar on a terminal, plain lines in a
// pipe.
#pragma once

#include <chrono>
#include <string>

namespace rubato::app {

class StatusLine {
 public:
  explicit StatusLine(bool is_quiet);
  ~StatusLine() { finish(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;
  /// True where a line would be shown now: not when quiet, and not too soon after the last.
  bool is_due() const;
  /// `share`: from 0 to 1.
  void show(double share, const std::string& text);
  /// A whole line that stays, above the one that is drawn again.
  void say(const std::string& text);
  /// Clears the terminal's line.
  void finish();

 private:
  bool is_quiet_;
  bool is_terminal_;
  bool has_drawn_ = false;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace rubato::app
