#include "experiment/file/scan.hpp"

#include <algorithm>

namespace rubato::config {

namespace {

constexpr int most_dots = 15;
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

// Two quotes of the string's own kind may stand before the three that close it.
std::size_t behind_mark(std::string_view text, std::size_t at, char quote) {
  for (int i = 0; i < 2 && at < text.size() && text[at] == quote; ++i) ++at;
  return at;
}

// The place behind the string that starts at `at`; the end of the text where it is not closed.
std::size_t behind_string(std::string_view text, std::size_t at) {
  const std::string_view mark = text.substr(at, 3);
  const bool is_long = mark.size() == 3 && mark[1] == mark[0] && mark[2] == mark[0];
  const bool has_escapes = mark[0] == '"';
  for (std::size_t i = at + (is_long ? 3 : 1); i < text.size(); ++i) {
    if (has_escapes && text[i] == '\\')
      ++i;
    else if (is_long && text.substr(i, 3) == mark)
      return behind_mark(text, i + 3, mark[0]);
    else if (!is_long && (text[i] == mark[0] || text[i] == '\n'))
      return i + 1;
  }
  return text.size();
}

bool separates_keys(char c) { return std::string_view("\n=,[{").find(c) != std::string_view::npos; }

SyntaxError trouble(std::string reason, std::string_view text, std::size_t at) {
  return {std::move(reason), 1 + static_cast<int>(std::count(text.data(), text.data() + at, '\n'))};
}

}  // namespace

std::optional<SyntaxError> scan(std::string_view text) {
  int dots = 0;
  for (std::size_t i = text.starts_with(byte_order_mark) ? 3 : 0; i < text.size();) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      i = behind_string(text, i);
    } else if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
    } else {
      dots = separates_keys(c) ? 0 : dots + (c == '.');
      if (dots > most_dots) return trouble("a key has more than 16 dotted parts", text, i);
      if (static_cast<unsigned char>(c) > 0x7e) return trouble("a character beyond ASCII stands outside of quotes", text, i);
      ++i;
    }
  }
  return std::nullopt;
}

}  // namespace rubato::config
