// A plot of lines in text: two by four dots of braille to a character, or one star where the terminal has no UTF-8.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace rubato::app {

struct PlotLine {
  std::vector<double> values;    ///< one for each x; what is not finite parts the line
  std::string_view colour = {};  ///< an escape sequence, or none
};

struct TextPlot {
  std::string title;
  std::vector<double> xs;  ///< ascending
  std::vector<PlotLine> lines;
  std::function<std::string(double)> y_text, x_text;  ///< labels of the ends of the axes
};

/// So many lines of at most so many columns, labels included; at least 4 and 24.
std::vector<std::string> drawn(const TextPlot& plot, std::size_t columns, std::size_t rows, bool has_utf8, bool has_colour);

}  // namespace rubato::app
