// number_from(): the number that a text is.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace rubato {

/// Nothing where the text is no number, or one that this type cannot hold, or where something follows it.
template <class Number>
std::optional<Number> number_from(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace rubato
