// Strict reading: every fault of a tree against the table of keys, and the defaults filled in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiment/experiment.hpp"
#include "experiment/file/keys.hpp"
#include "experiment/file/value.hpp"

namespace rubato::config {

/// Collects what is wrong with one experiment.
class Faults {
 public:
  explicit Faults(std::string file) : file_{std::move(file)} {}

  /// `line` as in Value::line: by_command is reported as --set.
  void add(int line, std::string key, std::string value, std::string allowed, std::string suggestion = {});
  void add(const Value& value, std::string key, std::string allowed, std::string suggestion = {});

  /// A fault of this key or of a part of it. What was added beyond `most_kept` is only counted and not found here.
  bool has(std::string_view key) const;
  bool none() const { return faults_.empty(); }
  /// Further faults are only counted: no need to word them.
  bool is_full() const { return faults_.size() == most_kept; }
  /// In the order of the lines, those without a line last.
  std::vector<Fault> sorted() const;

 private:
  static constexpr std::size_t most_kept = 200;

  std::string file_;
  std::vector<Fault> faults_;
  std::size_t dropped_ = 0;
};

/// Compares the tree with the table of keys, fills in defaults and lets paths start at `folder`. What is not in
/// `faults` afterwards can be taken from the tree without further checks.
void check_experiment(Table& root, const std::filesystem::path& folder, Faults& faults);

/// The same of a file that holds keys of [churn].
void check_churn_file(Table& lines, const Table& experiment, const std::filesystem::path& folder, Faults& faults);

/// "" or "algorithm": "algorithm.eta".
std::string dotted(std::string_view path, std::string_view name);

/// The word that was probably meant; empty where none is near.
std::string nearest(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace rubato::config
