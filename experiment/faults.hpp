// Faults: all that is wrong with one experiment, whether its file, its values or its parts have it.
#pragma once

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiment/experiment.hpp"

namespace rubato::config {

/// Collects what is wrong with one experiment.
class Faults {
 public:
  /// The line of a key, or of the table around it; 0 where it has none, negative where the command line sets it.
  using LineOf = std::function<int(std::string_view key)>;

  explicit Faults(std::string file) : file_{std::move(file)} {}
  /// For `refuse` and `attempt`; without it their faults have no line.
  void locate(LineOf line_of) { line_of_ = std::move(line_of); }

  /// What has a negative line is reported as --set.
  void add(int line, std::string key, std::string value, std::string allowed, std::string suggestion = {});
  /// The sentence begins with its key: "churn: ..." or "protocol.missing = "wait" ...".
  void refuse(const std::string& sentence);
  /// Makes a part of the experiment unless one of these keys, or something in their tables, has a fault already. What the
  /// part throws is a fault of the key that its sentence begins with, or else of the first of these.
  template <class Part>
  void attempt(std::initializer_list<std::string_view> keys, Part part) {
    if (std::ranges::any_of(keys, [this](std::string_view key) { return has(key); })) return;
    try {
      part();
    } catch (const std::invalid_argument& refusal) {
      refuse(refusal.what(), {keys.begin(), keys.size()});
    }
  }

  /// A fault of this key, of a part of it or of a table around it. What was added beyond `most_kept` is only counted and not
  /// found here.
  bool has(std::string_view key) const;
  /// Further faults are only counted: no need to word them.
  bool is_full() const { return faults_.size() == most_kept; }
  const std::vector<Fault>& all() const { return faults_; }
  void drop_if(const std::function<bool(const Fault&)>& is_none) { std::erase_if(faults_, is_none); }
  /// Throws BadExperiment with all of them, in the order of the lines, those without a line last.
  void throw_if_any() const;

 private:
  static constexpr std::size_t most_kept = 200;

  void refuse(std::string_view sentences, std::span<const std::string_view> about);

  std::string file_;
  LineOf line_of_;
  std::vector<Fault> faults_;
  std::size_t dropped_ = 0;
};

}  // namespace rubato::config
