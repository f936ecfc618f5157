#include "tests/house/pages.hpp"

#include <algorithm>
#include <array>
#include <regex>
#include <sstream>
#include <string>

namespace rubato::house {

namespace fs = std::filesystem;

namespace {

constexpr std::array<std::string_view, 16> folders{"runtime", "learning", "algos", "transports", "experiment", "results",
                                                   "actors",  "app",      "web",   "rubato",     "examples",   "bench",
                                                   "tests",   "tools",    "cmake", "docs"};

bool is_in_tree(std::string_view path) {
  const auto slash = path.find('/');
  return slash != path.npos && std::ranges::find(folders, path.substr(0, slash)) != folders.end();
}

// "runtime/mailbox" is there if runtime/mailbox.hpp is.
bool is_there(const fs::path& place) {
  if (fs::exists(place)) return true;
  if (place.has_extension() || !fs::is_directory(place.parent_path())) return false;
  return std::ranges::any_of(fs::directory_iterator{place.parent_path()},
                             [&](const fs::directory_entry& entry) { return entry.path().stem() == place.filename(); });
}

// Each match's first group.
std::vector<std::string> found(const std::string& line, const std::regex& what) {
  std::vector<std::string> all;
  for (std::sregex_iterator match{line.begin(), line.end(), what}, end; match != end; ++match) all.push_back((*match)[1]);
  return all;
}

// Without what a sentence has between its lines.
std::string with_whole_sentences(std::string_view tests) {
  std::string all;
  for (std::size_t i = 0; i < tests.size(); ++i) {
    const std::size_t next = tests.find_first_not_of(" \n", i + 1);
    if (tests[i] == '"' && tests.substr(i + 1).starts_with('\n') && next != tests.npos && tests[next] == '"')
      i = next;
    else
      all += tests[i];
  }
  return all;
}

}  // namespace

Faults page_faults(const fs::path& root, std::string_view path, std::string_view text) {
  static const std::regex code{"`([^`\\s#]+)[^`]*`"}, link{"\\]\\(([^):#]+)(#[^)]*)?\\)"};
  Faults faults;
  std::istringstream lines{std::string{text}};
  bool is_block = false;
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with("```")) is_block = !is_block;
    if (is_block) continue;
    const auto complain = [&](const std::string& what) {
      faults.push_back(std::string{path} + ":" + std::to_string(number) + " names " + what + ", which does not exist");
    };
    for (const std::string& place : found(line, code))
      if (is_in_tree(place) && place.find_first_of("*") == place.npos && place.find("NAME") == place.npos &&
          !is_there(root / place))
        complain(place);
    for (const std::string& target : found(line, link))
      if (!fs::exists(root / fs::path{path}.parent_path() / target)) complain(target);
  }
  return faults;
}

Faults trust_faults(std::string_view page, std::string_view tests) {
  static const std::regex name{"\"([^\"]+)\""};
  const std::string all = with_whole_sentences(tests);
  Faults faults;
  std::istringstream lines{std::string{page}};
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (!line.starts_with("| ") || line.starts_with("| field ") || line.starts_with("| --- ")) continue;
    const std::string where = "docs/trust.md:" + std::to_string(number);
    const std::string cell = line.substr(line.rfind(" | ", line.size() - 3));
    const auto attack = cell.find("attack: ");
    const auto cases = found(cell.substr(0, attack), name);
    const auto modes = found(attack == cell.npos ? "" : cell.substr(attack), name);
    if (cases.empty() && modes.empty()) faults.push_back(where + " names no test");
    for (const std::string& test : cases)
      if (all.find("TEST_CASE(\"" + test + "\"") == all.npos && all.find("TEST_CASE(\n    \"" + test + "\"") == all.npos)
        faults.push_back(where + " names the test \"" + test + "\", which does not exist");
    for (const std::string& mode : modes)
      if (all.find("\n    \"" + mode + "\": ") == all.npos)
        faults.push_back(where + " names the attack \"" + mode + "\", which does not exist");
  }
  return faults;
}

}  // namespace rubato::house
