// A look at a text before toml++ parses it, for what toml++ 3.3 does not withstand.
#pragma once

#include <optional>
#include <string_view>

#include "experiment/file/parse.hpp"

namespace rubato::config {

/// Keys of more than 16 dotted parts (toml++ limits nested values, but recurses as deep as a key has dots) and
/// characters beyond ASCII outside of strings and comments (some reach what toml++ calls unreachable). Behind the first
/// other syntax error the answer means nothing, and toml++ does not get there either.
std::optional<SyntaxError> scan(std::string_view text);

}  // namespace rubato::config
