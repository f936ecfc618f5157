#include "web/run_files.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "results/run_folder.hpp"
#include "results/run_result.hpp"

namespace rubato::web {

namespace {

std::ifstream open_to_read(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (stream && !std::filesystem::is_directory(file)) return stream;
  throw std::invalid_argument("cannot read " + file.string() + ": is this the folder of a run?");
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (std::size_t end = line.find(','); end != line.npos; end = line.find(',')) {
    fields.push_back(line.substr(0, end));
    line.remove_prefix(end + 1);
  }
  fields.push_back(line);
  return fields;
}

std::string_view without_return(std::string_view line) { return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line; }

constexpr std::string_view partial = ".partial";
constexpr const char* not_ended = " of a run that was killed or is at work";

// Without the separator that a shell leaves at its end.
std::filesystem::path plain(const std::filesystem::path& folder) { return folder.has_filename() ? folder : folder.parent_path(); }

}  // namespace

void require_folder(const std::filesystem::path& folder) {
  if (std::filesystem::exists(folder)) return;
  const std::filesystem::path place = plain(folder), other = place.string() + std::string(partial);
  throw std::invalid_argument("there is no folder " + folder.string() +
                              (std::filesystem::exists(other) ? "; there is " + other.string() + "," + not_ended : ""));
}

void require_ended_run(const std::filesystem::path& folder) {
  require_folder(folder);
  const std::string place = plain(folder).string();
  if (!place.ends_with(partial) || std::filesystem::exists(folder / "summary.json")) return;
  const std::string command = command_to_go_on(folder);
  throw std::invalid_argument(place + " is" + not_ended +
                              (command.empty() ? ": nothing goes on with it" : ": `" + command + "` goes on with it"));
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream = open_to_read(file);
  return {std::istreambuf_iterator<char>{stream}, {}};
}

Table::Table(const std::filesystem::path& file) : file_{file.string()} {
  std::ifstream stream = open_to_read(file);
  std::string line;
  if (!std::getline(stream, line) || line.empty()) throw std::invalid_argument(file_ + " is empty");
  for (const std::string_view name : fields_of(without_return(line))) columns_.emplace_back(name);
  for (std::size_t number = 2; std::getline(stream, line); ++number) add_row(without_return(line), number);
}

void Table::add_row(std::string_view line, std::size_t number) {
  const auto fields = fields_of(line);
  bool is_good = fields.size() == columns_.size();
  for (const std::string_view field : fields) {
    double value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    is_good = is_good && error == std::errc{} && end == field.data() + field.size();
    values_.push_back(value);
  }
  if (is_good) return;
  throw std::invalid_argument(file_ + ":" + std::to_string(number) + " is damaged: " + std::to_string(columns_.size()) +
                              " numbers are expected, separated by commas");
}

std::size_t Table::column(std::string_view name) const {
  const auto found = std::ranges::find(columns_, name);
  if (found == columns_.end()) throw std::invalid_argument(file_ + " has no column " + std::string(name));
  return static_cast<std::size_t>(found - columns_.begin());
}

std::vector<double> Table::values_of(std::size_t column) const {
  std::vector<double> values;
  for (std::size_t i = 0; i < rows(); ++i) values.push_back(row(i)[column]);
  return values;
}

}  // namespace rubato::web
