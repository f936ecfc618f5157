// Whole files: a reader sees the file as it was or the new one, never a part of it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace rubato {

/// Whether the disk is asked to keep the bytes before the file takes its place: slow, and what survives a power cut.
enum class Durability { of_process, of_disk };

/// Writes the text beside the file, under a name that no other process has, and renames it. Throws RunFailed where the disk does
/// not take it.
void write_whole(const std::filesystem::path& file, std::string_view text, Durability durability = Durability::of_process);

/// What is in the file; nothing where it cannot be opened.
std::optional<std::string> read_whole(const std::filesystem::path& file);

}  // namespace rubato
