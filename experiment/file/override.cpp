#include "experiment/file/check.hpp"

#include <algorithm>
#include <ostream>

#include "experiment/file/parse.hpp"
#include "learning/data/line_reader.hpp"

namespace rubato::config {

namespace {

struct Override {
  std::string path;  // of the table: "clients.compute"
  std::string name;  // of the key in it: "law"
  Value value;

  std::string key() const { return dotted(path, name); }
  bool is_choice() const { return is_selector(path, name); }
};

// What a shell user means by name=my run: printable, and without any sign that TOML would have a say in.
bool is_bare(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c >= ' ' && c <= '~' && std::string_view("\"'[]{}=#\\").find(c) == std::string_view::npos;
  });
}

std::optional<Override> parse(const std::string& text, Faults& faults) {
  const std::string_view whole = text;
  const std::size_t equals = whole.find('=');
  const std::string_view key = trimmed(whole.substr(0, equals));
  const std::string_view given = equals == whole.npos ? std::string_view() : trimmed(whole.substr(equals + 1));
  const auto refuse = [&](std::string what) {
    faults.add(Value::by_command, std::string(key), std::string(given), std::move(what));
  };
  if (key.empty() || given.empty()) return refuse("must be key=value"), std::nullopt;
  if (key.front() == '.' || key.back() == '.' || key.find("..") != key.npos) return refuse("must be table.key=value"), std::nullopt;

  auto value = parse_value(given, Value::by_command);
  if (std::holds_alternative<SyntaxError>(value) && is_bare(given)) value = Value{std::string(given), Value::by_command};
  if (auto* error = std::get_if<SyntaxError>(&value))
    return refuse("must be a TOML value or a bare word: " + error->reason), std::nullopt;
  const auto [path, name] = parted(key);
  return Override{std::string(path), std::string(name), std::get<Value>(std::move(value))};
}

// The table in which the key stands, made where it is missing. A number in the place of a law gives way to a choice.
Table* table_for(const Override& given, Table& root, Faults& faults, std::ostream& notes) {
  Table* table = &root;
  std::string so_far;
  for (std::string_view rest = given.path; !rest.empty();) {
    const std::string_view name = take_until(rest, '.');
    so_far = dotted(so_far, name);
    Value* next = table->find(name);
    if (next && !next->as<Table>() && rest.empty() && given.is_choice()) {
      notes << "--set " << given.key() << " replaces " << so_far << " = " << to_shown(*next) << '\n';
      next = nullptr;
    }
    if (!next) next = &table->set(name, {Table{}, Value::by_command});
    table = next->as<Table>();
    if (!table)
      return add_fault(faults, given.value, given.key(), "cannot be set: " + so_far + " is " + to_shown(*next) + ", not a table"),
             nullptr;
  }
  return table;
}

bool is_foreign(std::string_view spec, const Entry& entry, const Table& table) {
  if (entry.value.line == Value::by_command) return false;
  const Key* key = find_key(spec, entry.name, table);
  return !key || belongs(spec, *key, table) == Belongs::no;
}

void drop_foreign(const Override& given, std::string_view spec, Table& table, std::ostream& notes) {
  Table kept;
  for (const Entry& entry : table.entries) {
    if (!is_foreign(spec, entry, table))
      kept.entries.push_back(entry);
    else
      notes << "--set " << given.key() << " = " << to_shown(given.value) << " drops " << dotted(given.path, entry.name) << " = "
            << to_shown(entry.value) << ", which it does not know\n";
  }
  table = std::move(kept);
}

// False where the new word is none that this version knows: then it cannot be said what it knows.
bool is_valid(const Override& given, std::string_view spec) {
  const Key& key = *find_key(spec, given.name);
  const auto* word = given.value.as<std::string>();
  return word && (key.type != Type::choice || is_word_of(key.choices, *word));
}

bool is_same(const Override& given, std::string_view spec, const Table& table) {
  const Value* present = table.find(given.name);
  const Key& key = *find_key(spec, given.name);
  if (!present && !key.fallback) return false;
  return to_toml(present ? *present : *key.fallback) == to_toml(given.value);
}

void apply(const Override& given, Table& root, Faults& faults, std::ostream& notes) {
  Table* table = table_for(given, root, faults, notes);
  if (!table) return;
  const auto spec = table_at(given.path);
  const bool is_change = given.is_choice() && is_valid(given, *spec) && !is_same(given, *spec, *table);
  table->set(given.name, given.value);
  if (is_change) drop_foreign(given, *spec, *table, notes);
}

}  // namespace

void apply_overrides(Table& root, std::span<const std::string> overrides, Faults& faults, std::ostream& notes) {
  std::vector<Override> parsed;
  for (const std::string& text : overrides)
    if (auto given = parse(text, faults)) parsed.push_back(std::move(*given));
  const auto rank = [](const Override& given) { return given.value.as<Table>() ? 0 : given.is_choice() ? 1 : 2; };
  std::stable_sort(parsed.begin(), parsed.end(), [&](const Override& a, const Override& b) { return rank(a) < rank(b); });
  for (const Override& given : parsed) apply(given, root, faults, notes);
}

}  // namespace rubato::config
