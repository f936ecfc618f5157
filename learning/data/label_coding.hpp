// Labels of files become classes counted from 0.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "learning/data/table.hpp"
#include "learning/types.hpp"

namespace rubato {

/// Whole numbers from `first` to `first` + `classes` - 1, which become 0 to `classes` - 1. Throws std::invalid_argument
/// naming `file` and the row of another one.
std::vector<Label> numbered_labels(const LabelColumn& column, std::uint32_t classes, std::int64_t first, const std::string& file);

/// The different labels of a training part, at most 65,536: the place of one is its class.
class ClassNames {
 public:
  /// In ascending order, or words in the order given. Throws std::invalid_argument naming `file` if there are too many,
  /// or a word is not in the order.
  ClassNames(const LabelColumn& training, std::vector<std::string> order, const std::string& file);

  std::uint32_t size() const;
  /// As the file has them, the place of one is its class.
  std::vector<std::string> names() const;
  /// Throws std::invalid_argument naming `file` and the row of a label that is none of these.
  std::vector<Label> coded(const LabelColumn& column, const std::string& file) const;

 private:
  bool are_words_;
  std::vector<std::string> words_;
  std::vector<double> numbers_;
};

}  // namespace rubato
