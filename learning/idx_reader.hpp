// The IDX format of MNIST and its kin: big-endian magic and dimensions, then unsigned bytes.
#pragma once

#include <filesystem>

#include "learning/dataset.hpp"

namespace rubato {

/// Images scaled to 0..1, one a row, and their labels; `first_label` (0, or 1 where a set counts its classes from 1)
/// becomes class 0. Plain or gzip. Throws std::invalid_argument with a sentence naming the file.
template <class Real>
Samples<Real> read_idx(const std::filesystem::path& images, const std::filesystem::path& labels, std::uint32_t classes,
                       std::uint32_t first_label = 0);

}  // namespace rubato
