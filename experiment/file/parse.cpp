#include "experiment/file/parse.hpp"

#include <algorithm>
#include <sstream>

#include "experiment/file/scan.hpp"

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
