// Tables: what a reader hands over, features and what is to be learned of them as the file has it; and how it gathers them.
#pragma once

#include <string>
#include <vector>

#include "learning/data/bad_cells.hpp"
#include "learning/data/features.hpp"
#include "learning/shape.hpp"

namespace rubato {

/// One entry a row. Where the file has words, the numbers count `words`.
struct LabelColumn {
  std::vector<double> numbers;
  std::vector<std::string> words;

  std::size_t size() const { return numbers.size(); }
};

/// No more and no fewer labels than rows; none at all where the file has only features.
template <class Real>
struct Table {
  Features<Real> features;
  LabelColumn labels;
  Shape shape;
  std::vector<std::string> names{};        // of the columns of features, where the file has them
  BadCells bad_cells{};                    // NaN in features and labels
  std::vector<std::string> field_names{};  // of all fields of a line, where the file has them
};

/// Rows of numbers as they come out of a text, put away as bytes in the end if they are.
template <class Real>
class NumberTable {
 public:
  /// `limit`: of bytes, at any time: while a table grows, the old and the new one are there. `beside`: bytes of a
  /// row that its owner keeps elsewhere, such as its label.
  NumberTable(std::size_t columns, std::size_t limit, std::size_t beside)
      : columns_{columns}, most_rows_{limit / 2 / (columns * sizeof(Real) + beside)} {}

  /// A new last row of zeros, to be written to; valid until the next. Null if there is no room within the limit.
  Real* add_row();

  std::size_t columns() const { return columns_; }
  /// Bytes if every number is a whole one from 0 to 255: the same numbers in less memory.
  Features<Real> take();

 private:
  std::size_t columns_;
  std::size_t most_rows_;
  std::vector<Real> numbers_;
};

extern template class NumberTable<float>;
extern template class NumberTable<double>;

}  // namespace rubato
