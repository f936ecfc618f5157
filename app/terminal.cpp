#include "app/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>

namespace rubato::app {

namespace {

constexpr std::size_t usual_columns = 80;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// The first of these that is set decides, as POSIX says.
bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string locale = variable(name);
    if (locale.empty()) continue;
    std::ranges::transform(locale, locale.begin(), [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return false;
}

}  // namespace

static Terminal terminal_on(int file, Colour colour) {
  Terminal terminal;
  terminal.is_there = isatty(file) == 1 && variable("TERM") != "dumb";
  terminal.has_utf8 = locale_is_utf8();
  const bool is_wanted = colour == Colour::always || (colour == Colour::automatic && variable("NO_COLOR").empty());
  terminal.has_colour = terminal.is_there && is_wanted;
  return terminal;
}

Terminal terminal_on_errors(Colour colour) { return terminal_on(STDERR_FILENO, colour); }

Terminal terminal_on_output(Colour colour) { return terminal_on(STDOUT_FILENO, colour); }

TerminalSize size_of_output() {
  constexpr std::size_t usual_rows = 24;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return {usual_columns, usual_rows};
  return {size.ws_col, size.ws_row > 0 ? size.ws_row : usual_rows};
}

std::size_t columns_of_errors() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : usual_columns;
}

}  // namespace rubato::app
