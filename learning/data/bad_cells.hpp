// Bad cells: what a file has where a finite number belongs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace rubato {

/// All are counted, the first few are named. In the table they are NaN.
class BadCells {
 public:
  /// `row`: of the table; `column`: counted from 1, as in the file; `place`: such as `line 2: field 1 is "?"`.
  void add(std::size_t row, std::size_t column, std::string place);
  bool any() const { return cells_ > 0; }
  bool has_named() const { return named_.size() == most_named; }
  /// Rows of the table with one at least, ascending.
  const std::vector<std::uint32_t>& rows() const { return rows_; }
  /// "t.csv: 3 cells of 2 rows are no finite numbers: 2 in field 1 ("age"), 1 in field 4; the first are line 2: field 1 is "?";
  /// ..." `names` are of all fields of the file, or there are none.
  std::string sentence(const std::string& file, const std::vector<std::string>& names = {}) const;

 private:
  static constexpr std::size_t most_named = 3;

  std::uint64_t cells_ = 0;
  std::vector<std::uint32_t> rows_;
  std::map<std::size_t, std::uint64_t> by_column_;
  std::vector<std::string> named_;
};

}  // namespace rubato
