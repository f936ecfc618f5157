#include "learning/data/readers.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "learning/data/line_reader.hpp"

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
  std::size_t number = 0;
  const char* const end = options.label.data() + options.label.size();
  const auto [stop, error] = std::from_chars(options.label.data(), end, number);
  if (error == std::errc{} && stop == end && number >= 1 && number <= first.size()) return number - 1;
  lines.fail("there is no label column " + shown(options.label) + "; allowed are a column's name from the first line, " +
             "its number from 1 to " + std::to_string(first.size()) + ", last and none");
}

/// Numbers or, if the first label is none, words.
class LabelReader {
 public:
  void add(const LineReader& lines, std::string_view text) {
    const auto number = number_in(text);
    if (column_.size() == 0) are_words_ = !number;
    if (are_words_) return column_.numbers.push_back(static_cast<double>(word(lines, text)));
    if (!number || !std::isfinite(*number))
      lines.fail("the label is " + shown(text) + "; like the first one it must be a finite number");
    column_.numbers.push_back(*number);
  }
  LabelColumn take() { return std::move(column_); }

 private:
  std::size_t word(const LineReader& lines, std::string_view text) {
    if (text.empty()) lines.fail("the label is missing");
    if (text.size() > longest_word) lines.fail("the label is longer than the allowed 256 letters");
    const auto [place, is_new] = places_.emplace(text, column_.words.size());
    if (is_new && column_.words.size() == most_words) lines.fail("is the 65537th different label; allowed are 65536");
    if (is_new) column_.words.emplace_back(text);
    return place->second;
  }

  LabelColumn column_;
  bool are_words_ = false;
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

template <class Real>
void read_fields(const LineReader& lines, const Fields& fields, std::size_t label, Real* row) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i == label) continue;
    const auto number = number_in(fields[i]);
    *row = static_cast<Real>(number.value_or(0));
    if (!number || !std::isfinite(*row++))
      lines.fail("field " + std::to_string(i + 1) + " is " + shown(fields[i]) + "; it must be a finite number");
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
  if (are_names) line = lines.next();
  if (!line) lines.file().fail("has no samples behind its first line");
  for (; line; line = lines.next()) {
    splitter.split(lines, *line);
    if (fields.size() != columns)
      lines.fail("has " + std::to_string(fields.size()) + " fields; the first line has " + std::to_string(columns));
    Real* const row = numbers.add_row();
    if (!row) lines.fail("the rows take more than the allowed " + std::to_string(limit) + " bytes while they are read");
    read_fields(lines, fields, label, row);
    if (label != no_column) labels.add(lines, fields[label]);
  }
  return {numbers.take(), labels.take(), {1, 1, static_cast<Index>(inputs)}, std::move(names)};
}

template Table<float> read_csv(const std::filesystem::path&, const CsvOptions&, std::size_t);
template Table<double> read_csv(const std::filesystem::path&, const CsvOptions&, std::size_t);

}  // namespace rubato
