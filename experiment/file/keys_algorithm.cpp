// The keys of [algorithm]: those of every algorithm here, options from the catalogue.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "algos/catalogue.hpp"
#include "experiment/file/fields.hpp"
#include "experiment/file/parse.hpp"

namespace rubato::config {

namespace {

// In the order of OptionType.
constexpr std::array option_types{Type::numbers_or_one, Type::integer, Type::boolean, Type::choice, Type::text};

Type type_of(OptionType type) { return option_types[static_cast<std::size_t>(type)]; }

bool is_same(const OptionSpec& a, const OptionSpec& b) {
  return a.name == b.name && a.type == b.type && a.fallback == b.fallback && a.meaning == b.meaning && a.low == b.low &&
         a.high == b.high && a.low_is_out == b.low_is_out && a.high_is_out == b.high_is_out && a.choices == b.choices;
}

AlgorithmOptions::Value option_of(const Value& value, Type type) {
  const auto* whole = value.as<std::int64_t>();
  if (whole && type == Type::numbers_or_one) return static_cast<double>(*whole);
  if (whole) return *whole;
  if (const auto* number = value.as<double>()) return *number;
  if (const auto* flag = value.as<bool>()) return *flag;
  if (const auto* word = value.as<std::string>()) return *word;  // of a choice, or one that stands for a number
  std::vector<double> numbers;
  Convert::read(value, numbers);
  return numbers;
}

Value default_of(const OptionSpec& spec) {
  if (spec.type == OptionType::word || spec.type == OptionType::text) return {std::string(spec.fallback)};
  return std::get<Value>(parse_value(spec.fallback, Value::by_default));
}

// Algorithms have options of one name and of unlike types, and a key of another meaning may have the name of an option: nothing
// where the algorithm has no such option. `otherwise`: of a program's own algorithm.
std::optional<Type> type_in(std::string_view algorithm, std::string_view option, Type otherwise) {
  if (std::ranges::find(shared_options, option, &OptionSpec::name) != std::end(shared_options)) return otherwise;
  for (const CatalogueEntry* entry : catalogue()) {
    if (entry->name != algorithm) continue;
    const auto spec = std::ranges::find(entry->options, option, &OptionSpec::name);
    return spec != entry->options.end() ? std::optional(type_of(spec->type)) : std::nullopt;
  }
  return otherwise;
}

Field<Algorithm> row_of(const OptionSpec& spec) {
  Field<Algorithm> row;
  row.table = "algorithm";
  row.name = spec.name;
  row.type = type_of(spec.type);
  row.fallback = default_of(spec);
  row.meaning = spec.meaning;
  row.range = {spec.low, spec.high, spec.low_is_out, spec.high_is_out};
  row.choices = spec.choices;
  row.is_option = true;
  row.read = [name = std::string(spec.name), type = row.type](const Value& value, Algorithm& algorithm) {
    if (const auto own = type_in(algorithm.name, name, type)) algorithm.options.set(name, option_of(value, *own));
  };
  return row;
}

// One row for each option, naming all algorithms that have it just so.
void add_options(std::vector<Field<Algorithm>>& rows) {
  std::vector<const OptionSpec*> specs;
  const std::size_t first = rows.size();
  for (const CatalogueEntry* entry : catalogue())
    for (const OptionSpec& spec : entry->options) {
      const auto same = std::ranges::find_if(specs, [&](const OptionSpec* other) { return is_same(*other, spec); });
      const auto place = first + static_cast<std::size_t>(same - specs.begin());
      if (same == specs.end()) specs.push_back(&spec), rows.push_back(row_of(spec));
      rows[place].when += fmt::format("{}{}", rows[place].when.empty() ? "name=" : "|", entry->name);
    }
}

std::string all_names() {
  std::string names;
  for (const CatalogueEntry* entry : catalogue()) names.append(names.empty() ? "" : "|").append(entry->name);
  return names;
}

}  // namespace

void describe(Rows<Algorithm>& rows) {
  rows.table = "algorithm";
  rows.required("name", &Algorithm::name, "the algorithm").as(Type::choice).one_of(all_names());
  for (const OptionSpec& spec : shared_options) rows.all.push_back(row_of(spec));
  add_options(rows.all);
  rows.key("q", &Algorithm::q, "weights: 1/in-degree of the receiver, 1/out-degree of the sender, 1/size of the batch, or q_matrix")
      .with("name=draco");
  rows.required("q_matrix", &Algorithm::q_matrix, "weights [receiver][sender]").with("q=explicit");
  rows.only_with("name=draco");
  rows.key("snapshot", &Algorithm::snapshot,
           "the model a computation starts from: held when its tick fires, or at the tick before");
  rows.key("retain_on_loss", &Algorithm::retain_on_loss, "an increment that was not acknowledged goes back to the outbox");
}

template <>
const Rows<Algorithm>& rows_of<Algorithm>() {
  static OfCatalogue<Rows<Algorithm>> rows;
  return rows.get([] {
    Rows<Algorithm> all;
    describe(all);
    return all;
  });
}

Value Convert::write(const Algorithm& algorithm) {
  Value value = write_struct(algorithm);
  const auto put = [&](std::string_view name, const AlgorithmOptions::Value& option) {
    value.as<Table>()->set(name, std::visit([](const auto& content) { return write(content); }, option));
  };
  const auto put_defaults = [&](std::span<const OptionSpec> specs) {
    for (const OptionSpec& spec : specs) put(spec.name, option_of(default_of(spec), type_of(spec.type)));
  };
  put_defaults(shared_options);  // a program may leave options at their defaults
  for (const CatalogueEntry* entry : catalogue())
    if (entry->name == algorithm.name) put_defaults(entry->options);
  for (const auto& [name, option] : algorithm.options.all()) put(name, option);
  return value;
}

}  // namespace rubato::config
