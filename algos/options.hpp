// The options of an algorithm as they stand in the experiment file, by name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace rubato {

class AlgorithmOptions {
 public:
  /// A list has a number for each client.
  using Value = std::variant<bool, std::int64_t, double, std::string, std::vector<double>>;

  void set(const std::string& name, Value value) { values_[name] = std::move(value); }
  bool has(const std::string& name) const { return values_.contains(name); }
  const std::map<std::string, Value>& all() const { return values_; }

  /// The named option, or the fallback where it is not set. Throws std::invalid_argument if its type is another.
  double number(const std::string& name, double fallback) const;
  std::int64_t whole(const std::string& name, std::int64_t fallback) const;
  bool flag(const std::string& name, bool fallback) const;
  std::string word(const std::string& name, const std::string& fallback) const;
  /// One number for everybody, or one for each client.
  std::vector<double> numbers(const std::string& name, double fallback) const;

  bool operator==(const AlgorithmOptions&) const = default;

 private:
  std::map<std::string, Value> values_;
};

/// Throws std::invalid_argument: "algorithm.eta = 0: must be greater than 0".
[[noreturn]] void refuse_option(const std::string& name, const std::string& value, const std::string& condition);
[[noreturn]] void refuse_option(const std::string& name, double value, const std::string& condition);

/// A number that differs from client to client, or not.
class PerClientNumber {
 public:
  PerClientNumber() = default;
  PerClientNumber(std::vector<double> values) : values_{std::move(values)} {}
  double of(std::size_t client) const { return values_.size() == 1 ? values_[0] : values_.at(client); }
  double greatest() const { return *std::max_element(values_.begin(), values_.end()); }

 private:
  std::vector<double> values_{0.0};
};

/// eta, or eta / (k + offset) with step = "diminishing"; k counts from 0.
class StepSize {
 public:
  StepSize() = default;
  /// Reads `name` (a number or one per client, greater than 0), step and step_offset.
  StepSize(const AlgorithmOptions& options, const std::string& name, double fallback);
  double at(std::size_t client, std::uint64_t k) const {
    const double eta = eta_.of(client);
    return offset_ > 0 ? eta / (static_cast<double>(k) + offset_) : eta;
  }
  /// The first step of the client with the longest.
  double greatest() const { return offset_ > 0 ? eta_.greatest() / offset_ : eta_.greatest(); }

 private:
  PerClientNumber eta_;
  double offset_ = 0;
};

}  // namespace rubato
