#include <cstdio>
#include <fstream>
#include <map>

#include "app/commands.hpp"
#include "app/golden/golden.hpp"
#include "runtime/printable.hpp"

namespace rubato::app {

namespace {

constexpr std::size_t longest_detail = 2000;  // bytes

// False if the disk does not take it.
bool write_answer(const std::filesystem::path& folder, const std::string& name, const GoldenVerdict& verdict) {
  if (folder.empty() || verdict.answer.empty()) return true;
  std::error_code none;  // opening the file will say it
  std::filesystem::create_directories(folder, none);
  std::ofstream file(folder / (name + ".json"), std::ios::binary);
  file << verdict.answer;
  file.close();
  if (!file) std::fprintf(stderr, "cannot write %s\n", (folder / (name + ".json")).c_str());
  return static_cast<bool>(file);
}

}  // namespace

int golden(const std::vector<std::filesystem::path>& paths, const std::filesystem::path& answers) {
  std::size_t passed = 0, wrong = 0, formulas = 0;
  std::map<std::string, std::size_t> unsupported;
  bool is_written = true;
  for (const auto& file : find_golden(paths)) {
    const GoldenVerdict verdict = check_golden(file);
    is_written = write_answer(answers, file.stem().string(), verdict) && is_written;
    if (verdict.outcome == GoldenOutcome::unsupported) {
      ++unsupported[verdict.algorithm];
      continue;
    }
    const bool is_passed = verdict.outcome == GoldenOutcome::passed;
    ++(is_passed ? passed : wrong);
    formulas += is_passed && verdict.is_formula;
    std::printf("%s %s%s%s%s\n", is_passed ? "passed" : "FAILED", printable(verdict.id).c_str(),
                verdict.is_formula ? " (formula)" : "", is_passed ? "" : ": ", printable(verdict.detail, longest_detail).c_str());
  }
  for (const auto& [algorithm, cases] : unsupported)
    std::printf("not yet supported: %s (%zu %s)\n", printable(algorithm).c_str(), cases, cases == 1 ? "case" : "cases");
  if (formulas > 0) std::printf("%zu of those passed by a formula of the harness, not by the engine\n", formulas);
  std::printf("%zu passed, %zu failed\n", passed, wrong);
  if (!is_written) return cannot_write;
  return wrong == 0 ? ok : failed;
}

}  // namespace rubato::app
