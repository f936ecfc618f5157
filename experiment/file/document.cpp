#include <fmt/format.h>

#include <array>

#include "experiment/file/experiment_file.hpp"
#include "experiment/file/keys.hpp"

namespace rubato::config {

namespace {

// A list of lists or tables: one element a line.
std::string in_rows(const Value& value) {
  const auto* list = value.as<List>();
  const bool has_rows = list && !list->empty() && (list->front().as<List>() || list->front().as<Table>());
  if (!has_rows) return to_toml(value);
  std::string text = "[\n";
  for (const Value& row : *list) text += "  " + to_toml(row) + ",\n";
  return text + "]";
}

Value chosen(const Value& value, const Key& key, std::string_view path);

Table chosen_in(const Table& table, std::string_view path, bool is_element) {
  Table kept;
  for (const Key* key : keys_of(path)) {
    const Value* value = table.find(key->name);
    const bool is_absent = !value || (is_element && value->is_text("none")) || (!key->fallback && value->is_text(""));
    if (!is_absent && !kept.find(key->name) && belongs(path, *key, kept) == Belongs::yes)
      kept.entries.push_back({std::string(key->name), chosen(*value, *key, path)});
  }
  return kept;
}

Value chosen(const Value& value, const Key& key, std::string_view path) {
  const bool is_law = key.type == Type::law || key.type == Type::per_client;
  if (is_law && value.as<Table>()) return {chosen_in(*value.as<Table>(), "law", false)};
  if (key.type == Type::table) return {chosen_in(*value.as<Table>(), dotted(path, key.name), false)};
  if (key.type != Type::tables) return value;
  List kept;
  for (const Value& element : *value.as<List>()) kept.push_back({chosen_in(*element.as<Table>(), key.element, true)});
  return {std::move(kept)};
}

void write_table(const Table& table, const std::string& path, std::string& out) {
  if (!path.empty()) out += "\n[" + path + "]\n";
  for (const Entry& entry : table.entries)
    if (find_key(path, entry.name)->type != Type::table) out += entry.name + " = " + in_rows(entry.value) + '\n';
  for (const Entry& entry : table.entries)
    if (find_key(path, entry.name)->type == Type::table) write_table(*entry.value.as<Table>(), dotted(path, entry.name), out);
}

// "a, b", each in quotes of this kind.
std::string listed(std::string_view choices, std::string_view quote) {
  return choices.empty() ? "" : fmt::format("{0}{1}{0}", quote, fmt::join(words_of(choices), fmt::format("{0}, {0}", quote)));
}

// In the order of Type.
constexpr std::string_view type_words =
    "true or false|whole number|number|text|choice|file|full, off or bytes|list of whole numbers|list of texts|client|"
    "list of clients|list of [source, target]|lists of edges|list of rows|lists of seconds|list of tables|lists of clients|"
    "number or law|number, list or law|table|list of numbers|number, or list";

std::string type_text(const Key& key) {
  if (key.type != Type::tables) return std::string(words_of(type_words)[static_cast<std::size_t>(key.type)]);
  return fmt::format("list of {}s", key.element == "device" ? "classe" : key.element);
}

std::string fallback_text(const Key& key) {
  if (key.type == Type::table) return "";
  return key.fallback ? to_toml(*key.fallback) : "must be set";
}

// "one of a, b", "must be at least 1", for `law = gamma`; whatever applies.
std::string rule_text(const Key& key, std::string_view quote) {
  std::string text;
  if (key.type == Type::choice) text += "; one of " + listed(key.choices, quote);
  if (key.type == Type::integer && !key.choices.empty()) text += "; or " + listed(key.choices, quote);
  if (key.range.sentence() != Range{}.sentence()) text += "; " + key.range.sentence();
  const Condition only = condition_of(key);
  if (key.when.empty()) return text;
  return fmt::format("{}; only with {}{} {}", text, only.selector, only.is_negated ? " other than" : "",
                     listed(only.choices, quote));
}

struct Section {
  std::string_view table;
  std::string_view title;
  std::string_view words;
};

constexpr std::array sections{
    Section{"", "Top level", "Keys before the first table."},
    Section{"clients", "[clients]", "How many clients there are, and when they compute and send."},
    Section{"clients.compute", "[clients.compute]", "The timer of local computations: a law from [Timers](#timers) and its keys."},
    Section{"clients.transmit", "[clients.transmit]", "The timer of transmissions: a law from [Timers](#timers) and its keys."},
    Section{"timer", "Timers",
            "The keys that `[clients.compute]` and `[clients.transmit]` share. A rate, period, phase, min, shape, mean "
            "or sigma is one number for all clients, a list with one for each, or a [law](#laws) from which each "
            "client's is drawn once."},
    Section{"device", "[[clients.classes]]", "A kind of device."},
    Section{"topology", "[topology]", "Which clients can send to which."},
    Section{"channel", "[channel]", "How long messages take and which are lost."},
    Section{"link", "[[channel.links]]", "One directed link that differs from the channel."},
    Section{"churn", "[churn]",
            "Which clients join, leave, crash and are cut off, and when. All are there from the start, but "
            "for those whose first event is a join."},
    Section{"event", "[[churn.events]]", "One line of the script."},
    Section{"absence", "[[churn.random]]", "Clients that are there and away in turn; it leaves those alone that the script names."},
    Section{"mailbox", "[mailbox]", "What a receiver accepts and when it merges."},
    Section{"unification", "[unification]", "The instants at which all adopt the model of one."},
    Section{"protocol", "[protocol]", "When clients act."},
    Section{"algorithm", "[algorithm]", "What they do with models."},
    Section{"data", "[data]", "What they learn from."},
    Section{"data.partition", "[data.partition]", "How rows are dealt to clients."},
    Section{"model", "[model]", "What they learn."},
    Section{"metrics", "[metrics]",
            "What is measured and how often. Where nothing is said samples are taken at the start, at every hundredth of the run "
            "and at its end, "
            "of at most 256 clients on at most 2000 test rows; less often where they would cost more than a tenth of the run, by a "
            "count of "
            "the work that both take: the same on every machine."},
    Section{"metrics.stop", "[metrics.stop]",
            "A rule that ends the run: at one sample, on any number of threads, and over hosts in virtual time on all of them. "
            "`stop = { metric = \"objective\", window = 3, below = 1e-3 }` in [metrics] says it in a line."},
    Section{
        "theory", "[theory]",
        "What theorems assume of the losses and nothing in this file says. `rubato topology` puts it into the conditions of the "
        "algorithm's paper; a run does not look at it."},
    Section{"energy", "[energy]",
            "What clients spend on computing and on sending: power times the time on the air, and so much a "
            "computation. Without costs nothing is counted."},
    Section{"budget", "[budget]", "What a run may spend in a comparison. `rubato run` does not look at it."},
    Section{"limits", "[limits]", "How far the timing may run ahead of the arithmetic."},
    Section{"host", "[[roster]]", "One host of a run over several. `rubato keygen` makes a key and shows the lines to paste."},
    Section{"hosts", "[hosts]", "How the hosts of a run get on with each other. Seconds here are real ones."},
    Section{"impaired", "[impaired]",
            "What is done to messages between hosts, on top of what the network does to them: for trials."},
    Section{"law", "Laws",
            "Where a number may be drawn, a table `{ law = \"exponential\", mean = 0.05 }` says how. A plain number is "
            "`constant`, a list is `list`."},
};

std::string key_line(const Key& key) {
  return fmt::format("{:<29} {:<21} {:<18} {}{}\n", "  " + dotted(key.table, key.name), type_text(key), fallback_text(key),
                     key.meaning, rule_text(key, ""));
}

std::string key_row(const Key& key) {
  const std::string_view quote = !key.fallback || key.type == Type::table ? "" : "`";
  return fmt::format("| `{}` | {} | {}{}{} | {}{} |\n", key.name, type_text(key), quote, fallback_text(key), quote, key.meaning,
                     rule_text(key, "`"));
}

constexpr std::string_view host_info = R"(# The experiment file

<!-- Made from the table of keys in experiment/file/keys_*.cpp: change it there, then run RUBATO_WRITE_DOCS=1 tests/test_experiment. -->

An experiment is one [TOML](https://toml.io) file of at most 16 MB. These keys must be set; every other has a default:

```toml
until = 100.0

[clients]
count = 25

[algorithm]
name = "draco"

[data]
name = "digits"

[model]
name = "softmax"
```

Reading is strict. An unknown key, a wrong type, a number out of range, a list of the wrong length, a key that the chosen
kind does not know: each is a fault, all faults are reported at once with file, line, key, value and what is allowed, and
nothing runs. Times are in seconds, rates per second. Clients are counted from 0. Paths are relative to the folder of
the experiment file. `"none"` stands for what is absent.

`--set key=value` lays a value over the file: `--set algorithm.eta=0.1`, `--set name=trial` (a bare word is a text),
`--set mailbox.deadline=none`. Setting a choice (`topology.kind`, `clients.compute.law`, `algorithm.name`, ...) to another
one replaces it: keys of its table that the new choice does not know are dropped and named on standard error, and what the
new choice needs beyond its defaults must be set. A run folder holds the complete file, defaults filled in.
)";

}  // namespace

// A model of own learners has no name by which keys could be chosen: what counts of it is its batch.
Table chosen_in(const Table& root) {
  Table kept = chosen_in(root, "", false);
  Value* const model = kept.find("model");
  if (!model || model->as<Table>()->find("name")) return kept;
  if (const Value* batch = root.find("model")->as<Table>()->find("batch")) model->as<Table>()->set("batch", *batch);
  return kept;
}

std::string to_document(const Table& root) {
  std::string out;
  write_table(chosen_in(root), "", out);
  return out;
}

std::string describe_keys() {
  std::string text;
  for (const Section& section : sections) {
    if (!text.empty()) text += '\n';
    text.append(section.title) += '\n';
    for (const Key& key : all_keys())
      if (key.table == section.table) text += key_line(key);
  }
  return text;
}

std::vector<KeyInfo> key_list() {
  std::vector<KeyInfo> list;
  for (const Key& key : all_keys()) {
    const std::string rule = rule_text(key, "");
    KeyInfo info{std::string(key.table),
                 std::string(key.name),
                 type_text(key),
                 fallback_text(key),
                 std::string(key.meaning),
                 rule.empty() ? rule : rule.substr(2),
                 {}};  // without "; "
    for (const std::string_view word : words_of(key.choices)) info.words.emplace_back(word);
    list.push_back(std::move(info));
  }
  return list;
}

std::vector<TableInfo> table_list() {
  std::vector<TableInfo> list;
  for (const Section& section : sections)
    list.push_back({std::string(section.table), std::string(section.title), std::string(section.words)});
  return list;
}

std::string experiment_file_document() {
  std::string text(host_info);
  for (const Section& section : sections) {
    text += fmt::format("\n## {}\n\n{}\n\n", section.title, section.words);
    text += "| key | type | default | meaning |\n| --- | --- | --- | --- |\n";
    for (const Key& key : all_keys())
      if (key.table == section.table) text += key_row(key);
  }
  return text;
}

}  // namespace rubato::config
