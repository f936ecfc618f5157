// Strict reading: every fault of a tree against the table of keys, and the defaults filled in.
#pragma once

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

/// The word that was probably meant; empty where none is near.
std::string nearest(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace rubato::config
