// A bare series of little-endian 32-bit floats.
#pragma once

#include <filesystem>
#include <vector>

#include "learning/data/file_stream.hpp"

namespace rubato {

/// Plain, gzip or xz. Throws std::invalid_argument with a sentence naming the file if it is empty, no whole number of
/// floats, or has one that is not finite.
std::vector<float> read_series(const std::filesystem::path& file, std::size_t limit = most_stored_bytes);

}  // namespace rubato
