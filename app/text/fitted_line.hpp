// One line that fits a terminal of any width: made of parts, of which some leave where there is no room for all.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rubato::app {

/// Its numbers are an order: where a line is too long the parts with the highest number leave first.
enum class Leaves : unsigned char { never, at_last, after_brief, early, earlier, first };

struct LinePart {
  std::string text;               ///< UTF-8 without control characters
  std::string brief{};            ///< said instead once the parts that leave early have left; empty: the text
  Leaves leaves = Leaves::never;  ///< when there is no room
  std::string_view colour{};      ///< an escape sequence, or none
};

/// Columns of a terminal that this text takes: most characters one, East Asian ones two.
std::size_t columns_of(std::string_view utf8);

/// The first characters that take so many columns at most.
std::string cut(std::string_view utf8, std::size_t columns);

/// Words in lines of so many columns at most; a word that is longer has a line of its own.
std::vector<std::string> wrapped(std::string_view utf8, std::size_t columns);

/// The parts that have room, two blanks between them, or one between brief ones. At most so many columns, whatever the parts
/// say. Colours only if `has_colour`.
std::string fitted(std::span<const LinePart> parts, std::size_t columns, bool has_colour);

/// "█" or "#": how far something has come, `share` from 0 to 1, in so many columns.
std::string bar(double share, std::size_t columns, bool has_utf8);

/// The course of a number in at most so many columns, as high as the values shown differ.
std::string sparkline(std::span<const double> values, std::size_t columns, bool has_utf8);

/// "0:02", "12:40", "3:07:00".
std::string clock_text(double seconds);

/// "950", "63 k", "1.2 M".
std::string counted_text(double number);

}  // namespace rubato::app
