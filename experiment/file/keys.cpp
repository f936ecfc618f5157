#include "experiment/file/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiment/file/fields.hpp"
#include "learning/data/line_reader.hpp"

namespace rubato::config {

namespace {

// Keys without their members.
template <class... Structs>
std::vector<Key> keys_of_structs() {
  std::vector<Key> keys;
  (keys.insert(keys.end(), rows_of<Structs>().all.begin(), rows_of<Structs>().all.end()), ...);
  return keys;
}

bool serves(const Key& key, std::string_view path) {
  if (key.table == path) return true;
  return key.table == "timer" && (path == "clients.compute" || path == "clients.transmit");
}

// The word chosen in the table, or the default; nothing where neither is a word.
std::optional<std::string> word_in(const Table& table, const Key& selector) {
  const Value* given = table.find(selector.name);
  if (!given && !selector.fallback) return std::nullopt;
  const Value& value = given ? *given : *selector.fallback;
  const auto* word = value.as<std::string>();
  if (!word || (selector.type == Type::choice && !is_word_of(selector.choices, *word))) return std::nullopt;
  return *word;
}

std::string plain(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) return std::to_string(static_cast<std::int64_t>(value));
  return to_toml(value);
}

}  // namespace

bool Range::contains(double value) const {
  const bool is_above = low_is_out ? value > low : value >= low;
  const bool is_below = high_is_out ? value < high : value <= high;
  return is_above && is_below;
}

std::string Range::sentence() const {
  const std::string from = fmt::format("{} {}", low_is_out ? "greater than" : "at least", plain(low));
  const std::string to = fmt::format("{} {}", high_is_out ? "less than" : "at most", plain(high));
  if (low == -infinity) return high == infinity ? "must be a finite number" : "must be " + to;
  return "must be " + from + (high == infinity ? "" : " and " + to);
}

std::string dotted(std::string_view path, std::string_view name) {
  return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
}

std::pair<std::string_view, std::string_view> parted(std::string_view key) {
  const std::size_t dot = key.rfind('.');
  return dot == key.npos ? std::pair{std::string_view(), key} : std::pair{key.substr(0, dot), key.substr(dot + 1)};
}

std::span<const Key> all_keys() {
  static OfCatalogue<std::vector<Key>> keys;
  return keys.get(keys_of_structs<Experiment, Clients, DeviceClass, TimerLaw, Topology, Channel, Link, Churn, ChurnEvent, Absence,
                                  Mailbox, Unification, Protocol, Algorithm, Data, Partition, Model, Metrics, Stop, Theory, Budget,
                                  Energy, Limits, Host, Hosts, Impaired, Law>);
}

std::vector<const Key*> keys_of(std::string_view path) {
  std::vector<const Key*> keys;
  for (const Key& key : all_keys())
    if (serves(key, path)) keys.push_back(&key);
  return keys;
}

const Key* find_key(std::string_view path, std::string_view name) {
  const auto found = std::ranges::find_if(all_keys(), [&](const Key& key) { return key.name == name && serves(key, path); });
  return found == all_keys().end() ? nullptr : &*found;
}

std::optional<std::string> table_at(std::string_view path) {
  if (path.empty()) return std::string();
  const auto [above, name] = parted(path);
  const auto parent = table_at(above);
  const Key* key = parent ? find_key(*parent, name) : nullptr;
  if (!key) return std::nullopt;
  if (key->type == Type::table) return dotted(*parent, key->name);
  if (key->type == Type::law || key->type == Type::per_client) return "law";
  return std::nullopt;
}

bool is_selector(std::string_view path, std::string_view name) {
  const auto spec = table_at(path);
  return spec && std::ranges::any_of(all_keys(), [&](const Key& key) {
           return serves(key, *spec) && !key.when.empty() && condition_of(key).selector == name;
         });
}

std::vector<std::string_view> words_of(std::string_view choices) {
  std::vector<std::string_view> words;
  while (!choices.empty()) words.push_back(take_until(choices, '|'));
  return words;
}

bool is_word_of(std::string_view choices, std::string_view word) { return std::ranges::count(words_of(choices), word) > 0; }

Condition condition_of(const Key& key) {
  const std::size_t equals = key.when.find('=');
  if (equals == key.when.npos) return {};
  const std::string_view when = key.when;
  const bool is_negated = when[equals - 1] == '!';
  return {when.substr(0, is_negated ? equals - 1 : equals), when.substr(equals + 1), is_negated};
}

Belongs belongs(std::string_view path, const Key& key, const Table& table) {
  if (key.when.empty()) return Belongs::yes;
  const Condition condition = condition_of(key);
  const Key& selector = *find_key(path, condition.selector);
  if (const Belongs known = belongs(path, selector, table); known != Belongs::yes) return known;
  const auto word = word_in(table, selector);
  if (!word) return Belongs::unclear;
  return is_word_of(condition.choices, *word) != condition.is_negated ? Belongs::yes : Belongs::no;
}

const Key* find_key(std::string_view path, std::string_view name, const Table& table) {
  for (const Key& key : all_keys())
    if (key.name == name && serves(key, path) && belongs(path, key, table) == Belongs::yes) return &key;
  return find_key(path, name);
}

Experiment experiment_of(const Table& root) {
  Experiment experiment;
  Convert::read_struct({root}, experiment);
  return experiment;
}

Table tree_of(const Experiment& experiment) { return *Convert::write(experiment).as<Table>(); }

}  // namespace rubato::config
