#include "results/metrics_rows.hpp"

#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "results/columns.hpp"
#include "results/whole_file.hpp"

namespace rubato {

std::vector<double> numbers_in(std::string_view line) {
  std::vector<double> numbers;
  std::istringstream fields{std::string(line)};
  for (std::string field; std::getline(fields, field, ',');) numbers.push_back(std::strtod(field.c_str(), nullptr));
  return numbers;
}

namespace {

// Line by line behind the head, each with its end; `see` says whether to go on.
template <class See>
void for_each_row(std::string_view text, See see) {
  std::size_t at = text.find('\n');
  while (at != text.npos) {
    const std::size_t begin = at + 1;
    at = text.find('\n', begin);
    if (at == text.npos || !see(text.substr(begin, at + 1 - begin))) return;
  }
}

bool is_known(const std::vector<double>& row, const Sample& known) {
  const auto columns = sample_columns();
  if (row.size() != columns.size()) return false;
  for (std::size_t i = 0; i < row.size(); ++i)
    if (is_spent(columns[i]) && row[i] > to_double(columns[i].read(known))) return false;
  return true;
}

// Of the last row.
double last_in(const std::filesystem::path& metrics, const char* name) {
  const auto column = static_cast<std::size_t>(find_sample_column(name) - sample_columns().data());
  double last = 0;
  for_each_row(read_whole(metrics).value_or(""), [&](std::string_view line) {
    const std::vector<double> row = numbers_in(line);
    if (column < row.size()) last = row[column];
    return true;
  });
  return last;
}

}  // namespace

std::uint64_t events_in(const std::filesystem::path& metrics) { return static_cast<std::uint64_t>(last_in(metrics, "events")); }

double seconds_in(const std::filesystem::path& metrics) { return last_in(metrics, "seconds"); }

void keep_known_rows(const std::filesystem::path& metrics, const Sample& known) {
  const std::optional<std::string> text = read_whole(metrics);
  const std::size_t head = text ? text->find('\n') : std::string::npos;
  if (head == std::string::npos) return;
  std::size_t kept = head + 1;
  for_each_row(*text, [&](std::string_view line) {
    if (!is_known(numbers_in(line), known)) return false;
    kept += line.size();
    return true;
  });
  std::filesystem::resize_file(metrics, kept);
}

}  // namespace rubato
