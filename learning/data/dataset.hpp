// Dataset: samples with what is to be learned of them, read once and shared by all clients.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "learning/data/features.hpp"
#include "learning/shape.hpp"
#include "learning/types.hpp"

namespace rubato {

/// Row i of the features belongs to label i or, where nothing is classified, to target i; the other list is empty.
template <class Real>
struct Samples {
  Features<Real> features;
  std::vector<Label> labels;
  std::vector<Real> targets{};

  std::size_t size() const { return static_cast<std::size_t>(features.rows()); }
};

/// Immutable once shared. Labels are below `classes` in both parts; both parts have the same number of features.
template <class Real>
struct Dataset {
  std::string name;
  std::uint32_t classes = 0;  // 0: numbers are learned, not classes
  Samples<Real> train;
  Samples<Real> test;
  Shape shape;                             // of one sample; its size is inputs()
  std::vector<std::string> notes;          // what a run should say about these data
  std::vector<std::string> class_names{};  // own files: a label of the file for each class; empty: its number

  Index inputs() const { return train.features.cols(); }
};

/// Throws std::invalid_argument with the first broken promise of the two structs above.
template <class Real>
void check(const Dataset<Real>& dataset);

}  // namespace rubato
