// How the files of a data set are read and made ready.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "learning/choices.hpp"

namespace rubato {

struct DataOptions {
  Normalise normalise = Normalise::usual;
  /// Where there is no test part: the share of the rows that become one.
  double test_share = 0.2;
  /// Draw these rows, from the seed; else they are the last ones.
  bool shuffle = true;
  std::uint64_t seed = 0;
  /// cwru: 4 or 10 (0: 10). Own files: labels are 0 to classes - 1; 0: those of the training part, in ascending order.
  std::uint32_t classes = 0;
  /// poker-hand: a column for every suit and rank of a card, instead of the two numbers.
  bool one_hot = true;
};

/// Own files. Empty paths: not there.
struct DataFiles {
  FileFormat format = FileFormat::by_name;
  std::filesystem::path train, train_labels, test, test_labels;
  std::string label = "last";                   // csv: see CsvOptions
  FirstLine first_line = FirstLine::automatic;  // csv
  std::vector<std::string> order;               // the words that are labels, class 0 first; empty: in alphabetical order
  std::uint32_t features = 0;                   // libsvm; 0: the largest index of the training part
  std::vector<std::int64_t> shape;              // channels, height, width; empty: as the file says
  bool are_targets = false;                     // labels are numbers to be learned, not classes
};

}  // namespace rubato
