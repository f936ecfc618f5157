// printable(): text of others as it may be shown on a terminal and written to a log.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rubato {

/// Bytes of a text of others that are shown unless the caller says otherwise.
inline constexpr std::size_t most_printable_bytes = 200;

/// The text with each byte that could steer a terminal or tear a line as \xNN: control characters, those that change the
/// direction of writing or break lines, and what is not UTF-8. At most `most` bytes long; what was cut off is "..." (so
/// `most` is at least 3).
std::string printable(std::string_view text, std::size_t most = most_printable_bytes);

}  // namespace rubato
