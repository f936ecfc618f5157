#include "app/text/text_plot.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/text/fitted_line.hpp"

namespace rubato::app {

namespace {

constexpr std::size_t dots_across = 2, dots_down = 4;  // of a character in braille

std::string utf8_of(unsigned code) {  // of U+0800 to U+FFFF
  return {static_cast<char>(0xE0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 0x3F)),
          static_cast<char>(0x80 | (code & 0x3F))};
}

// The bit of a dot, as Unicode numbers them.
unsigned bit_of(std::size_t across, std::size_t down) {
  constexpr unsigned bits[dots_down][dots_across] = {{1, 8}, {2, 16}, {4, 32}, {64, 128}};
  return bits[down][across];
}

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  void hold(double value) {
    if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
  }
  bool is_empty() const { return low > high; }
  double place(double value) const { return high > low ? (value - low) / (high - low) : 0.5; }
};

class Canvas {
 public:
  Canvas(std::size_t columns, std::size_t rows) : columns_{columns}, rows_{rows}, cells_(columns * rows), line_(columns * rows) {}

  // From (0, 0) at the lower left to (1, 1).
  void dot(double x, double y, std::size_t line) {
    const auto across = static_cast<std::size_t>(std::lround(x * static_cast<double>(columns_ * dots_across - 1)));
    const auto up = static_cast<std::size_t>(std::lround(y * static_cast<double>(rows_ * dots_down - 1)));
    const std::size_t down = rows_ * dots_down - 1 - up;
    const std::size_t cell = down / dots_down * columns_ + across / dots_across;
    cells_[cell] |= bit_of(across % dots_across, down % dots_down);
    line_[cell] = line;
  }
  void stroke(double x, double y, double to_x, double to_y, std::size_t line) {
    const double wide = std::abs(to_x - x) * static_cast<double>(columns_ * dots_across);
    const double high = std::abs(to_y - y) * static_cast<double>(rows_ * dots_down);
    const auto steps = static_cast<std::size_t>(std::max({wide, high, 1.0}));
    for (std::size_t i = 0; i <= steps; ++i) {
      const double share = static_cast<double>(i) / static_cast<double>(steps);
      dot(x + share * (to_x - x), y + share * (to_y - y), line);
    }
  }
  std::string row(std::size_t row, const std::vector<PlotLine>& lines, bool has_utf8, bool has_colour) const {
    constexpr unsigned braille = 0x2800;
    std::string text;
    std::string_view colour;
    for (std::size_t cell = row * columns_; cell < (row + 1) * columns_; ++cell) {
      const std::string_view wanted = has_colour && cells_[cell] ? lines[line_[cell]].colour : std::string_view{};
      if (wanted != colour) {
        if (!colour.empty()) text += "\x1b[0m";
        text += colour = wanted;
      }
      text += !cells_[cell] ? " " : has_utf8 ? utf8_of(braille + cells_[cell]) : "*";
    }
    return colour.empty() ? text : text + "\x1b[0m";
  }

 private:
  std::size_t columns_, rows_;
  std::vector<unsigned> cells_;    // bits of dots
  std::vector<std::size_t> line_;  // whose dot is the last
};

std::string right(const std::string& text, std::size_t columns) {
  return std::string(columns - std::min(columns, columns_of(text)), ' ') + text;
}

}  // namespace

std::vector<std::string> drawn(const TextPlot& plot, std::size_t columns, std::size_t rows, bool has_utf8, bool has_colour) {
  Range x, y;
  for (const double value : plot.xs) x.hold(value);
  for (const PlotLine& line : plot.lines)
    for (const double value : line.values) y.hold(value);
  std::vector<std::string> text{cut(plot.title, columns)};
  if (x.is_empty() || y.is_empty()) return text;
  const std::string high = plot.y_text(y.high), low = plot.y_text(y.low);
  const std::size_t margin = std::max(columns_of(high), columns_of(low)) + 1;
  const std::size_t wide = columns > margin + 8 ? columns - margin : 8, down = rows > 4 ? rows - 2 : 2;
  Canvas canvas(wide, down);
  for (std::size_t line = 0; line < plot.lines.size(); ++line) {
    const std::vector<double>& values = plot.lines[line].values;
    for (std::size_t i = 0; i < std::min(values.size(), plot.xs.size()); ++i) {
      if (!std::isfinite(values[i])) continue;
      const std::size_t from = i > 0 && std::isfinite(values[i - 1]) ? i - 1 : i;
      canvas.stroke(x.place(plot.xs[from]), y.place(values[from]), x.place(plot.xs[i]), y.place(values[i]), line);
    }
  }
  for (std::size_t row = 0; row < down; ++row) {
    const std::string label = row == 0 ? high : row + 1 == down ? low : "";
    text.push_back(right(label, margin - 1) + " " + canvas.row(row, plot.lines, has_utf8, has_colour));
  }
  const std::string first = plot.x_text(x.low), last = plot.x_text(x.high);
  text.push_back(std::string(margin, ' ') + first + right(last, wide - std::min(wide, columns_of(first))));
  return text;
}

}  // namespace rubato::app
