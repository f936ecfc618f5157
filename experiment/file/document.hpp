// Texts made from the table of keys.
#pragma once

#include <string>

#include "experiment/file/value.hpp"

namespace rubato::config {

/// The whole tree as TOML, in the order of the table of keys and without what other choices own.
std::string to_document(const Table& root);

}  // namespace rubato::config
