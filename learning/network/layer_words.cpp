#include "learning/network/layer_words.hpp"

#include <cmath>
#include <optional>
#include <sstream>

#include "learning/joined.hpp"

namespace rubato {

namespace {

struct Grammar {
  std::string word;
  std::size_t numbers;
  std::vector<std::string> options;
};

const std::vector<Grammar>& grammars() {
  static const std::vector<Grammar> all{
      {"conv", 2, {"stride", "pad", "same"}},
      {"maxpool", 1, {"stride", "pad"}},
      {"meanpool", 0, {}},
      {"dense", 1, {}},
      {"relu", 0, {}},
      {"sigmoid", 0, {}},
      {"tanh", 0, {}},
      {"dropout", 1, {}},
      {"norm", 0, {}},
      {"flatten", 0, {}},
      {"residual", 1, {"stride", "project"}},
      {"signal", 0, {}},
  };
  return all;
}

const Grammar& grammar_of(const LayerWords& layer) {
  for (const Grammar& grammar : grammars())
    if (grammar.word == layer.word) return grammar;
  layer.fail("there is no such layer; allowed are " + joined(grammars(), &Grammar::word));
}

std::optional<double> number_in(const std::string& text) {
  std::istringstream stream(text);
  double number = 0;
  if (stream >> number && stream.eof() && std::isfinite(number)) return number;
  return std::nullopt;
}

bool is_flag(const std::string& option) { return option == "same" || option == "project"; }

void read_option(LayerWords& layer, const Grammar& grammar, const std::string& name, std::istringstream& rest) {
  bool is_known = false;
  for (const std::string& option : grammar.options) is_known = is_known || option == name;
  if (!is_known) layer.fail("\"" + name + "\" is not known to " + layer.word);
  if (layer.has(name)) layer.fail("\"" + name + "\" is there twice");
  if (is_flag(name)) {
    layer.options[name] = 1;
    return;
  }
  std::string text;
  rest >> text;
  const std::optional<double> number = number_in(text);
  if (!number) layer.fail("\"" + name + "\" needs a number behind it");
  layer.options[name] = *number;
}

bool is_whole(double number) { return number == std::floor(number) && std::abs(number) < 1e9; }

}  // namespace

Index LayerWords::size(std::size_t i) const {
  if (!is_whole(numbers[i]) || numbers[i] < 1) fail("its sizes are whole numbers from 1");
  return static_cast<Index>(numbers[i]);
}

Index LayerWords::option(const std::string& name, Index lowest, Index otherwise) const {
  const auto found = options.find(name);
  if (found == options.end()) return otherwise;
  if (!is_whole(found->second) || found->second < static_cast<double>(lowest)) fail(name, " is a whole number from ", lowest);
  return static_cast<Index>(found->second);
}

LayerWords read_layer(const std::string& text) {
  LayerWords layer;
  layer.text = text;
  std::istringstream stream(text);
  stream >> layer.word;
  const Grammar& grammar = grammar_of(layer);
  std::string part;
  while (stream >> part) {
    const std::optional<double> number = number_in(part);
    if (number && layer.options.empty())
      layer.numbers.push_back(*number);
    else
      read_option(layer, grammar, part, stream);
  }
  if (layer.numbers.size() != grammar.numbers)
    layer.fail(layer.word, " needs ", grammar.numbers, grammar.numbers == 1 ? " number" : " numbers");
  return layer;
}

}  // namespace rubato
