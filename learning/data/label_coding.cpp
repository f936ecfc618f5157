#include "learning/data/label_coding.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "learning/data/line_reader.hpp"

namespace rubato {

namespace {

constexpr std::size_t most_classes = 65536;

std::string as_label(double number) {
  return number == std::floor(number) && std::abs(number) < 1e15 ? std::to_string(static_cast<std::int64_t>(number))
                                                                 : std::to_string(number);
}

std::vector<double> different_numbers(std::vector<double> numbers, const std::string& file) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  if (numbers.size() > most_classes)
    refuse(file, ": has ", numbers.size(),
           " different labels; allowed are 65536 classes (numbers are learned with data.learn = \"number\")");
  return numbers;
}

std::vector<std::string> ordered(std::vector<std::string> words, std::vector<std::string> order, const std::string& file) {
  std::sort(words.begin(), words.end());
  if (order.empty()) return words;
  for (const std::string& word : words)
    if (std::find(order.begin(), order.end(), word) == order.end())
      refuse(file, ": has the label ", shown(word), ", which data.label_order does not name");
  return order;
}

}  // namespace

std::vector<Label> numbered_labels(const LabelColumn& column, std::uint32_t classes, std::int64_t first, const std::string& file) {
  if (!column.words.empty()) refuse(file, ": has words as labels where numbers belong, such as ", shown(column.words.front()));
  std::vector<Label> labels;
  labels.reserve(column.size());
  for (const double number : column.numbers) {
    const double place = number - static_cast<double>(first);
    if (place >= 0 && place < classes && place == std::floor(place)) {
      labels.push_back(static_cast<Label>(place));
      continue;
    }
    refuse(file, ": row ", labels.size(), " has the label ", as_label(number), "; allowed are ", first, " to ",
           first + classes - 1);
  }
  return labels;
}

ClassNames::ClassNames(const LabelColumn& training, std::vector<std::string> order, const std::string& file)
    : are_words_{!training.words.empty()} {
  if (are_words_)
    words_ = ordered(training.words, std::move(order), file);
  else if (order.empty())
    numbers_ = different_numbers(training.numbers, file);
  else
    refuse(file, ": has numbers as labels, which data.label_order cannot name");
}

std::vector<std::string> ClassNames::names() const {
  if (are_words_) return words_;
  std::vector<std::string> names;
  for (const double number : numbers_) names.push_back(as_label(number));
  return names;
}

std::uint32_t ClassNames::size() const { return static_cast<std::uint32_t>(are_words_ ? words_.size() : numbers_.size()); }

std::vector<Label> ClassNames::coded(const LabelColumn& column, const std::string& file) const {
  if (column.words.empty() == are_words_ && column.size() > 0)
    refuse(file, ": has ", are_words_ ? "numbers" : "words", " as labels; the training part does not");
  const auto unknown = [&](std::size_t row, const std::string& label) {
    refuse(file, ": row ", row, " has the label ", label, ", which the training part does not have");
  };
  std::vector<Label> labels;
  labels.reserve(column.size());
  for (std::size_t row = 0; row < column.size(); ++row) {
    if (are_words_) {
      const std::string& word = column.words[static_cast<std::size_t>(column.numbers[row])];
      const auto found = std::find(words_.begin(), words_.end(), word);
      if (found == words_.end()) unknown(row, shown(word));
      labels.push_back(static_cast<Label>(found - words_.begin()));
    } else {
      const auto found = std::lower_bound(numbers_.begin(), numbers_.end(), column.numbers[row]);
      if (found == numbers_.end() || *found != column.numbers[row]) unknown(row, as_label(column.numbers[row]));
      labels.push_back(static_cast<Label>(found - numbers_.begin()));
    }
  }
  return labels;
}

}  // namespace rubato
