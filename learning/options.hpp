// What an experiment says of its data and its model: the keys of [data] and [model] that learning itself knows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "learning/choices.hpp"

namespace rubato {

/// How the files of a data set are made ready.
struct DataOptions {
  Normalise normalise = Normalise::usual;  ///< of features
  double test_share = 0.2;                 ///< of the rows, where there is no test part
  bool shuffle = true;                     ///< likewise: drawn from the seed, not the last rows
  double clip = 0;                         ///< of features with mean 0 and deviation 1; 0: none
  std::int64_t classes = 0;                ///< files, cwru, emnist-letters, iot-device; 0: those of the training part, 10, 26, 10
  std::int64_t columns = 297;              ///< iot-device
  bool one_hot = true;                     ///< poker-hand: a column for every suit and rank, not the two numbers
  bool operator==(const DataOptions&) const = default;
};

/// Files of one's own.
struct DataFiles {
  FileFormat format = FileFormat::by_name;                ///< of all of them
  std::filesystem::path train{};                          ///< absolute in an experiment, like the next three
  std::optional<std::filesystem::path> train_labels{};    ///< absent: beside the features
  std::optional<std::filesystem::path> test{};            ///< absent: test_share of the training rows
  std::optional<std::filesystem::path> test_labels{};     ///< absent: beside the features
  std::string label = "last";                             ///< csv: a column's name or number, last
  FirstLine header = FirstLine::automatic;                ///< csv
  std::optional<std::vector<std::string>> label_order{};  ///< class 0 first; absent: words in alphabetical order
  std::int64_t features = 0;                              ///< libsvm; 0: the largest index of the training part
  std::vector<std::int64_t> shape{};                      ///< channels, height, width; empty: as the file says
  LearnKind learn = LearnKind::classes;                   ///< what the label is
  Missing missing = Missing::refuse;                      ///< csv, npy, npz: what becomes of cells that are no numbers
  bool operator==(const DataFiles&) const = default;
};

/// What a model can be told; each looks at what it knows.
struct ModelOptions {
  std::string name;                                    ///< `rubato list models` shows them
  std::vector<std::int64_t> hidden{};                  ///< may be empty
  Activation activation = Activation::relu;            ///< of hidden layers
  double dropout = 0;                                  ///< of hidden layers
  double l2 = 0;                                       ///< the loss has l2/2 |x|^2 more
  double label_smoothing = 0;                          ///< of the cross-entropy
  HingeKind hinge = HingeKind::plain;                  ///< svm
  std::vector<std::string> layers{};                   ///< of a free network
  std::filesystem::path module{};                      ///< torchscript; absolute in an experiment
  Normalisation normalisation = Normalisation::group;  ///< what the layer "norm" stands for
  Start init = Start::usual;                           ///< how the start is drawn
  bool operator==(const ModelOptions&) const = default;
};

}  // namespace rubato
