#include "experiment/faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

namespace rubato::config {

namespace {

// Whether the path is this one or leads further into it.
bool is_within(std::string_view path, std::string_view outer) {
  return path.starts_with(outer) && (path.size() == outer.size() || path[outer.size()] == '.' || path[outer.size()] == '[');
}

// "churn" of "churn: ...", "protocol.missing" of "protocol.missing = ...".
std::string_view first_word(std::string_view sentence) { return sentence.substr(0, sentence.find_first_of(": ")); }

std::string_view top_of(std::string_view key) { return key.substr(0, key.find('.')); }

}  // namespace

void Faults::add(int line, std::string key, std::string value, std::string allowed, std::string suggestion) {
  if (is_full()) return void(++dropped_);
  faults_.push_back(
      {line < 0 ? "--set" : file_, std::max(line, 0), std::move(key), std::move(value), std::move(allowed), std::move(suggestion)});
}

void Faults::refuse(const std::string& sentence) {
  const std::string_view key = first_word(sentence);
  refuse(sentence, {&key, 1});
}

void Faults::refuse(std::string_view sentences, std::span<const std::string_view> about) {
  while (!sentences.empty()) {
    const std::string_view sentence = sentences.substr(0, sentences.find('\n'));
    sentences.remove_prefix(std::min(sentences.size(), sentence.size() + 1));
    const std::string_view word = first_word(sentence);
    const bool is_key = std::ranges::any_of(about, [&](std::string_view key) { return top_of(key) == top_of(word); });
    const std::string key(is_key ? word : about.front());
    add(line_of_ ? line_of_(key) : 0, key, "", std::string(sentence));
  }
}

bool Faults::has(std::string_view key) const {
  return std::ranges::any_of(
      faults_, [&](const Fault& fault) { return is_within(fault.key, key) || (!fault.key.empty() && is_within(key, fault.key)); });
}

void Faults::throw_if_any() const {
  if (faults_.empty()) return;
  std::vector<Fault> sorted = faults_;
  const auto rank = [](const Fault& fault) { return static_cast<unsigned>(fault.line) - 1; };  // no line: the largest
  std::ranges::stable_sort(sorted, {}, rank);
  if (dropped_ > 0) sorted.push_back({file_, 0, "", "", fmt::format("and {} more faults", dropped_), ""});
  throw BadExperiment(std::move(sorted));
}

std::string to_string(const Fault& fault) {
  const bool names_key = fault.allowed.starts_with(fault.key + ":") || fault.allowed.starts_with(fault.key + " ");
  std::string text = fault.file;
  if (fault.line > 0) text += fmt::format(":{}", fault.line);
  text += ": ";
  if (!fault.key.empty() && !names_key) text += fault.key + (fault.value.empty() ? ": " : " = " + fault.value + ": ");
  text += fault.allowed;
  return fault.suggestion.empty() ? text : fmt::format("{}; did you mean {}?", text, fault.suggestion);
}

BadExperiment::BadExperiment(std::vector<Fault> faults)
    : std::invalid_argument(fmt::format("{}", fmt::join(faults | std::views::transform(to_string), "\n"))),
      faults_{std::move(faults)} {}

}  // namespace rubato::config
