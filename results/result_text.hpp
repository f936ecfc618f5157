// Numbers as they stand in the files of results.
#pragma once

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "experiment/experiment.hpp"
#include "results/run_result.hpp"

namespace rubato {

/// Keys stay in the order in which they were set.
using ResultJson = nlohmann::ordered_json;

/// The shortest text that is read back as the same number.
inline std::string shortest(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return {text, end};
}

/// A field of a CSV line: in quotes where it needs them.
inline std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == text.npos) return text;
  std::string safe = "\"";
  for (const char letter : text) safe += letter == '"' ? std::string("\"\"") : std::string(1, letter);
  return safe + "\"";
}

/// JSON knows no infinity and no NaN: null stands for them.
inline ResultJson finite(double value) { return std::isfinite(value) ? ResultJson(value) : ResultJson(nullptr); }

/// Null where there is none.
template <class Value>
ResultJson or_null(const std::optional<Value>& value) {
  return value ? ResultJson(*value) : ResultJson(nullptr);
}

/// What summary.json holds.
ResultJson summary_of(const config::Experiment& experiment, const RunResult& result);

}  // namespace rubato
