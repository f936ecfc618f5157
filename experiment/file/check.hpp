// Strict reading: what the command line lays over a tree, every fault of it against the table of keys and between keys, and
// the defaults filled in.
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/faults.hpp"
#include "experiment/file/keys.hpp"
#include "experiment/file/value.hpp"

namespace rubato::config {

/// A fault of the value, which stands at this path.
void add_fault(Faults& faults, const Value& value, std::string key, std::string allowed, std::string suggestion = {});

/// The line of the value at this path, or of the table around it.
int line_of(Table& root, std::string_view path);

/// Compares the tree with the table of keys, fills in defaults and lets paths start at `folder`. What is not in
/// `faults` afterwards can be taken from the tree without further checks.
void check_experiment(Table& root, const std::filesystem::path& folder, Faults& faults);

/// The same of a file that holds keys of [churn].
void check_churn_file(Table& lines, Table& experiment, const std::filesystem::path& folder, Faults& faults);

/// --set key=value. Whole tables are laid first, then choices (keys on which other keys depend, such as topology.kind), then the
/// other keys, each in the order given. When a choice changes, the file's keys that the new choice does not know are dropped
/// and named in `notes`. Values that are not TOML but one bare word are texts.
void apply_overrides(Table& root, std::span<const std::string> overrides, Faults& faults, std::ostream& notes);

/// Adds a fault for every relation that is broken among keys without faults; fills mailbox.cap_period from the
/// unification period where a cap needs it. `root` is the tree of the experiment, with faulty keys as they are written.
void check_relations(Experiment& experiment, Table& root, Faults& faults);

/// Sentences about what is allowed but looks unwise.
void warn(const Experiment& experiment, std::ostream& notes);

/// The word that was probably meant; empty where none is near.
std::string nearest(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace rubato::config
