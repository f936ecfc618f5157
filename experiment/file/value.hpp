// The tree that an experiment file is read into and written from: TOML's values without TOML's library.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rubato::config {

struct Value;
struct Entry;

using List = std::vector<Value>;

/// Names and values in the order of the file. No name twice.
struct Table {
  std::vector<Entry> entries;

  Value* find(std::string_view name);
  const Value* find(std::string_view name) const;
  Value& set(std::string_view name, Value value);
};

/// What TOML knows and no key of ours takes: dates and times, as they are written.
struct Odd {
  std::string text;
};

struct Value {
  /// Where a value comes from, if not from a line of the file.
  static constexpr int by_default = 0, by_command = -1;

  std::variant<bool, std::int64_t, double, std::string, List, Table, Odd> content;
  int line = by_default;

  template <class Type>
  Type* as() {
    return std::get_if<Type>(&content);
  }
  template <class Type>
  const Type* as() const {
    return std::get_if<Type>(&content);
  }
  bool is_text(std::string_view text) const;
};

struct Entry {
  std::string name;
  Value value;
};

/// What a path like "roster[1].name" leads to: the innermost table on the way, the name in it, and the value at its end.
struct Place {
  Table* table = nullptr;
  std::string_view name{};
  Value* value = nullptr;  ///< null where there is none
};
Place place_of(Table& root, std::string_view path);

/// TOML on one line: shortest digits that read back as the same number, tables as { a = 1 }.
std::string to_toml(const Value& value);
std::string to_toml(double number);
/// To be shown in a sentence: to_toml, cut short.
std::string to_shown(const Value& value);

}  // namespace rubato::config
