// Features: the inputs of samples as they are stored, bytes where bytes were read, numbers otherwise.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "learning/types.hpp"

namespace rubato {

/// A table with a row per sample. What is asked of it are numbers; bytes become numbers while rows are copied, as
/// byte * scale + shift of their column in the arithmetic of Real.
template <class Real>
class Features {
 public:
  Features() = default;
  Features(const Matrix<Real>& numbers);
  /// Row after row; their count must be a multiple of `columns`. Bytes are their own numbers until rescale().
  Features(std::vector<Real> numbers, Index columns);
  Features(std::vector<std::uint8_t> bytes, Index columns);

  Index rows() const { return rows_; }
  Index cols() const { return columns_; }
  bool are_bytes() const { return numbers_.empty(); }

  /// Writes cols() numbers.
  void copy_row(Index row, Real* out) const;
  Real operator()(Index row, Index column) const;

  /// Every number becomes (number - centre) * factor of its column. Bytes stay bytes.
  void rescale(std::span<const double> centres, std::span<const double> factors);

  /// What lies beyond -most and most becomes the nearer of the two. Bytes of which one does are stored as numbers then.
  void clip(double most);

  /// Leaves this column out; of numbers, or of bytes that are scaled alike.
  void drop_column(Index column);

  /// Every NaN becomes the mean of its column.
  void fill_missing(std::span<const double> means);

  /// The rows in this order; a row that is not named is left out.
  Features picked(const Rows& rows) const;

  /// Makes the rows of `other`, as many columns and stored in the same way, the last ones here.
  void append(const Features& other);

  /// Swaps rows and columns of every square image of this side; of bytes that are scaled alike.
  void transpose_images(Index side);

  /// Calls `take` with all there is in memory, span by span: equal tables give equal bytes.
  template <class Take>
  void visit_stored(Take take) const {
    take(std::as_bytes(std::span{bytes_}));
    for (const auto* numbers : {&numbers_, &scales_, &shifts_}) take(std::as_bytes(std::span{*numbers}));
  }

  /// Memory that the table takes.
  std::size_t stored_bytes() const;

  /// All rows as numbers: a copy that may be much larger.
  Matrix<Real> matrix() const;

 private:
  Index rows_ = 0;
  Index columns_ = 0;
  std::vector<std::uint8_t> bytes_;
  std::vector<Real> numbers_;
  // Of bytes: one for all columns, or one each.
  std::vector<Real> scales_{Real{1}};
  std::vector<Real> shifts_{Real{0}};
};

extern template class Features<float>;
extern template class Features<double>;

}  // namespace rubato
