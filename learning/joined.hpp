// Lists in sentences.
#pragma once

#include <functional>
#include <string>

namespace rubato {

/// "a, b, c": what `text` says of each element.
template <class List, class Text = std::identity>
std::string joined(const List& list, Text text = {}) {
  std::string all;
  for (const auto& element : list) all.append(all.empty() ? "" : ", ").append(std::invoke(text, element));
  return all;
}

}  // namespace rubato
