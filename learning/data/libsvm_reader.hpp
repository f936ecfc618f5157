// The LIBSVM format: a line per sample, its label and the numbers that are not 0 as index:number.
#pragma once

#include <filesystem>

#include "learning/data/file_stream.hpp"
#include "learning/data/table.hpp"

namespace rubato {

/// Indices count from 1 and ascend; what stands behind # is skipped. `features`: how many there are, because a file
/// need not use the last ones; 0: the largest index, for which the file is read twice. Plain, gzip or xz. Throws
/// std::invalid_argument with a sentence naming file and line.
template <class Real>
Table<Real> read_libsvm(const std::filesystem::path& file, std::size_t features, std::size_t limit = most_stored_bytes);

}  // namespace rubato
