// One layer of a list, taken apart: "conv 16 5 stride 2" is a word, its numbers, and its options.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "learning/types.hpp"
#include "runtime/sentence.hpp"

namespace rubato {

struct LayerWords {
  std::string text;  ///< as it was written
  std::string word;
  std::vector<double> numbers;            ///< right behind the word
  std::map<std::string, double> options;  ///< stride, pad with their numbers; same and project with 1

  /// Throws std::invalid_argument naming the layer.
  template <class... What>
  [[noreturn]] void fail(const What&... what) const {
    refuse("model.layers: \"", text, "\": ", what...);
  }
  /// The i-th number, a whole one from 1.
  Index size(std::size_t i) const;
  /// An option's whole number from `lowest`, or `otherwise`.
  Index option(const std::string& name, Index lowest, Index otherwise) const;
  bool has(const std::string& name) const { return options.contains(name); }
};

/// Throws std::invalid_argument where there is no such word, or not with these numbers and options.
LayerWords read_layer(const std::string& text);

}  // namespace rubato
