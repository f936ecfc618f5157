// NumberTable: rows of numbers as they come out of a text, put away as bytes in the end if they are.
#pragma once

#include <cstdint>
#include <vector>

#include "learning/features.hpp"

namespace rubato {

template <class Real>
class NumberTable {
 public:
  NumberTable(std::size_t columns, std::size_t limit) : columns_{columns}, limit_{limit} {}

  /// A new last row of zeros, to be written to; valid until the next. Null if there is no room within the limit.
  Real* add_row();

  std::size_t columns() const { return columns_; }
  /// Bytes if every number is a whole one from 0 to 255: the same numbers in less memory.
  Features<Real> take();

 private:
  std::size_t columns_;
  std::size_t limit_;
  std::vector<Real> numbers_;
};

extern template class NumberTable<float>;
extern template class NumberTable<double>;

}  // namespace rubato
