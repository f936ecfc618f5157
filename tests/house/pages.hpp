// What a page of documentation says of the tree, and the complaints that it earns where the tree has no such thing.
#pragma once

#include <filesystem>
#include <string_view>

#include "tests/house/doors.hpp"

namespace rubato::house {

/// Paths of the tree in `code`, with or without a file's ending, and links to files, which do not exist. NAME stands for
/// any name. Blocks between ``` are not read.
Faults page_faults(const std::filesystem::path& root, std::string_view path, std::string_view text);

/// Lines of the tables of docs/trust.md that name no test, and tests that they name and that are not in `tests`: the sources of
/// all tests, one after the other. A test is a case, or a mode of the attacker.
Faults trust_faults(std::string_view page, std::string_view tests);

}  // namespace rubato::house
