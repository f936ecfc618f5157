// The words of a choice: what an experiment file calls the values of an enumeration. Beside each enumeration that a file
// knows stands a function word_list, which lists them in its order: "ring|star". A value behind the last word is one that no
// file names. Of an std::optional the first word stands for nothing.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>

namespace rubato {

/// The word at this place of "a|b|c".
constexpr std::string_view word_at(std::string_view words, std::size_t place) {
  for (; place > 0; --place) words.remove_prefix(words.find('|') + 1);
  return words.substr(0, words.find('|'));
}

/// The file's word for a choice.
template <class Choice>
constexpr std::string_view word_of(Choice choice) {
  return word_at(word_list(choice), static_cast<std::size_t>(choice));
}
/// The same for a choice that may be left to the program.
template <class Choice>
constexpr std::string_view word_of(std::optional<Choice> choice) {
  return word_at(word_list(choice), choice ? 1 + static_cast<std::size_t>(*choice) : 0);
}

/// The choice with this word, which must be one of its list.
template <class Choice>
constexpr Choice choice_of(std::string_view word) {
  std::size_t place = 0;
  while (word_at(word_list(Choice{}), place) != word) ++place;
  if constexpr (std::is_enum_v<Choice>)
    return static_cast<Choice>(place);
  else
    return place == 0 ? Choice{} : Choice{static_cast<typename Choice::value_type>(place - 1)};
}

}  // namespace rubato
