#include "learning/data/readers.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

#include "learning/data/line_reader.hpp"
#include "runtime/number_from.hpp"

namespace rubato {

namespace {

constexpr std::size_t most_words = 65536;
constexpr std::size_t longest_word = 256;
constexpr std::size_t no_column = static_cast<std::size_t>(-1);

using Fields = std::vector<std::string_view>;

/// Splits lines into fields that live until the next line.
class Splitter {
 public:
  explicit Splitter(char separator) : separator_{separator}, blanks_{separator == '\t' ? " " : " \t"} {}

  const Fields& split(const LineReader& lines, std::string_view text) {
    fields_.clear();
    unquoted_.clear();
    for (bool goes_on = true; goes_on;) {
      goes_on = text.find(separator_) != std::string_view::npos;
      const std::string_view start = trimmed(text, blanks_);
      if (start.starts_with('"'))
        goes_on = take_quoted(lines, text, start);
      else
        fields_.push_back(trimmed(take_until(text, separator_), blanks_));
    }
    return fields_;
  }

 private:
  // Returns whether another field follows.
  bool take_quoted(const LineReader& lines, std::string_view& text, std::string_view start) {
    std::string& field = *unquoted_.insert(unquoted_.end(), std::make_unique<std::string>())->get();
    std::size_t place = 1;
    for (;; ++place) {
      if (place >= start.size()) lines.fail("a quoted field does not end on its line");
      if (start[place] == '"' && (++place >= start.size() || start[place] != '"')) break;
      field += start[place];
    }
    fields_.push_back(field);
    const std::string_view rest = trimmed(start.substr(place), blanks_);
    const bool goes_on = rest.starts_with(separator_);
    if (!goes_on && !rest.empty()) lines.fail("something follows the end of a quoted field");
    text = goes_on ? rest.substr(1) : std::string_view{};
    return goes_on;
  }

  char separator_;
  std::string_view blanks_;
  Fields fields_;
  std::vector<std::unique_ptr<std::string>> unquoted_;
};

char separator_of(std::string_view line) {
  const std::size_t found = line.find_first_of(",;\t");
  return found == std::string_view::npos ? ',' : line[found];
}

std::size_t label_column(const LineReader& lines, const CsvOptions& options, const Fields& first) {
  if (options.label == "none") return no_column;
  if (options.label == "last") return first.size() - 1;
  // A field that is a number may be a value: it is a name only where the caller says so.
  const bool may_be_name =
      options.first_line == FirstLine::names || (options.first_line == FirstLine::automatic && !number_in(options.label));
  const auto found = may_be_name ? std::find(first.begin(), first.end(), options.label) : first.end();
  if (found != first.end()) return static_cast<std::size_t>(found - first.begin());
  const auto number = number_from<std::size_t>(options.label);
  if (number && *number >= 1 && *number <= first.size()) return *number - 1;
  lines.fail("there is no label column ", shown(options.label),
             "; allowed are a column's name from the first line, its number from 1 to ", first.size(), ", last and none");
}

/// Numbers or, if the first label is none, words.
class LabelReader {
 public:
  // Whether there is a label. The first one that there is decides what labels are.
  bool add(const LineReader& lines, std::string_view text) {
    const auto number = number_in(text);
    bool is_there = !text.empty() && text != "?" && (!number || std::isfinite(*number));
    if (is_there && !is_decided_) are_words_ = !number, is_decided_ = true;
    if (is_there && !are_words_ && !number) is_there = false;
    const double words_place = is_there && are_words_ ? static_cast<double>(word(lines, text)) : 0;
    column_.numbers.push_back(!is_there ? NAN : are_words_ ? words_place : *number);
    return is_there;
  }
  LabelColumn take() { return std::move(column_); }

 private:
  std::size_t word(const LineReader& lines, std::string_view text) {
    if (text.size() > longest_word) lines.fail("the label is longer than the allowed 256 letters");
    const auto [place, is_new] = places_.emplace(text, column_.words.size());
    if (is_new && column_.words.size() == most_words) lines.fail("is the 65537th different label; allowed are 65536");
    if (is_new) column_.words.emplace_back(text);
    return place->second;
  }

  LabelColumn column_;
  bool are_words_ = false;
  bool is_decided_ = false;
  std::map<std::string, std::size_t, std::less<>> places_;
};

bool looks_like_names(const Fields& fields, std::size_t label, const std::string& name) {
  if (label != no_column && name != "last" && !number_in(name) && fields[label] == name) return true;
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (i != label && !fields[i].empty() && fields[i] != "?" && !number_in(fields[i])) return true;  // NaN is a number
  return false;
}

std::vector<std::string> names_of(const Fields& fields, std::size_t label) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (i != label) names.emplace_back(fields[i]);
  return names;
}

void add_bad(const LineReader& lines, const std::string& cell, std::string_view text, std::size_t row, std::size_t field,
             BadCells& bad) {
  const bool is_named = !bad.has_named();
  bad.add(row, field + 1, is_named ? "line " + std::to_string(lines.line()) + ": " + cell + " is " + shown(text) : std::string{});
}

template <class Real>
void read_fields(const LineReader& lines, const Fields& fields, std::size_t label, std::size_t number_of_row, Real* row,
                 BadCells& bad) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i == label) continue;
    const auto number = number_in(fields[i]);
    const auto stored = static_cast<Real>(number.value_or(NAN));
    *row++ = std::isfinite(stored) ? stored : static_cast<Real>(NAN);
    if (!std::isfinite(stored)) add_bad(lines, "field " + std::to_string(i + 1), fields[i], number_of_row, i, bad);
  }
}

}  // namespace

template <class Real>
Table<Real> read_csv(const std::filesystem::path& file, const CsvOptions& options, std::size_t limit) {
  LineReader lines(file);
  auto line = lines.next();
  if (line && options.first_line == FirstLine::skipped) line = lines.next();
  if (!line) lines.file().fail("is empty");
  Splitter splitter(options.separator ? options.separator : separator_of(*line));
  const Fields& fields = splitter.split(lines, *line);
  const std::size_t columns = fields.size();
  const std::size_t label = label_column(lines, options, fields);
  const bool are_names = options.first_line == FirstLine::names ||
                         (options.first_line == FirstLine::automatic && looks_like_names(fields, label, options.label));
  const std::size_t inputs = columns - (label == no_column ? 0 : 1);
  if (inputs == 0) lines.fail("has no field besides the label");
  NumberTable<Real> numbers(inputs, limit, label == no_column ? 0 : sizeof(double));
  LabelReader labels;
  std::vector<std::string> names = are_names ? names_of(fields, label) : std::vector<std::string>{};
  std::vector<std::string> field_names = are_names ? names_of(fields, no_column) : std::vector<std::string>{};
  BadCells bad;
  if (are_names) line = lines.next();
  if (!line) lines.file().fail("has no samples behind its first line");
  for (std::size_t rows = 0; line; line = lines.next(), ++rows) {
    splitter.split(lines, *line);
    if (fields.size() != columns) lines.fail("has ", fields.size(), " fields; the first line has ", columns);
    Real* const row = numbers.add_row();
    if (!row) lines.fail("the rows take more than the allowed ", limit, " bytes while they are read");
    read_fields(lines, fields, label, rows, row, bad);
    if (label != no_column && !labels.add(lines, fields[label])) add_bad(lines, "the label", fields[label], rows, label, bad);
  }
  if (bad.any() && !options.keeps_bad_cells) throw std::invalid_argument(bad.sentence(file.string(), field_names));
  return {numbers.take(),   labels.take(),  {1, 1, static_cast<Index>(inputs)},
          std::move(names), std::move(bad), std::move(field_names)};
}

template Table<float> read_csv(const std::filesystem::path&, const CsvOptions&, std::size_t);
template Table<double> read_csv(const std::filesystem::path&, const CsvOptions&, std::size_t);

}  // namespace rubato
