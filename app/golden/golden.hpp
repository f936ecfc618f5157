// Golden cases: numbers that decide which code is right, computed once more by the engine of `rubato run`, or by a formula of the
// harness where a verdict says so.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace rubato {

enum class GoldenOutcome { passed, failed, unsupported };

struct GoldenVerdict {
  std::string id;
  std::string algorithm;
  GoldenOutcome outcome = GoldenOutcome::failed;
  bool is_formula = false;  ///< the answer was computed by the harness alone
  std::string detail;       ///< failed: the first difference, or why the case could not be read
  std::string answer;       ///< the whole answer as JSON, {"id": .., "expect": {..}}; empty if there is none
};

/// Runs one case. What is wrong with the file or with us is a failed verdict, never an exception.
GoldenVerdict check_golden(const std::filesystem::path& file);

/// The cases below the paths (files, or folders whose *.json but INDEX.json are taken), sorted by name. Throws
/// std::invalid_argument for a path that does not exist or holds no case.
std::vector<std::filesystem::path> find_golden(const std::vector<std::filesystem::path>& paths);

}  // namespace rubato
