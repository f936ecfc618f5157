#include "learning/digits_reader.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "learning/gzip.hpp"

namespace rubato {

namespace {

constexpr std::size_t largest_file = 16 * 1024 * 1024;
constexpr std::size_t pixels = 64;
constexpr unsigned brightest = 16;

using Line = std::array<unsigned, pixels + 1>;

/// Where we are, for messages.
struct Place {
  const std::filesystem::path& file;
  std::size_t line;
};

[[noreturn]] void fail(const Place& place, const std::string& what) {
  throw std::invalid_argument(place.file.string() + ", line " + std::to_string(place.line) + ": " + what);
}

unsigned parse_number(const Place& place, std::string_view text, unsigned largest) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size() && number <= largest) return number;
  std::string sentence = "\"";
  sentence.append(text.substr(0, 20)).append("\" stands where a whole number from 0 to ");
  fail(place, sentence + std::to_string(largest) + " belongs");
}

std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t length = std::min(text.find(separator), text.size());
  const std::string_view field = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return field;
}

Line parse_line(const Place& place, std::string_view text) {
  const auto fields = static_cast<std::size_t>(std::count(text.begin(), text.end(), ',')) + 1;
  if (fields != pixels + 1) {
    fail(place, "has " + std::to_string(fields) + " fields; 64 brightnesses and a digit are 65");
  }
  Line numbers;
  for (std::size_t i = 0; i <= pixels; ++i) {
    numbers[i] = parse_number(place, take_until(text, ','), i < pixels ? brightest : 9);
  }
  return numbers;
}

std::string_view without_carriage_return(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::vector<Line> parse_lines(const std::filesystem::path& file, std::string_view text) {
  std::vector<Line> lines;
  for (std::size_t number = 1; !text.empty(); ++number) {
    lines.push_back(parse_line({file, number}, without_carriage_return(take_until(text, '\n'))));
  }
  if (lines.empty()) throw std::invalid_argument(file.string() + ": is empty");
  return lines;
}

}  // namespace

template <class Real>
Samples<Real> read_digits(const std::filesystem::path& file) {
  const std::vector<unsigned char> bytes = read_whole_file(file, largest_file);
  const std::vector<Line> lines = parse_lines(file, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  Samples<Real> samples;
  samples.features.resize(static_cast<Index>(lines.size()), static_cast<Index>(pixels));
  for (std::size_t row = 0; row < lines.size(); ++row) {
    for (std::size_t i = 0; i < pixels; ++i) {
      samples.features(static_cast<Index>(row), static_cast<Index>(i)) = static_cast<Real>(lines[row][i]) / brightest;
    }
    samples.labels.push_back(lines[row][pixels]);
  }
  return samples;
}

template Samples<float> read_digits(const std::filesystem::path&);
template Samples<double> read_digits(const std::filesystem::path&);

}  // namespace rubato
