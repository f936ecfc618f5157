#include "results/grid.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

namespace rubato {

namespace {

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

// Follows a TOML value letter by letter and knows whether a comma is one of the grid.
class Nesting {
 public:
  bool is_outside() const { return depth_ == 0 && quote_ == 0; }
  void pass(char letter) {
    if (quote_ != 0)
      quote_ = letter == quote_ ? '\0' : quote_;
    else if (letter == '"' || letter == '\'')
      quote_ = letter;
    else if (letter == '[' || letter == '{')
      ++depth_;
    else if (letter == ']' || letter == '}')
      --depth_;
  }

 private:
  int depth_ = 0;
  char quote_ = '\0';
};

std::vector<std::string> values_of(std::string_view text) {
  std::vector<std::string> values{{}};
  Nesting nesting;
  for (const char letter : text) {
    if (letter == ',' && nesting.is_outside()) {
      values.emplace_back();
      continue;
    }
    nesting.pass(letter);
    values.back() += letter;
  }
  for (std::string& value : values) value = trimmed(value);
  return values;
}

}  // namespace

std::string to_text(const GridPoint& point) {
  std::string text;
  for (const auto& [key, value] : point) text += (text.empty() ? "" : " ") + key + "=" + value;
  return text;
}

GridKey parse_grid(const std::string& text) {
  const std::size_t equals = text.find('=');
  GridKey grid{trimmed(std::string_view(text).substr(0, equals)), {}};
  if (equals != text.npos) grid.values = values_of(std::string_view(text).substr(equals + 1));
  const bool has_gap = std::ranges::any_of(grid.values, [](const std::string& value) { return value.empty(); });
  if (grid.key.empty() || grid.values.empty() || has_gap)
    throw std::invalid_argument("--grid " + text + ": must be key=value,value,...");
  return grid;
}

std::vector<GridPoint> grid_points(std::span<const GridKey> keys) {
  std::vector<GridPoint> points{{}};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto earlier = keys.first(i);
    if (std::ranges::find(earlier, keys[i].key, &GridKey::key) != earlier.end())
      throw std::invalid_argument("--grid " + keys[i].key + ": is there twice; name all of its values at once");
    if (keys[i].values.empty()) throw std::invalid_argument("--grid " + keys[i].key + ": has no value");
    std::vector<GridPoint> longer;
    for (const GridPoint& point : points)
      for (const std::string& value : keys[i].values) {
        longer.push_back(point);
        longer.back().emplace_back(keys[i].key, value);
      }
    points = std::move(longer);
  }
  return points;
}

}  // namespace rubato
