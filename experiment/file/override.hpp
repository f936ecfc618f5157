// --set key=value: what the command line lays over the file.
#pragma once

#include <iosfwd>
#include <span>
#include <string>

#include "experiment/file/check.hpp"

namespace rubato::config {

/// Whole tables are laid first, then choices (keys on which other keys depend, such as topology.kind), then the other
/// keys, each in the order given. When a choice changes, the file's keys that the new choice does not know are dropped
/// and named in `notes`. Values that are not TOML but one bare word are texts.
void apply_overrides(Table& root, std::span<const std::string> overrides, Faults& faults, std::ostream& notes);

}  // namespace rubato::config
