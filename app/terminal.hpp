// What standard error is: a terminal with a width, characters and colours, or a file or pipe.
#pragma once

#include <cstddef>

namespace rubato::app {

/// As --color says; automatic: on a terminal, and not where NO_COLOR is set.
enum class Colour : unsigned char { automatic, always, never };

struct Terminal {
  bool is_there = false;    ///< lines can be drawn again; a terminal that is "dumb" counts as a pipe
  bool has_utf8 = false;    ///< the locale says so
  bool has_colour = false;  ///< colours are wanted and can be shown
};

/// Of standard error, as the environment says.
Terminal terminal_on_errors(Colour colour);
/// The same of standard output.
Terminal terminal_on_output(Colour colour);

/// Columns of standard error at this instant; 80 where the terminal does not tell.
std::size_t columns_of_errors();

struct TerminalSize {
  std::size_t columns, rows;
};
/// Of standard output at this instant; 80 by 24 where the terminal does not tell.
TerminalSize size_of_output();

}  // namespace rubato::app
