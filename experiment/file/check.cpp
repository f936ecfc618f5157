#include "experiment/file/check.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <system_error>
#include <utility>

#include "experiment/file/relations.hpp"

namespace rubato::config {

namespace {

std::string listed(std::string_view choices) {
  std::string text;
  for (std::string_view word : words_of(choices)) text += (text.empty() ? "" : ", ") + std::string(word);
  return text;
}

// Edits (insert, delete, replace, swap neighbours) from one word to the other.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      const bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swap) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = std::exchange(last, row);
  }
  return last[b.size()];
}

// The walk over one experiment: the tree, the faults so far, and what lengths are measured with.
class Checker {
 public:
  Checker(const std::filesystem::path& folder, std::optional<std::int64_t> clients, Faults& faults)
      : folder_{folder}, clients_{clients}, faults_{faults} {}

  /// `spec` is the path in the table of keys, `path` the one in the file: "law" and "channel.delay".
  void table(Table& table, std::string_view spec, const std::string& path, int line);

 private:
  void unknown(const Entry& entry, std::string_view spec, const std::string& path);
  void key(Table& table, const Key& key, std::string_view spec, const std::string& path, int line);
  void absent(Table& table, const Key& key, const std::string& path, int line);
  void stranger(const Value& value, const Key& key, std::string_view spec, const Table& table, const std::string& path);
  void value(Value& value, const Key& key, const std::string& path);

  bool is_number(const Value& value, const Range& range, const std::string& path, std::string_view or_else = {});
  bool is_integer(const Value& value, const Range& range, const std::string& path, std::string_view or_else = {});
  void choice(const Value& value, const Key& key, const std::string& path);
  void file(Value& value, const std::string& path);
  void size(const Value& value, const Key& key, const std::string& path);
  void client(const Value& value, const std::string& path);
  void numbers(const Value& list, const Range& range, const std::string& path);
  void edge(const Value& value, const std::string& path);
  void matrix(const Value& value, const Range& range, const std::string& path);
  void ticks(const Value& value, const Range& range, const std::string& path);
  void tables(Value& value, std::string_view spec, const std::string& path);
  void law(Value& value, const Key& key, const std::string& path);
  void law_table(Table& law, const Key& key, const std::string& path, int line);
  void one_per_client(const Value& list, std::string_view what, const std::string& path);
  void wrong(const Value& value, const std::string& path, std::string allowed) { faults_.add(value, path, std::move(allowed)); }

  // The elements of a list, or nothing and a fault.
  std::vector<Value>* elements(Value& value, const std::string& path, std::string_view of, bool may_be_empty = false);
  const std::vector<Value>* elements(const Value& value, const std::string& path, std::string_view of) {
    return elements(const_cast<Value&>(value), path, of);
  }

  const std::filesystem::path& folder_;
  std::optional<std::int64_t> clients_;  // nothing where the file does not say it properly
  Faults& faults_;
};

std::string place(const std::string& path, std::size_t index) { return path + '[' + std::to_string(index) + ']'; }

void Checker::table(Table& table, std::string_view spec, const std::string& path, int line) {
  for (const Key* known : keys_of(spec)) key(table, *known, spec, path, line);
  for (const Entry& entry : table.entries)
    if (!find_key(spec, entry.name)) unknown(entry, spec, path);
}

void Checker::key(Table& table, const Key& key, std::string_view spec, const std::string& path, int line) {
  const Belongs known = belongs(spec, key, table);
  Value* given = table.find(key.name);
  const std::string own_path = dotted(path, key.name);
  if (!given && known == Belongs::yes) return absent(table, key, path, line);
  if (!given) return;
  if (known == Belongs::no && &key != find_key(spec, key.name, table)) return;  // another key of this name is meant
  if (known == Belongs::no) return stranger(*given, key, spec, table, own_path);
  value(*given, key, own_path);
}

void Checker::absent(Table& table, const Key& key, const std::string& path, int line) {
  if (key.is_optional()) return;
  const std::string own_path = dotted(path, key.name);
  if (!key.fallback) return faults_.add(line, own_path, "", "must be set: " + std::string(key.meaning));
  Value& filled = table.set(key.name, *key.fallback);
  if (key.type == Type::table) value(filled, key, own_path);
}

void Checker::stranger(const Value& value, const Key& key, std::string_view spec, const Table& table, const std::string& path) {
  const Condition condition = condition_of(key);
  const Key& selector = *find_key(spec, condition.selector);
  const Value* given = table.find(condition.selector);
  const std::string chosen = to_toml(given ? *given : *selector.fallback);
  const std::string owners = (condition.is_negated ? "every other than " : "") + listed(condition.choices);
  faults_.add(value, path, "is not a key of " + std::string(condition.selector) + " = " + chosen + "; it belongs to " + owners);
}

// Looks for the word here first, then in every table: a key may stand in the wrong place.
std::string meant_instead(std::string_view name, std::string_view spec) {
  std::vector<std::string_view> here;
  for (const Key* key : keys_of(spec)) here.push_back(key->name);
  if (std::string near = nearest(name, here); !near.empty()) return near;
  for (const Key& key : all_keys())
    if (key.name == name && table_at(key.table)) return dotted(key.table, name);
  return {};
}

void Checker::unknown(const Entry& entry, std::string_view spec, const std::string& path) {
  if (faults_.is_full()) return faults_.add(0, "", "", "");
  const std::string where = path.empty() ? "the experiment file" : path;
  faults_.add(entry.value, dotted(path, entry.name), "is not a key of " + where, meant_instead(entry.name, spec));
}

void Checker::value(Value& value, const Key& key, const std::string& path) {
  if (key.is_optional() && value.is_text("none")) return;
  const std::string_view or_none = key.is_optional() ? ", or \"none\"" : "";
  switch (key.type) {
    case Type::boolean:
      if (!value.as<bool>()) wrong(value, path, "must be true or false");
      break;
    case Type::integer:
      is_integer(value, key.range, path, or_none);
      break;
    case Type::number:
      is_number(value, key.range, path, or_none);
      break;
    case Type::text:
      if (!value.as<std::string>() || value.is_text("")) wrong(value, path, "must be a text in quotes");
      break;
    case Type::choice:
      choice(value, key, path);
      break;
    case Type::file:
      file(value, path);
      break;
    case Type::size:
      size(value, key, path);
      break;
    case Type::integers:
      if (auto* list = elements(value, path, "whole numbers", true))
        for (std::size_t i = 0; i < list->size(); ++i) is_integer((*list)[i], key.range, place(path, i));
      break;
    case Type::texts:
      if (auto* list = elements(value, path, "texts"))
        for (std::size_t i = 0; i < list->size(); ++i)
          if (!(*list)[i].as<std::string>()) wrong((*list)[i], place(path, i), "must be a text in quotes");
      break;
    case Type::client:
      client(value, path);
      break;
    case Type::clients:
      if (auto* list = elements(value, path, "clients"))
        for (std::size_t i = 0; i < list->size(); ++i) client((*list)[i], place(path, i));
      break;
    case Type::edges:
      if (auto* list = elements(value, path, "[source, target]"))
        for (std::size_t i = 0; i < list->size(); ++i) edge((*list)[i], place(path, i));
      break;
    case Type::edge_lists:
      if (auto* lists = elements(value, path, "lists of edges", true))
        for (std::size_t k = 0; k < lists->size(); ++k)
          if (auto* list = elements((*lists)[k], place(path, k), "[source, target]", true))
            for (std::size_t i = 0; i < list->size(); ++i) edge((*list)[i], place(place(path, k), i));
      break;
    case Type::matrix:
      matrix(value, key.range, path);
      break;
    case Type::ticks:
      ticks(value, key.range, path);
      break;
    case Type::tables:
      tables(value, key.element, path);
      break;
    case Type::groups:
      if (auto* lists = elements(value, path, "lists of clients"))
        for (std::size_t k = 0; k < lists->size(); ++k)
          if (auto* list = elements((*lists)[k], place(path, k), "clients"))
            for (std::size_t i = 0; i < list->size(); ++i) client((*list)[i], place(place(path, k), i));
      break;
    case Type::law:
    case Type::per_client:
      law(value, key, path);
      break;
    case Type::numbers_or_one:
      if (!value.as<List>()) {
        is_number(value, key.range, path, value.as<std::string>() ? ", or a list with one for each client" : "");
      } else if (elements(value, path, "numbers")) {
        one_per_client(value, "values", path);
        numbers(value, key.range, path);
      }
      break;
    case Type::numbers:
      if (elements(value, path, "numbers")) numbers(value, key.range, path);
      break;
    case Type::table:
      if (auto* inner = value.as<Table>())
        table(*inner, *table_at(path), path, value.line);
      else
        wrong(value, path, "must be a table, such as [" + path + "]");
      break;
  }
}

bool Checker::is_number(const Value& value, const Range& range, const std::string& path, std::string_view or_else) {
  const auto* whole = value.as<std::int64_t>();
  const auto* real = value.as<double>();
  const double number = whole ? static_cast<double>(*whole) : real ? *real : 0;
  const bool is_fine = (whole || real) && std::isfinite(number) && range.contains(number);
  const bool is_finite_number = (whole || real) && std::isfinite(number);
  if (!is_fine) wrong(value, path, (is_finite_number ? range.sentence() : "must be a finite number") + std::string(or_else));
  return is_fine;
}

bool Checker::is_integer(const Value& value, const Range& range, const std::string& path, std::string_view or_else) {
  const auto* number = value.as<std::int64_t>();
  const bool is_fine = number && range.contains(static_cast<double>(*number));
  if (!is_fine) wrong(value, path, (number ? range.sentence() : "must be a whole number") + std::string(or_else));
  return is_fine;
}

void Checker::choice(const Value& value, const Key& key, const std::string& path) {
  const auto* word = value.as<std::string>();
  if (word && is_word_of(key.choices, *word)) return;
  faults_.add(value, path, "must be one of " + listed(key.choices), word ? nearest(*word, words_of(key.choices)) : "");
}

void Checker::file(Value& value, const std::string& path) {
  auto* name = value.as<std::string>();
  if (!name || name->empty() || name->find('\0') != name->npos) return wrong(value, path, "must be the name of a file, in quotes");
  const auto absolute = (folder_ / *name).lexically_normal();
  std::error_code error;
  const auto status = std::filesystem::status(absolute, error);
  if (!std::filesystem::exists(status))
    wrong(value, path, "there is no file " + absolute.string());
  else if (std::filesystem::is_directory(status))
    wrong(value, path, "is a folder, not a file");
  *name = absolute.string();
}

void Checker::size(const Value& value, const Key& key, const std::string& path) {
  if (value.is_text("full") || value.is_text("off")) return;
  const auto* bytes = value.as<std::int64_t>();
  if (!bytes || !key.range.contains(static_cast<double>(*bytes)))
    wrong(value, path, "must be \"full\", \"off\" or a number of bytes, at least 1");
}

void Checker::client(const Value& value, const std::string& path) {
  Range range{0};
  if (clients_) range.high = static_cast<double>(*clients_ - 1);
  if (!value.as<std::int64_t>()) return wrong(value, path, "must be the number of a client, from 0");
  if (!range.contains(static_cast<double>(*value.as<std::int64_t>())))
    wrong(value, path, "must be a client: " + range.sentence().substr(8));
}

List* Checker::elements(Value& value, const std::string& path, std::string_view of, bool may_be_empty) {
  auto* list = value.as<List>();
  if (!list)
    wrong(value, path, "must be a list of " + std::string(of));
  else if (list->empty() && !may_be_empty)
    wrong(value, path, "must not be empty");
  return list && (may_be_empty || !list->empty()) ? list : nullptr;
}

void Checker::numbers(const Value& value, const Range& range, const std::string& path) {
  const auto& list = *value.as<List>();
  for (std::size_t i = 0; i < list.size(); ++i) is_number(list[i], range, place(path, i));
}

void Checker::one_per_client(const Value& value, std::string_view what, const std::string& path) {
  const std::size_t length = value.as<List>()->size();
  if (!clients_ || length == static_cast<std::size_t>(*clients_)) return;
  wrong(value, path,
        "has " + std::to_string(length) + ' ' + std::string(what) + ", must have one for each of the " + std::to_string(*clients_) +
            " clients");
}

void Checker::edge(const Value& value, const std::string& path) {
  const auto* ends = value.as<List>();
  if (!ends || ends->size() != 2) return wrong(value, path, "must be [source, target]");
  for (std::size_t i = 0; i < 2; ++i) client((*ends)[i], place(path, i));
  const auto *source = (*ends)[0].as<std::int64_t>(), *target = (*ends)[1].as<std::int64_t>();
  if (source && target && *source == *target) wrong(value, path, "must join two different clients");
}

void Checker::matrix(const Value& value, const Range& range, const std::string& path) {
  const auto* rows = elements(value, path, "rows");
  if (!rows) return;
  one_per_client(value, "rows", path);
  for (std::size_t i = 0; i < rows->size(); ++i) {
    if (!elements((*rows)[i], place(path, i), "numbers")) continue;
    one_per_client((*rows)[i], "numbers", place(path, i));
    numbers((*rows)[i], range, place(path, i));
  }
}

double number_in(const Value& value) {
  const auto* whole = value.as<std::int64_t>();
  return whole ? static_cast<double>(*whole) : value.as<double>() ? *value.as<double>() : 0;
}

bool descends(const Value& earlier, const Value& later) { return number_in(later) < number_in(earlier); }

void Checker::ticks(const Value& value, const Range& range, const std::string& path) {
  const auto* lists = elements(value, path, "lists of seconds");
  if (!lists) return;
  one_per_client(value, "lists", path);
  for (std::size_t i = 0; i < lists->size(); ++i) {
    const auto* list = elements(const_cast<Value&>((*lists)[i]), place(path, i), "seconds", true);
    if (!list) continue;
    numbers((*lists)[i], range, place(path, i));
    if (std::adjacent_find(list->begin(), list->end(), descends) != list->end()) wrong((*lists)[i], place(path, i), "must ascend");
  }
}

// "source and target": what an element needs where nothing is chosen.
std::string needed_in(std::string_view spec) {
  std::string names;
  for (const Key* key : keys_of(spec))
    if (!key->fallback && belongs(spec, *key, {}) == Belongs::yes) names += (names.empty() ? "" : " and ") + std::string(key->name);
  return names;
}

void Checker::tables(Value& value, std::string_view spec, const std::string& path) {
  const std::string with = needed_in(spec);
  auto* list = elements(value, path, "tables with " + with, true);
  if (!list) return;
  for (std::size_t i = 0; i < list->size(); ++i) {
    if (auto* element = (*list)[i].as<Table>())
      table(*element, std::string(spec), place(path, i), (*list)[i].line);
    else
      wrong((*list)[i], place(path, i), "must be a table with " + with);
  }
}

void Checker::law(Value& value, const Key& key, const std::string& path) {
  const std::string_view or_else = key.is_optional() ? ", a law, or \"none\"" : ", a list or a law";
  if (auto* inner = value.as<Table>()) return law_table(*inner, key, path, value.line);
  if (!value.as<List>()) return void(is_number(value, key.range, path, value.as<std::string>() ? or_else : ""));
  if (!elements(value, path, "numbers")) return;
  if (key.type == Type::per_client) one_per_client(value, "values", path);
  numbers(value, key.range, path);
}

void Checker::law_table(Table& law, const Key& key, const std::string& path, int line) {
  table(law, "law", path, line);
  const auto inside = [&](std::string_view name, const Range& range) {
    const Value* given = law.find(name);
    if (given && !faults_.has(dotted(path, name))) is_number(*given, range, dotted(path, name));
  };
  inside("value", key.range);
  for (std::string_view end : {"low", "high", "min"}) inside(end, key.range.closed());
  const Value *low = law.find("low"), *high = law.find("high"), *values = law.find("values");
  if (low && high && number_in(*high) < number_in(*low)) wrong(*high, dotted(path, "high"), "must be at least low");
  if (!values || !values->as<List>() || values->as<List>()->empty()) return;
  if (key.type == Type::per_client) one_per_client(*values, "values", dotted(path, "values"));
  if (!faults_.has(dotted(path, "values"))) numbers(*values, key.range, dotted(path, "values"));
}

std::optional<std::int64_t> client_count(const Table& root) {
  const Value* clients = root.find("clients");
  const Value* count = clients && clients->as<Table>() ? clients->as<Table>()->find("count") : nullptr;
  const auto* number = count ? count->as<std::int64_t>() : nullptr;
  const bool is_usable = number && find_key("clients", "count")->range.contains(static_cast<double>(*number));
  return is_usable ? std::optional(*number) : std::nullopt;
}

}  // namespace

void Faults::add(int line, std::string key, std::string value, std::string allowed, std::string suggestion) {
  if (is_full()) return void(++dropped_);
  const bool is_command = line == Value::by_command;
  faults_.push_back({is_command ? "--set" : file_, is_command ? 0 : line, std::move(key), std::move(value), std::move(allowed),
                     std::move(suggestion)});
}

void Faults::add(const Value& value, std::string key, std::string allowed, std::string suggestion) {
  add(value.line, std::move(key), to_shown(value), std::move(allowed), std::move(suggestion));
}

bool Faults::has(std::string_view key) const {
  return std::any_of(faults_.begin(), faults_.end(), [&](const Fault& fault) {
    if (fault.key.compare(0, key.size(), key) != 0) return false;
    return fault.key.size() == key.size() || fault.key[key.size()] == '.' || fault.key[key.size()] == '[';
  });
}

std::vector<Fault> Faults::sorted() const {
  std::vector<Fault> sorted = faults_;
  const auto rank = [](const Fault& fault) { return static_cast<unsigned>(fault.line) - 1; };  // no line: the largest
  std::stable_sort(sorted.begin(), sorted.end(), [&](const Fault& a, const Fault& b) { return rank(a) < rank(b); });
  if (dropped_ > 0) sorted.push_back({file_, 0, "", "", "and " + std::to_string(dropped_) + " more faults", ""});
  return sorted;
}

std::string dotted(std::string_view path, std::string_view name) {
  return path.empty() ? std::string(name) : std::string(path) + '.' + std::string(name);
}

std::string nearest(std::string_view word, const std::vector<std::string_view>& known) {
  if (word.size() > 64) return {};
  std::size_t fewest = std::max<std::size_t>(2, (word.size() + 2) / 3) + 1;
  std::string_view best;
  for (std::string_view candidate : known) {
    const std::size_t needed = edits(word, candidate);
    if (needed < std::min(fewest, std::max(word.size(), candidate.size()))) fewest = needed, best = candidate;
  }
  return std::string(best);
}

void check_churn_file(Table& lines, const Table& experiment, const std::filesystem::path& folder, Faults& faults) {
  for (const Entry& entry : lines.entries)
    if (entry.name != "events" && entry.name != "random")
      faults.add(entry.value, entry.name, "is not a key of a churn file; it may have events and random");
  Checker(folder, client_count(experiment), faults).table(lines, "churn", "", 0);
}

void check_experiment(Table& root, const std::filesystem::path& folder, Faults& faults) {
  Checker(folder, client_count(root), faults).table(root, "", "", 0);
  check_relations(root, faults);
}

}  // namespace rubato::config
