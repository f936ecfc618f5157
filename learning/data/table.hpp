// Table: what a reader hands over: features, and what is to be learned of them as the file has it.
#pragma once

#include <string>
#include <vector>

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
  std::vector<std::string> names{};  // of the columns of features, where the file has them
};

}  // namespace rubato
