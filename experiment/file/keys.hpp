// The table of all keys of an experiment file: what each is called, takes, means, and which choices know it.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiment/file/value.hpp"

namespace rubato::config {

struct Experiment;

enum class Type {
  boolean,
  integer,
  number,
  text,
  choice,
  file,
  size,           // "full", "off" or a number of bytes
  integers,       // a list, possibly empty
  texts,          // a list, not empty
  client,         // an integer below clients.count
  clients,        // a list of them
  edges,          // a list of [source, target]
  edge_lists,     // a list of them
  matrix,         // clients.count rows of clients.count numbers
  ticks,          // clients.count ascending lists of seconds
  tables,         // a list of tables, keys under `element`
  groups,         // a list of lists of clients
  law,            // a number, a list or a table, keys under "law"
  per_client,     // the same, a list having clients.count numbers
  table,          // a table with keys of its own
  numbers,        // a list, not empty
  numbers_or_one  // a number, or a list with one for each client
};

/// What a number must lie in.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_is_out = false;
  bool high_is_out = false;

  bool contains(double value) const;
  /// The same with both ends.
  Range closed() const { return {low, high}; }
  /// "must be greater than 0"; "must be a finite number" where there are no ends.
  std::string sentence() const;
};

struct Key {
  std::string_view table{};  // "", "topology", "clients.compute", ...; "timer", "law" and "link" serve several paths
  std::string_view name{};
  Type type = Type::text;
  std::string_view element{};       // tables: where the keys of one stand, "link"
  std::optional<Value> fallback{};  // absent: must be set; the text "none": may be absent, but for a choice
  std::string_view meaning{};
  std::string when{};  // "kind=torus|grid" or "name!=quadratic": the choices that know the key; empty: all
  Range range{};
  std::string choices{};   // choice: "ring|star"; integer: words that may stand for a number
  bool is_option = false;  // of an algorithm: from the catalogue

  bool is_optional() const { return type != Type::choice && fallback && fallback->is_text("none"); }
};

/// In the order of the documentation; a key stands behind the choices it depends on.
std::span<const Key> all_keys();

/// The keys of the table at this path ("clients.compute" has those of "timer" too).
std::vector<const Key*> keys_of(std::string_view path);
const Key* find_key(std::string_view path, std::string_view name);
/// The key of this name that the choices made in `table` know: algorithms may give one name different defaults. If none
/// does, the first of the name.
const Key* find_key(std::string_view path, std::string_view name, const Table& table);

/// The path under which the keys of the table at this dotted path stand: "law" for "channel.delay"; none: no table
/// there.
std::optional<std::string> table_at(std::string_view path);

/// Whether other keys of the table at this dotted path depend on the value of this one.
bool is_selector(std::string_view path, std::string_view name);

/// "" or "algorithm": "algorithm.eta".
std::string dotted(std::string_view path, std::string_view name);
/// That taken apart.
std::pair<std::string_view, std::string_view> parted(std::string_view key);

/// "a|b|c" taken apart.
std::vector<std::string_view> words_of(std::string_view choices);
bool is_word_of(std::string_view choices, std::string_view word);

/// The selector and the choices of a `when`.
struct Condition {
  std::string_view selector;
  std::string_view choices;
  bool is_negated = false;
};
Condition condition_of(const Key& key);

enum class Belongs { yes, no, unclear };
/// Whether the choices made in `table` know the key; unclear where a choice is itself not valid. Absent choices have
/// their defaults.
Belongs belongs(std::string_view path, const Key& key, const Table& table);

/// What the tree says. It must be complete and without faults (check_experiment).
Experiment experiment_of(const Table& root);

/// All fields, also those that the choices in force do not know.
Table tree_of(const Experiment& experiment);

/// The tree in the order of the table of keys, without what other choices own and without empty texts that must be set.
Table chosen_in(const Table& root);

/// chosen_in as TOML.
std::string to_document(const Table& root);

}  // namespace rubato::config
