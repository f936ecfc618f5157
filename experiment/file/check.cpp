#include "experiment/file/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <system_error>
#include <utility>

namespace rubato::config {

namespace {

std::string listed(std::string_view choices) { return fmt::format("{}", fmt::join(words_of(choices), ", ")); }

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

// A slip of the pen here, then the same word in every table, where a key may be meant to stand, then what is like it here.
std::string meant_instead(std::string_view name, std::string_view spec) {
  std::vector<std::string_view> here;
  for (const Key* key : keys_of(spec)) here.push_back(key->name);
  std::string near = nearest(name, here);
  if (!near.empty() && edits(name, near) == 1) return near;
  for (const Key& key : all_keys())
    if (key.name == name && table_at(key.table)) return dotted(key.table, name);
  return near;
}

double number_in(const Value& value) {
  const auto* whole = value.as<std::int64_t>();
  const auto* real = value.as<double>();
  return whole ? static_cast<double>(*whole) : real ? *real : std::numeric_limits<double>::quiet_NaN();
}

// "source and target": what an element needs where nothing is chosen.
std::string needed_in(std::string_view spec) {
  std::vector<std::string_view> names;
  for (const Key* key : keys_of(spec))
    if (!key->fallback && belongs(spec, *key, {}) == Belongs::yes) names.push_back(key->name);
  return fmt::format("{}", fmt::join(names, " and "));
}

std::optional<std::int64_t> client_count(Table& root) {
  const Value* count = place_of(root, "clients.count").value;
  const auto* number = count ? count->as<std::int64_t>() : nullptr;
  const bool is_usable = number && find_key("clients", "count")->range.contains(static_cast<double>(*number));
  return is_usable ? std::optional(*number) : std::nullopt;
}

// The walk over one experiment: the tree, the faults so far, and what lengths are measured with.
class Checker {
 public:
  Checker(const std::filesystem::path& folder, std::optional<std::int64_t> clients, Faults& faults)
      : folder_{folder}, clients_{clients}, faults_{faults} {}

  /// `spec` is the path in the table of keys, `path` the one in the file: "law" and "channel.delay".
  void table(Table& table, std::string_view spec, const std::string& path, int line) {
    for (const Key* known : keys_of(spec)) key(table, *known, spec, path, line);
    for (const Entry& entry : table.entries)
      if (!find_key(spec, entry.name)) unknown(entry, spec, path);
  }

 private:
  void wrong(const Value& value, const std::string& path, std::string allowed) {
    add_fault(faults_, value, path, std::move(allowed));
  }

  // Looks at the elements of a list with their paths; a fault where it is none, or is empty and must not be.
  template <class Look>
  void each(Value& value, const std::string& path, std::string_view of, bool may_be_empty, Look look) {
    auto* list = value.as<List>();
    if (!list) return wrong(value, path, fmt::format("must be a list of {}", of));
    if (list->empty() && !may_be_empty) return wrong(value, path, "must not be empty");
    for (std::size_t i = 0; i < list->size(); ++i) look((*list)[i], fmt::format("{}[{}]", path, i));
  }

  void key(Table& table, const Key& key, std::string_view spec, const std::string& path, int line) {
    const Belongs known = belongs(spec, key, table);
    Value* given = table.find(key.name);
    const std::string own_path = dotted(path, key.name);
    if (!given && known == Belongs::yes) return absent(table, key, path, line);
    if (!given) return;
    if (known == Belongs::no && &key != find_key(spec, key.name, table)) return;  // another key of this name is meant
    if (known == Belongs::no) return stranger(*given, key, spec, table, own_path);
    value(*given, key, own_path);
  }

  void absent(Table& table, const Key& key, const std::string& path, int line) {
    if (key.is_optional()) return;
    const std::string own_path = dotted(path, key.name);
    if (!key.fallback) return faults_.add(line, own_path, "", "must be set: " + std::string(key.meaning));
    Value& filled = table.set(key.name, *key.fallback);
    if (key.type == Type::table) value(filled, key, own_path);
  }

  void stranger(const Value& value, const Key& key, std::string_view spec, const Table& table, const std::string& path) {
    const Condition condition = condition_of(key);
    const Key& selector = *find_key(spec, condition.selector);
    const Value* given = table.find(condition.selector);
    const std::string chosen = to_toml(given ? *given : *selector.fallback);
    add_fault(faults_, value, path,
              fmt::format("is not a key of {} = {}; it belongs to {}{}", condition.selector, chosen,
                          condition.is_negated ? "every other than " : "", listed(homes_of(key, condition))));
  }

  // All choices that know a key of this name, also with another meaning.
  static std::string homes_of(const Key& key, const Condition& condition) {
    std::string homes(condition.choices);
    for (const Key& other : all_keys()) {
      if (&other == &key || condition.is_negated || other.table != key.table || other.name != key.name) continue;
      const Condition same = condition_of(other);
      if (same.selector == condition.selector && !same.is_negated) homes.append("|").append(same.choices);
    }
    return homes;
  }

  void unknown(const Entry& entry, std::string_view spec, const std::string& path) {
    if (faults_.is_full()) return faults_.add(0, "", "", "");
    const std::string where = path.empty() ? "the experiment file" : path;
    add_fault(faults_, entry.value, dotted(path, entry.name), "is not a key of " + where, meant_instead(entry.name, spec));
  }

  void value(Value& value, const Key& key, const std::string& path) {
    if (key.is_optional() && value.is_text("none")) return;
    const std::string_view or_none = key.is_optional() ? ", or \"none\"" : "";
    switch (key.type) {
      case Type::boolean:
        if (!value.as<bool>()) wrong(value, path, "must be true or false");
        break;
      case Type::integer:
        if (value.as<std::string>() && !key.choices.empty()) return choice(value, key, path, "must be a whole number, or");
        return integer(value, key.range, path, or_none);
      case Type::number:
        return number(value, key.range, path, or_none);
      case Type::text:
        return text(value, path, false);
      case Type::choice:
        return choice(value, key, path);
      case Type::file:
        return file(value, path);
      case Type::size:
        if (const auto* bytes = value.as<std::int64_t>();
            !value.is_text("full") && !value.is_text("off") && (!bytes || !key.range.contains(static_cast<double>(*bytes))))
          wrong(value, path, "must be \"full\", \"off\" or a number of bytes, at least 1");
        break;
      case Type::integers:
        return each(value, path, "whole numbers", true, [&](Value& one, const std::string& at) { integer(one, key.range, at); });
      case Type::texts:
        return each(value, path, "texts", false, [&](Value& one, const std::string& at) { text(one, at, true); });
      case Type::client:
        return client(value, path);
      case Type::clients:
        return clients(value, path);
      case Type::edges:
        return edges(value, path, false);
      case Type::edge_lists:
        return each(value, path, "lists of edges", true, [&](Value& list, const std::string& at) { edges(list, at, true); });
      case Type::matrix:
        one_per_client(value, "rows", path);
        return each(value, path, "rows", false, [&](Value& row, const std::string& at) {
          one_per_client(row, "numbers", at);
          numbers(row, key.range, at);
        });
      case Type::ticks:
        return ticks(value, key.range, path);
      case Type::tables:
        return tables(value, key.element, path);
      case Type::groups:
        return each(value, path, "lists of clients", false, [&](Value& group, const std::string& at) { clients(group, at); });
      case Type::law:
      case Type::per_client:
        return law(value, key, path);
      case Type::numbers_or_one:
        if (!value.as<List>())
          return number(value, key.range, path, value.as<std::string>() ? ", or a list with one for each client" : "");
        one_per_client(value, "values", path);
        return numbers(value, key.range, path);
      case Type::numbers:
        return numbers(value, key.range, path);
      case Type::table:
        if (auto* inner = value.as<Table>())
          table(*inner, *table_at(path), path, value.line);
        else
          wrong(value, path, fmt::format("must be a table, such as [{}]", path));
        break;
    }
  }

  void number(const Value& value, const Range& range, const std::string& path, std::string_view or_else = {}) {
    const double number = number_in(value);
    if (range.contains(number) && std::isfinite(number)) return;
    wrong(value, path, fmt::format("{}{}", std::isfinite(number) ? range.sentence() : "must be a finite number", or_else));
  }

  void integer(const Value& value, const Range& range, const std::string& path, std::string_view or_else = {}) {
    const auto* number = value.as<std::int64_t>();
    if (number && range.contains(static_cast<double>(*number))) return;
    wrong(value, path, fmt::format("{}{}", number ? range.sentence() : "must be a whole number", or_else));
  }

  void text(const Value& value, const std::string& path, bool may_be_empty) {
    if (!value.as<std::string>() || (!may_be_empty && value.is_text(""))) wrong(value, path, "must be a text in quotes");
  }

  void choice(const Value& value, const Key& key, const std::string& path, std::string_view allowed = "must be one of") {
    const auto* word = value.as<std::string>();
    if (word && is_word_of(key.choices, *word)) return;
    const std::string meant = word ? nearest(*word, words_of(key.choices)) : "";
    add_fault(faults_, value, path, fmt::format("{} {}", allowed, listed(key.choices)), meant);
  }

  void file(Value& value, const std::string& path) {
    auto* name = value.as<std::string>();
    if (!name || name->empty() || name->find('\0') != name->npos)
      return wrong(value, path, "must be the name of a file, in quotes");
    const auto absolute = (folder_ / *name).lexically_normal();
    std::error_code error;
    const auto status = std::filesystem::status(absolute, error);
    if (!std::filesystem::exists(status))
      wrong(value, path, fmt::format("there is no file {}", absolute.string()));
    else if (std::filesystem::is_directory(status))
      wrong(value, path, "is a folder, not a file");
    *name = absolute.string();
  }

  void client(const Value& value, const std::string& path) {
    Range range{0};
    if (clients_) range.high = static_cast<double>(*clients_ - 1);
    const auto* number = value.as<std::int64_t>();
    if (!number) return wrong(value, path, "must be the number of a client, from 0");
    if (!range.contains(static_cast<double>(*number)))
      wrong(value, path, fmt::format("must be a client: {}", range.sentence().substr(8)));
  }

  void clients(Value& value, const std::string& path) {
    each(value, path, "clients", false, [&](Value& one, const std::string& at) { client(one, at); });
  }

  void numbers(Value& value, const Range& range, const std::string& path, bool may_be_empty = false) {
    each(value, path, may_be_empty ? "seconds" : "numbers", may_be_empty,
         [&](Value& one, const std::string& at) { number(one, range, at); });
  }

  // What is no list, or is empty, gets its fault from `each`.
  void one_per_client(const Value& value, std::string_view what, const std::string& path) {
    const auto* list = value.as<List>();
    if (!clients_ || !list || list->empty() || list->size() == static_cast<std::size_t>(*clients_)) return;
    wrong(value, path, fmt::format("has {} {}, must have one for each of the {} clients", list->size(), what, *clients_));
  }

  void edge(Value& value, const std::string& path) {
    const auto* ends = value.as<List>();
    if (!ends || ends->size() != 2) return wrong(value, path, "must be [source, target]");
    clients(value, path);
    const auto *source = (*ends)[0].as<std::int64_t>(), *target = (*ends)[1].as<std::int64_t>();
    if (source && target && *source == *target) wrong(value, path, "must join two different clients");
  }

  void edges(Value& value, const std::string& path, bool may_be_empty) {
    each(value, path, "[source, target]", may_be_empty, [&](Value& one, const std::string& at) { edge(one, at); });
  }

  void ticks(Value& value, const Range& range, const std::string& path) {
    one_per_client(value, "lists", path);
    each(value, path, "lists of seconds", false, [&](Value& list, const std::string& at) {
      numbers(list, range, at, true);
      if (list.as<List>() && std::ranges::adjacent_find(*list.as<List>(), std::greater{}, number_in) != list.as<List>()->end())
        wrong(list, at, "must ascend");
    });
  }

  void tables(Value& value, std::string_view spec, const std::string& path) {
    const std::string kind = "tables with " + needed_in(spec);
    each(value, path, kind, true, [&](Value& element, const std::string& at) {
      if (auto* inner = element.as<Table>())
        table(*inner, spec, at, element.line);
      else
        wrong(element, at, fmt::format("must be a table with {}", needed_in(spec)));
    });
  }

  void law(Value& value, const Key& key, const std::string& path) {
    const std::string_view or_else = key.is_optional() ? ", a law, or \"none\"" : ", a list or a law";
    if (auto* inner = value.as<Table>()) return law_table(*inner, key, path, value.line);
    if (!value.as<List>()) return number(value, key.range, path, value.as<std::string>() ? or_else : "");
    if (key.type == Type::per_client) one_per_client(value, "values", path);
    numbers(value, key.range, path);
  }

  void law_table(Table& law, const Key& key, const std::string& path, int line) {
    table(law, "law", path, line);
    const auto inside = [&](std::string_view name, const Range& range) {
      const Value* given = law.find(name);
      if (given && !faults_.has(dotted(path, name))) number(*given, range, dotted(path, name));
    };
    inside("value", key.range);
    for (std::string_view end : {"low", "high", "min"}) inside(end, key.range.closed());
    const Value *low = law.find("low"), *high = law.find("high");
    if (low && high && number_in(*high) < number_in(*low)) wrong(*high, dotted(path, "high"), "must be at least low");
    Value* values = law.find("values");
    const std::string of_values = dotted(path, "values");
    if (!values || faults_.has(of_values)) return;
    if (key.type == Type::per_client) one_per_client(*values, "values", of_values);
    numbers(*values, key.range, of_values);
  }

  const std::filesystem::path& folder_;
  std::optional<std::int64_t> clients_;  // nothing where the file does not say it properly
  Faults& faults_;
};

}  // namespace

void add_fault(Faults& faults, const Value& value, std::string key, std::string allowed, std::string suggestion) {
  faults.add(value.line, std::move(key), to_shown(value), std::move(allowed), std::move(suggestion));
}

int line_of(Table& root, std::string_view path) {
  const Value* value = place_of(root, path).value;
  if (value && value->line != Value::by_default) return value->line;
  const std::size_t cut = path.find_last_of(".[");
  return cut == path.npos ? Value::by_default : line_of(root, path.substr(0, cut));
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

void check_churn_file(Table& lines, Table& experiment, const std::filesystem::path& folder, Faults& faults) {
  for (const Entry& entry : lines.entries)
    if (entry.name != "events" && entry.name != "random")
      add_fault(faults, entry.value, entry.name, "is not a key of a churn file; it may have events and random");
  Checker(folder, client_count(experiment), faults).table(lines, "churn", "", 0);
}

void check_experiment(Table& root, const std::filesystem::path& folder, Faults& faults) {
  Checker(folder, client_count(root), faults).table(root, "", "", 0);
}

}  // namespace rubato::config
