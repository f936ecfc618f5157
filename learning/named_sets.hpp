// Data sets by name: where their files are looked for, and what to do when they are missing.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "learning/dataset.hpp"

namespace rubato {

/// mnist, fashion-mnist, emnist, emnist-letters, digits.
std::vector<std::string> dataset_names();

/// Looks into `data_dir` if it is not empty, else into $RUBATO_DATA if set, else into ./data; every set has a folder of
/// its own there. digits comes with Rubato and is found without any of them. Throws std::invalid_argument: an unknown
/// name lists the known, missing files say which, where they come from and where to put them.
template <class Real>
std::shared_ptr<const Dataset<Real>> load_dataset(const std::string& name, const std::filesystem::path& data_dir = {});

/// The folder in which the set was found; empty if it is missing.
std::filesystem::path find_dataset(const std::string& name, const std::filesystem::path& data_dir = {});

}  // namespace rubato
