// The doors of the house as a table, and the complaints that a text earns when it does not respect them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rubato::house {

/// One sentence each; empty when all is well.
using Faults = std::vector<std::string>;

/// Includes that no door allows. The path is relative to the repository, as in "algos/draco.cpp".
Faults door_faults(std::string_view path, std::string_view text);

/// Which folder includes which, and how many files each has.
class FolderGraph {
 public:
  void add(std::string_view path, std::string_view text);
  /// Two folders that include each other, and folders with too many files.
  Faults faults() const;

 private:
  std::map<std::string, std::size_t> files_;
  std::map<std::string, std::map<std::string, std::string>> includes_;  // by folder and folder: the first example
};

/// A header without #pragma once.
Faults header_faults(std::string_view path, std::string_view text);

/// A source file that includes something else before its own header, which then might lean on it.
Faults own_header_faults(std::string_view path, std::string_view text);

/// A note to do something that does not say what would settle it, and references to papers that no clone contains.
Faults word_faults(std::string_view path, std::string_view text);

/// Pronouns for persons where a client, a host or a thread is meant.
Faults person_faults(std::string_view path, std::string_view text);

/// Differences between the link line of a room's target and its doors. A part of a room (folder "runtime/world") may
/// use fewer doors than the room.
Faults link_faults(std::string_view folder, const std::vector<std::string>& link_line);

}  // namespace rubato::house
