#include "experiment/file/value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace rubato::config {

namespace {

constexpr std::size_t longest_shown = 72;

std::string escaped(char c) {
  if (c == '"' || c == '\\') return {'\\', c};
  const auto code = static_cast<unsigned char>(c);
  if (code >= 0x20 && code != 0x7f) return {c};
  return fmt::format("\\u{:04x}", code);
}

std::string in_toml(bool value) { return value ? "true" : "false"; }
std::string in_toml(std::int64_t value) { return std::to_string(value); }
std::string in_toml(double value) { return to_toml(value); }
std::string in_toml(const Odd& value) { return value.text; }
std::string in_toml(const std::string& text) {
  std::string out = "\"";
  for (char c : text) out += escaped(c);
  return out + '"';
}
std::string in_toml(const List& list) {
  std::string out;
  for (const Value& value : list) out += (out.empty() ? "" : ", ") + to_toml(value);
  return fmt::format("[{}]", out);
}
std::string in_toml(const Table& table) {
  std::string out;
  for (const auto& [name, value] : table.entries) out += fmt::format("{} {} = {}", out.empty() ? "" : ",", name, to_toml(value));
  return out.empty() ? "{}" : fmt::format("{{{} }}", out);
}

}  // namespace

const Value* Table::find(std::string_view name) const {
  const auto found = std::ranges::find(entries, name, &Entry::name);
  return found == entries.end() ? nullptr : &found->value;
}

Value* Table::find(std::string_view name) { return const_cast<Value*>(std::as_const(*this).find(name)); }

Value& Table::set(std::string_view name, Value value) {
  if (Value* present = find(name)) return *present = std::move(value);
  entries.push_back({std::string(name), std::move(value)});
  return entries.back().value;
}

bool Value::is_text(std::string_view text) const {
  const auto* own = as<std::string>();
  return own && *own == text;
}

Place place_of(Table& root, std::string_view path) {
  const std::string_view name = path.substr(0, path.find_first_of(".["));
  Value* value = root.find(name);
  std::string_view rest = path.substr(name.size());
  while (value && rest.starts_with('[')) {
    auto* list = value->as<List>();
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), index);
    value = list && error == std::errc{} && index < list->size() ? &(*list)[index] : nullptr;
    rest.remove_prefix(std::min(rest.size(), static_cast<std::size_t>(end - rest.data()) + 1));
  }
  auto* inner = value && !rest.empty() ? value->as<Table>() : nullptr;
  return inner ? place_of(*inner, rest.substr(1)) : Place{&root, name, rest.empty() ? value : nullptr};
}

std::string to_toml(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  char digits[32];
  std::string text(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string to_toml(const Value& value) {
  return std::visit([](const auto& content) { return in_toml(content); }, value.content);
}

std::string to_shown(const Value& value) {
  std::string text = to_toml(value);
  if (text.size() > longest_shown) text = text.substr(0, longest_shown) + " ...";
  return text;
}

}  // namespace rubato::config
