// The binary version of CIFAR-10: records of one label byte and 3 x 32 x 32 bytes of red, green and blue planes.
#pragma once

#include <filesystem>
#include <span>

#include "learning/data/file_stream.hpp"
#include "learning/data/table.hpp"

namespace rubato {

/// The records of all files, one after the other. Plain, gzip or xz. Throws std::invalid_argument with a sentence
/// naming the file and the record.
template <class Real>
Table<Real> read_cifar(std::span<const std::filesystem::path> files, std::size_t limit = most_stored_bytes);

}  // namespace rubato
