// Reading the files of a run folder. What is missing or damaged is a std::invalid_argument that names the file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rubato::web {

std::string text_of(const std::filesystem::path& file);

/// Throws where there is no such folder; a run that was killed, or is at work, lies beside the place it is to have.
void require_folder(const std::filesystem::path& folder);
/// The same, and where it is of a run that was killed or is at work.
void require_ended_run(const std::filesystem::path& folder);

/// A CSV of numbers under one line of names, as Rubato writes them: no quotes, nan and inf are numbers.
class Table {
 public:
  explicit Table(const std::filesystem::path& file);
  /// What the file of this name would hold: `values` row by row.
  Table(std::string file, std::vector<std::string> columns, std::vector<double> values)
      : file_{std::move(file)}, columns_{std::move(columns)}, values_{std::move(values)} {}

  const std::vector<std::string>& columns() const { return columns_; }
  std::size_t rows() const { return values_.size() / columns_.size(); }
  std::span<const double> row(std::size_t index) const { return {values_.data() + index * columns_.size(), columns_.size()}; }
  /// Throws std::invalid_argument if there is no such column.
  std::size_t column(std::string_view name) const;
  /// Row by row.
  std::vector<double> values_of(std::size_t column) const;

 private:
  void add_row(std::string_view line, std::size_t number);

  std::string file_;
  std::vector<std::string> columns_;
  std::vector<double> values_;
};

}  // namespace rubato::web
