// The doors of the house as a table, and the complaints that a text earns when it does not respect them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rubato::house {

/// One sentence each; empty when all is well.
using Faults = std::vector<std::string>;

/// Includes that no door allows. The path is relative to the repository, as in "algos/draco.cpp".
Faults door_faults(std::string_view path, std::string_view text);

/// A header without #pragma once.
Faults header_faults(std::string_view path, std::string_view text);

/// A source file that includes something else before its own header, which then might lean on it.
Faults own_header_faults(std::string_view path, std::string_view text);

/// A note to do something that does not say what would settle it, and references to papers that no clone contains.
Faults word_faults(std::string_view path, std::string_view text);

/// Differences between the link line of a room's target and its doors. A part of a room (folder "runtime/world") may
/// use fewer doors than the room.
Faults link_faults(std::string_view folder, const std::vector<std::string>& link_line);

}  // namespace rubato::house
