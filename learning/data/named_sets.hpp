// Data sets by name: where their files are looked for, and what to do when they are missing.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "learning/data/dataset.hpp"
#include "learning/options.hpp"

namespace rubato {

/// mnist, fashion-mnist, emnist, emnist-letters, cifar10, a9a, poker-hand, iot-device, cwru, digits, breast-cancer.
std::vector<std::string> dataset_names();

/// Looks into `data_dir` if it is not empty, else into $RUBATO_DATA if set, else into ./data; every set has a folder of
/// its own there. digits comes with Rubato and is found without any of them. Throws std::invalid_argument: an unknown
/// name lists the known, missing files say which, where they come from and where to put them.
template <class Real>
std::shared_ptr<const Dataset<Real>> load_dataset(const std::string& name, const std::filesystem::path& data_dir = {},
                                                  const DataOptions& options = {}, std::uint64_t seed = 0);

/// The folder in which the set was found; empty if it is missing.
std::filesystem::path find_dataset(const std::string& name, const std::filesystem::path& data_dir = {});

/// Its files, in a fixed order; none if it is missing.
std::vector<std::filesystem::path> files_of_dataset(const std::string& name, const std::filesystem::path& data_dir = {});

/// What a set has.
struct DatasetFacts {
  std::size_t train_rows = 0;
  std::size_t test_rows = 0;
  Shape shape;
  std::uint32_t classes = 0;
};

/// Shape and classes of a set, found or not, as it is prepared without options; no rows.
DatasetFacts usual_facts(const std::string& name);

/// Of a set that is found, without reading large ones. Throws like load_dataset().
DatasetFacts facts_of(const std::string& name, const std::filesystem::path& data_dir = {});

}  // namespace rubato
