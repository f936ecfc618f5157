// From TOML text to the tree. The only place that knows toml++.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "experiment/file/value.hpp"

namespace rubato::config {

/// Why a text is not TOML; toml++ stops at the first reason.
struct SyntaxError {
  std::string reason;
  int line = 0;
};

/// Every value carries its line. A key given twice is a syntax error.
std::variant<Table, SyntaxError> parse_document(std::string_view text);

/// One value as on the right of a key, no more: "1.5", "[1, 2]", "{ law = \"off\" }". All lines are `line`.
std::variant<Value, SyntaxError> parse_value(std::string_view text, int line);

}  // namespace rubato::config
