#include "learning/data/readers.hpp"

#include <algorithm>
#include <cmath>

#include "learning/data/line_reader.hpp"
#include "runtime/number_from.hpp"

namespace rubato {

namespace {

constexpr std::size_t most_features = std::size_t{1} << 28;

std::string_view next_word(std::string_view& text) {
  text = trimmed(text);
  const std::size_t length = std::min(text.find_first_of(" \t"), text.size());
  const std::string_view word = text.substr(0, length);
  text.remove_prefix(length);
  return word;
}

double finite_number(const LineReader& lines, std::string_view word, const char* what) {
  const auto number = number_in(word);
  if (!number || !std::isfinite(*number)) lines.fail(shown(word) + " stands where " + what + " belongs");
  return *number;
}

std::size_t index_of(const LineReader& lines, std::string_view word, std::size_t before, std::size_t features) {
  const auto index = number_from<std::size_t>(word);
  if (!index || *index == 0 || *index > features)
    lines.fail(shown(word), " stands where an index from 1 to ", features, " belongs");
  if (*index <= before) lines.fail("index ", *index, " follows ", before, "; indices must ascend");
  return *index;
}

// Calls begin(label) and then entry(index, number) for all of a line.
void parse_line(const LineReader& lines, std::string_view text, std::size_t features, const auto& begin, const auto& entry) {
  text = text.substr(0, text.find('#'));
  begin(finite_number(lines, next_word(text), "a label"));
  std::size_t index = 0;
  for (std::string_view word = next_word(text); !word.empty(); word = next_word(text)) {
    if (word.find(':') == std::string_view::npos) lines.fail(shown(word) + " stands where index:number belongs");
    index = index_of(lines, take_until(word, ':'), index, features);
    entry(index, finite_number(lines, word, "a number"));
  }
}

std::size_t largest_index(const std::filesystem::path& file) {
  LineReader lines(file);
  std::size_t largest = 0;
  while (const auto line = lines.next())
    parse_line(
        lines, *line, most_features, [](double) {}, [&](std::size_t index, double) { largest = std::max(largest, index); });
  return largest;
}

}  // namespace

template <class Real>
Table<Real> read_libsvm(const std::filesystem::path& file, std::size_t features, std::size_t limit) {
  if (features == 0) features = largest_index(file);
  LineReader lines(file);
  if (features == 0) lines.file().fail("has no features");
  Table<Real> table;
  NumberTable<Real> numbers(features, limit, sizeof(double));
  Real* row = nullptr;
  const auto begin = [&](double label) {
    row = numbers.add_row();
    if (!row) lines.fail("the rows take more than the allowed ", limit, " bytes while they are read");
    table.labels.numbers.push_back(label);
  };
  const auto entry = [&](std::size_t index, double number) {
    row[index - 1] = static_cast<Real>(number);
    if (!std::isfinite(row[index - 1])) lines.fail("a number is too large for the precision of the experiment");
  };
  while (const auto line = lines.next()) parse_line(lines, *line, features, begin, entry);
  if (table.labels.size() == 0) lines.file().fail("is empty");
  table.features = numbers.take();
  table.shape = {1, 1, static_cast<Index>(features)};
  return table;
}

template Table<float> read_libsvm(const std::filesystem::path&, std::size_t, std::size_t);
template Table<double> read_libsvm(const std::filesystem::path&, std::size_t, std::size_t);

}  // namespace rubato
