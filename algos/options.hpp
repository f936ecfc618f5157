// The options of an algorithm as they stand in the experiment file, by name.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>

namespace rubato {

class AlgorithmOptions {
 public:
  using Value = std::variant<bool, std::int64_t, double, std::string>;

  void set(const std::string& name, Value value) { values_[name] = std::move(value); }
  bool has(const std::string& name) const { return values_.contains(name); }

  /// The named option, or the fallback where it is not set. Throws std::invalid_argument if its type is another.
  double number(const std::string& name, double fallback) const;
  std::int64_t whole(const std::string& name, std::int64_t fallback) const;
  bool flag(const std::string& name, bool fallback) const;
  std::string word(const std::string& name, const std::string& fallback) const;

 private:
  std::map<std::string, Value> values_;
};

}  // namespace rubato
