// Sentence: what is said of a value that is refused, put together from words and numbers.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace rubato {

/// The parts as a stream writes them, so numbers with six digits.
template <class... Parts>
std::string sentence(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

/// Throws it as std::invalid_argument.
template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  throw std::invalid_argument(sentence(parts...));
}

/// "a, b, c": the names of all kinds.
template <class Kinds>
std::string names_of(const Kinds& kinds) {
  std::string names;
  for (const auto& kind : kinds) names.append(names.empty() ? "" : ", ").append(kind.name);
  return names;
}

}  // namespace rubato
