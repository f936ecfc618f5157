// Texts made from the table of keys.
#pragma once

#include <string>

#include "experiment/file/value.hpp"

namespace rubato::config {

/// The tree in the order of the table of keys, without what other choices own and without empty texts that must be set.
Table chosen_in(const Table& root);

/// chosen_in as TOML.
std::string to_document(const Table& root);

}  // namespace rubato::config
