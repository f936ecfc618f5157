// The options of an algorithm as they stand in the experiment file, by name.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace rubato {

/// Named values: what [algorithm] says besides the name. Reading one never changes it; any thread may read.
class AlgorithmOptions {
 public:
  /// A list has a number for each client.
  using Value = std::variant<bool, std::int64_t, double, std::string, std::vector<double>>;

  /// Replaces a value of that name. The name is checked when a run is built.
  void set(const std::string& name, Value value) { values_[name] = std::move(value); }
  /// Whether it has been set.
  bool has(const std::string& name) const { return values_.contains(name); }
  /// All that has been set, by name.
  const std::map<std::string, Value>& all() const { return values_; }

  /// The named option, or the fallback where it is not set. Throws std::invalid_argument if its type is another.
  double number(const std::string& name, double fallback) const;
  /// The same for a whole number.
  std::int64_t whole(const std::string& name, std::int64_t fallback) const;
  /// The same for true or false.
  bool flag(const std::string& name, bool fallback) const;
  /// The same for a word.
  std::string word(const std::string& name, const std::string& fallback) const;
  /// One number for all clients, or one for each.
  std::vector<double> numbers(const std::string& name, double fallback) const;

  bool operator==(const AlgorithmOptions&) const = default;

 private:
  std::map<std::string, Value> values_;
};

/// Throws std::invalid_argument: "algorithm.eta = 0: must be greater than 0".
[[noreturn]] void refuse_option(const std::string& name, const std::string& value, const std::string& condition);
/// The same for a number.
[[noreturn]] void refuse_option(const std::string& name, double value, const std::string& condition);

}  // namespace rubato
