// Dataset: labelled rows, read once and shared by all clients.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "learning/shape.hpp"
#include "learning/types.hpp"

namespace rubato {

/// Row i of the features belongs to label i.
template <class Real>
struct Samples {
  Matrix<Real> features;
  std::vector<Label> labels;

  std::size_t size() const { return labels.size(); }
};

/// Immutable once shared. Labels are below `classes` in both parts; both parts have the same number of features.
template <class Real>
struct Dataset {
  std::string name;
  std::uint32_t classes = 0;
  Samples<Real> train;
  Samples<Real> test;
  Shape shape;  // of one sample; its size is inputs()

  Index inputs() const { return train.features.cols(); }
};

/// Throws std::invalid_argument with the first broken promise of the two structs above.
template <class Real>
void check(const Dataset<Real>& dataset);

}  // namespace rubato
