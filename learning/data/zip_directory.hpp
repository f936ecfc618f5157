// The directory of a zip archive: which files it holds, and where.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "learning/data/file_stream.hpp"

namespace rubato {

struct ZipEntry {
  std::string name;
  Coding coding;
  std::uint64_t stored_length;
  std::uint64_t length;
  std::uint32_t checksum;
  std::uint64_t header_offset;
};

/// At most 10,000 entries, stored or deflated, with or without zip64. Throws std::invalid_argument with a sentence
/// naming the file.
std::vector<ZipEntry> read_zip_directory(const std::filesystem::path& archive);

/// Where the entry's contents lie.
Section section_of(const std::filesystem::path& archive, const ZipEntry& entry);

}  // namespace rubato
