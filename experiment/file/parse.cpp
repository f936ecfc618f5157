#include "experiment/file/parse.hpp"

#include <algorithm>
#include <optional>
#include <sstream>

// toml++ 3.3 meets some broken texts ("[#") with an assertion, which a release build takes for granted: undefined
// behaviour from input. Here a failed assertion is a syntax error, and the library has a name of its own, so that the
// linker cannot exchange it for the toml++ of a program that uses ours.
namespace {
struct FailedAssertion {};
constexpr void assert_claim(bool is_true) {
  if (!is_true) throw FailedAssertion{};
}
}  // namespace
#undef NDEBUG
#define TOML_ASSERT(claim) assert_claim(static_cast<bool>(claim))
#define TOML_EXCEPTIONS 1
#define TOML_HEADER_ONLY 1
#define toml rubato_toml
#include <toml++/toml.h>

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

// A look at a text for what toml++ 3.3 does not withstand: keys of more than 16 dotted parts (it limits nested values, but
// recurses as deep as a key has dots) and characters beyond ASCII outside of strings and comments (some reach what toml++
// calls unreachable). Behind the first other syntax error the answer means nothing, and toml++ does not get there either.
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

Value to_value(const toml::node& node);

template <class Date>
Odd to_odd(const Date& date) {
  std::ostringstream text;
  text << date;
  return {text.str()};
}

List to_list(const toml::array& array) {
  List list;
  list.reserve(array.size());
  for (const toml::node& node : array) list.push_back(to_value(node));
  return list;
}

// toml++ sorts by name; the file's own order reads better in faults.
Table to_table(const toml::table& source) {
  Table table;
  for (const auto& [name, node] : source) table.entries.push_back({std::string(name.str()), to_value(node)});
  std::stable_sort(table.entries.begin(), table.entries.end(),
                   [](const Entry& a, const Entry& b) { return a.value.line < b.value.line; });
  return table;
}

Value to_value(const toml::node& node) {
  const int line = static_cast<int>(node.source().begin.line);
  if (const auto* value = node.as_boolean()) return {value->get(), line};
  if (const auto* value = node.as_integer()) return {value->get(), line};
  if (const auto* value = node.as_floating_point()) return {value->get(), line};
  if (const auto* value = node.as_string()) return {value->get(), line};
  if (const auto* value = node.as_array()) return {to_list(*value), line};
  if (const auto* value = node.as_table()) return {to_table(*value), line};
  if (const auto* value = node.as_date()) return {to_odd(value->get()), line};
  if (const auto* value = node.as_time()) return {to_odd(value->get()), line};
  return {to_odd(node.as_date_time()->get()), line};
}

void set_line(Value& value, int line) {
  value.line = line;
  if (auto* list = value.as<List>())
    for (Value& element : *list) set_line(element, line);
  if (auto* table = value.as<Table>())
    for (Entry& entry : table->entries) set_line(entry.value, line);
}

}  // namespace

std::variant<Table, SyntaxError> parse_document(std::string_view text) try {
  if (auto trouble = scan(text)) return *std::move(trouble);
  return to_table(toml::parse(text));
} catch (const toml::parse_error& error) {
  return SyntaxError{std::string(error.description()), static_cast<int>(error.source().begin.line)};
} catch (const FailedAssertion&) {
  return SyntaxError{"a table header or a key is broken", 0};
}

std::variant<Value, SyntaxError> parse_value(std::string_view text, int line) {
  auto parsed = parse_document("value = " + std::string(text));
  if (auto* error = std::get_if<SyntaxError>(&parsed)) return *error;
  Table& table = std::get<Table>(parsed);
  if (table.entries.size() != 1) return SyntaxError{"more than one value", 0};
  set_line(table.entries[0].value, line);
  return std::move(table.entries[0].value);
}

}  // namespace rubato::config
