#include "app/text/fitted_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

namespace rubato::app {

namespace {

constexpr std::string_view colour_ends = "\x1b[0m";

// The bytes of the character that begins here; a stray byte is one by itself.
std::size_t bytes_of_character(std::string_view utf8) {
  const auto lead = static_cast<unsigned char>(utf8.front());
  const std::size_t wanted = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  return std::min(wanted, utf8.size());
}

std::size_t columns_of_character(std::string_view bytes) {
  std::uint32_t code = static_cast<unsigned char>(bytes.front());
  if (bytes.size() > 1) code &= 0x7Fu >> bytes.size();
  for (const char byte : bytes.substr(1)) code = code << 6 | (static_cast<unsigned char>(byte) & 0x3Fu);
  if (code >= 0x0300 && code < 0x0370) return 0;  // marks that combine with the character before
  const bool is_wide = (code >= 0x1100 && code < 0x1160) || (code >= 0x2E80 && code < 0xA4D0) ||
                       (code >= 0xAC00 && code < 0xD7A4) || (code >= 0xF900 && code < 0xFB00) ||
                       (code >= 0xFE30 && code < 0xFE70) || (code >= 0xFF00 && code < 0xFF61) ||
                       (code >= 0x1F300 && code < 0x1FB00) || (code >= 0x20000 && code < 0x40000);
  return is_wide ? 2 : 1;
}

struct Joined {
  std::string text;
  std::size_t columns = 0;
};

// The parts that are left once those above `last` have left.
Joined join(std::span<const LinePart> parts, Leaves last, bool is_brief, bool has_colour) {
  const std::string_view gap = is_brief ? " " : "  ";
  Joined line;
  for (const LinePart& part : parts) {
    const std::string& text = is_brief && !part.brief.empty() ? part.brief : part.text;
    if (part.leaves > last || text.empty()) continue;
    if (line.columns > 0) line.text += gap, line.columns += gap.size();
    line.columns += columns_of(text);
    const bool is_painted = has_colour && !part.colour.empty();
    line.text += is_painted ? fmt::format("{}{}{}", part.colour, text, colour_ends) : text;
  }
  return line;
}

}  // namespace

std::size_t columns_of(std::string_view utf8) {
  std::size_t columns = 0;
  while (!utf8.empty()) {
    const std::size_t bytes = bytes_of_character(utf8);
    columns += columns_of_character(utf8.substr(0, bytes));
    utf8.remove_prefix(bytes);
  }
  return columns;
}

std::string cut(std::string_view utf8, std::size_t columns) {
  std::string text;
  while (!utf8.empty()) {
    const std::size_t bytes = bytes_of_character(utf8);
    const std::size_t taken = columns_of_character(utf8.substr(0, bytes));
    if (taken > columns) break;
    columns -= taken;
    text += utf8.substr(0, bytes);
    utf8.remove_prefix(bytes);
  }
  return text;
}

std::vector<std::string> wrapped(std::string_view utf8, std::size_t columns) {
  std::vector<std::string> lines;
  while (!utf8.empty()) {
    const std::string_view word = utf8.substr(0, utf8.find(' '));
    if (lines.empty() || columns_of(lines.back()) + 1 + columns_of(word) > columns)
      lines.emplace_back(word);
    else
      lines.back().append(" ").append(word);
    utf8.remove_prefix(std::min(word.size() + 1, utf8.size()));
  }
  return lines;
}

std::string fitted(std::span<const LinePart> parts, std::size_t columns, bool has_colour) {
  constexpr std::pair<Leaves, bool> steps[] = {{Leaves::first, false},       {Leaves::earlier, false},    {Leaves::early, false},
                                               {Leaves::after_brief, false}, {Leaves::after_brief, true}, {Leaves::at_last, true},
                                               {Leaves::never, true}};
  for (const auto& [last, is_brief] : steps) {
    Joined line = join(parts, last, is_brief, has_colour);
    if (line.columns <= columns) return std::move(line.text);
  }
  return cut(join(parts, Leaves::never, true, false).text, columns);
}

std::string bar(double share, std::size_t columns, bool has_utf8) {
  const auto filled = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(columns));
  std::string text;
  for (std::size_t i = 0; i < columns; ++i) text += has_utf8 ? (i < filled ? "━" : "─") : (i < filled ? "#" : ".");
  return text;
}

std::string sparkline(std::span<const double> values, std::size_t columns, bool has_utf8) {
  constexpr std::array<std::string_view, 8> blocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::array<std::string_view, 8> letters{"_", ".", ":", "-", "=", "+", "*", "#"};
  if (values.empty() || columns == 0) return {};
  std::vector<double> shown(std::min(columns, values.size()));
  for (std::size_t i = 0; i < shown.size(); ++i) shown[i] = values[(i + 1) * values.size() / shown.size() - 1];  // the newest last
  const auto [lowest, highest] = std::ranges::minmax(shown);
  std::string text;
  for (const double value : shown) {
    const double height = highest > lowest ? (value - lowest) / (highest - lowest) : 0.5;
    const auto level = static_cast<std::size_t>(std::lround(7 * height));
    text += (has_utf8 ? blocks : letters)[level];
  }
  return text;
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::clamp(std::ceil(seconds), 0.0, 1e12));
  const std::uint64_t hours = whole / 3600, minutes = whole / 60 % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60) : fmt::format("{}:{:02}", minutes, whole % 60);
}

std::string counted_text(double number) {
  constexpr std::array<const char*, 5> units{"", " k", " M", " G", " T"};
  std::size_t unit = 0;
  while (number >= 999.5 && unit + 1 < units.size()) number /= 1000, ++unit;
  return number < 9.95 && unit > 0 ? fmt::format("{:.1f}{}", number, units[unit]) : fmt::format("{:.0f}{}", number, units[unit]);
}

}  // namespace rubato::app
