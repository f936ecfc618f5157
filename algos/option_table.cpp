#include "algos/option_table.hpp"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>
#include <sstream>

namespace rubato {

namespace {

constexpr double technical = 1e6;  // limits from here on keep slips out; they are not worth a word

bool is_within(const OptionSpec& spec, double value) {
  return (spec.low_is_out ? value > spec.low : value >= spec.low) && (spec.high_is_out ? value < spec.high : value <= spec.high);
}

std::string limits_of(const OptionSpec& spec, double value) {
  std::ostringstream text;
  text << "must be " << (spec.low_is_out ? "greater than " : "at least ") << spec.low;
  if (spec.high < technical || value > spec.low) text << " and " << (spec.high_is_out ? "less than " : "at most ") << spec.high;
  return text.str();
}

// Of "a|b".
std::size_t count_of(std::string_view choices) { return static_cast<std::size_t>(std::ranges::count(choices, '|')) + 1; }

std::string words_of(std::string_view choices) {
  const std::size_t count = count_of(choices);
  std::string text = "must be ";
  for (std::size_t i = 0; i < count; ++i)
    text += (i == 0 ? "\"" : i + 1 == count ? " or \"" : ", \"") + std::string(word_at(choices, i)) + '"';
  return text;
}

}  // namespace

const OptionSpec& OptionReader::spec_of(const std::string& name) const {
  const auto found = std::ranges::find(table_, name, &OptionSpec::name);
  assert(found != table_.end() && "an option that is read stands in the table");
  return *found;
}

double OptionReader::fallback_of(const std::string& name) const {
  const std::string_view text = spec_of(name).fallback;
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

double OptionReader::checked(const OptionSpec& spec, double value) {
  if (!is_within(spec, value)) refuse_option(std::string(spec.name), value, limits_of(spec, value));
  return value;
}

std::vector<double> OptionReader::numbers(const std::string& name) const {
  std::vector<double> values = given_.numbers(name, fallback_of(name));
  for (const double value : values) checked(spec_of(name), value);
  return values;
}

std::vector<double> OptionReader::wholes(const std::string& name) const {
  std::vector<double> values = numbers(name);
  for (const double value : values)
    if (value != std::floor(value)) refuse_option(name, value, "must be a whole number");
  return values;
}

std::uint64_t OptionReader::whole(const std::string& name) const {
  const OptionSpec& spec = spec_of(name);
  const std::int64_t value = given_.whole(name, static_cast<std::int64_t>(fallback_of(name)));
  const auto number = static_cast<double>(value);
  if (!is_within(spec, number)) refuse_option(name, std::to_string(value), limits_of(spec, number));
  return static_cast<std::uint64_t>(value);
}

std::string OptionReader::word(const std::string& name) const {
  const OptionSpec& spec = spec_of(name);
  const std::string word = given_.word(name, std::string(spec.fallback));
  for (std::size_t i = 0; i < count_of(spec.choices); ++i)
    if (word_at(spec.choices, i) == word) return word;
  refuse_option(name, '"' + word + '"', words_of(spec.choices));
}

std::uint64_t local_batches_of(const AlgorithmOptions& options) {
  return OptionReader(options, shared_options).whole("local_batches");
}

StepSize::StepSize(const OptionReader& options, const std::string& name)
    : eta_{options.numbers(name)}, offset_{options.is("step", "diminishing") ? options.number("step_offset") : 0} {}

}  // namespace rubato
