#include "learning/data/bad_cells.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "learning/data/line_reader.hpp"

namespace rubato {

void BadCells::add(std::size_t row, std::size_t column, std::string place) {
  ++cells_;
  ++by_column_[column];
  if (rows_.empty() || rows_.back() != row) rows_.push_back(static_cast<std::uint32_t>(row));
  if (named_.size() < most_named) named_.push_back(std::move(place));
}

std::string BadCells::sentence(const std::string& file, const std::vector<std::string>& names) const {
  constexpr std::size_t most_columns = 5;
  const std::string& first = named_.front();
  if (cells_ == 1) return file + (first.starts_with("line") ? ", " : ": ") + first + "; it must be a finite number";
  std::vector<std::pair<std::size_t, std::uint64_t>> columns(by_column_.begin(), by_column_.end());
  std::ranges::stable_sort(columns, std::greater{}, &std::pair<std::size_t, std::uint64_t>::second);
  std::string text = file + ": " + std::to_string(cells_) + " cells of " + std::to_string(rows_.size()) +
                     (rows_.size() == 1 ? " row" : " rows") + " are no finite numbers: ";
  for (std::size_t i = 0; i < std::min(columns.size(), most_columns); ++i) {
    const auto [column, count] = columns[i];
    text += (i > 0 ? ", " : "") + std::to_string(count) + " in field " + std::to_string(column);
    if (column <= names.size()) text += " (" + shown(names[column - 1]) + ")";
  }
  if (columns.size() > most_columns) text += ", and others in " + std::to_string(columns.size() - most_columns) + " more fields";
  text += "; the first are ";
  for (std::size_t i = 0; i < named_.size(); ++i) text += (i > 0 ? "; " : "") + named_[i];
  return text;
}

}  // namespace rubato
