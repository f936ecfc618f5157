// The IDX format of MNIST and its kin: big-endian magic and dimensions, then unsigned bytes.
#pragma once

#include <filesystem>

#include "learning/data/file_stream.hpp"
#include "learning/data/table.hpp"

namespace rubato {

/// Images (rows x height x width, or rows x channels x height x width) and their labels. Plain, gzip or xz. Throws
/// std::invalid_argument with a sentence naming the file.
template <class Real>
Table<Real> read_idx(const std::filesystem::path& images, const std::filesystem::path& labels,
                     std::size_t limit = most_stored_bytes);

/// The number of images that the file promises.
std::size_t count_idx(const std::filesystem::path& images);

}  // namespace rubato
