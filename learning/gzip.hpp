// Reading whole files, gzip-compressed or plain.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

namespace rubato {

/// The contents of a file, decompressed if it starts like gzip. Throws std::invalid_argument with a sentence naming the
/// file if it cannot be opened, is cut short or corrupt, or holds (decompressed) more than `limit` bytes; it never
/// allocates beyond the limit.
std::vector<unsigned char> read_whole_file(const std::filesystem::path& file, std::size_t limit);

}  // namespace rubato
