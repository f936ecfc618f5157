#include "tests/house/citations.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <regex>
#include <vector>

namespace rubato::house {

namespace {

constexpr std::string_view page = "docs/references.md";

// A pattern, and words of which a line must have one to be worth its time.
struct Pattern {
  std::regex regex;
  std::vector<std::string_view> hints;
};

// Decisions of the algorithms, channels, graphs, baselines and partitions.
const Pattern decision{std::regex(R"(\b(?:DR|SP|PA|DE|DC|C2|KD|CH|TO|FA|AN|BA|PT)-[0-9]+\b)"),
                       {"DR-", "SP-", "PA-", "DE-", "DC-", "C2-", "KD-", "CH-", "TO-", "FA-", "AN-", "BA-", "PT-"}};
const Pattern decision_row{std::regex(R"(^\| *([A-Z][A-Z0-9]-[0-9]+) *\|)"), {"|"}};
const Pattern cited_anchor{std::regex(R"(references\.md#([A-Za-z0-9_-]*))"), {"references.md#"}};
const Pattern link_into_page{std::regex(R"(\]\(#([A-Za-z0-9_-]*)\))"), {"](#"}};
const Pattern written_anchor{std::regex("<a id=\"([^\"]*)\">"), {"<a id="}};

// The specification from which the first algorithms were written, and its names for papers.
const Pattern before_references{std::regex(R"(\bS[0-4]\b|\b[Pp]roject [Ss]pecification\b|)"
                                           R"(\b[Ss]pecification,? (?:section )?[0-9][0-9.]*|)"
                                           R"(\b[Dd]esign section [0-9]+|\balgorithms\.md\b)"),
                                {"S0", "S1", "S2", "S3", "S4", "pecification", "esign section", "algorithms.md"}};

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// All matches of a pattern in a line; of its first group if it has one.
std::vector<std::string> matches(const Pattern& pattern, const std::string& line) {
  if (std::ranges::none_of(pattern.hints, [&](std::string_view hint) { return line.find(hint) != line.npos; })) return {};
  const int group = pattern.regex.mark_count() > 0 ? 1 : 0;
  return {std::sregex_token_iterator(line.begin(), line.end(), pattern.regex, group), std::sregex_token_iterator()};
}

// Lower case, blanks as hyphens, and of all else letters, digits, hyphens and underscores: what GitHub makes of a
// title.
std::string slug(std::string_view title) {
  std::string made;
  for (const char c : title) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == ' ') made += '-';
    if (std::isalnum(byte) || c == '-' || c == '_') made += static_cast<char>(std::tolower(byte));
  }
  return made;
}

// What a reader reads: the comments of code and of TOML, all of anything else.
std::string prose_of(std::string_view path, const std::string& line) {
  const bool is_code = path.ends_with(".cpp") || path.ends_with(".hpp") || path.ends_with(".js");
  const bool has_hashes = path.ends_with(".toml") || path.ends_with(".py") || path.ends_with(".sh") || path.ends_with(".txt") ||
                          path.ends_with(".cmake");
  if (!is_code && !has_hashes) return line;
  const auto begin = line.find(is_code ? "//" : "#");
  return begin == std::string::npos ? std::string() : line.substr(begin);
}

std::string unlisted(std::string_view path, std::size_t number, const std::string& what) {
  return std::string{path} + ":" + std::to_string(number) + " cites " + what + ", which docs/references.md does not list";
}

}  // namespace

References references_in(std::string_view text) {
  References found;
  std::string section;
  const auto add = [&](const std::string& anchor) {
    section = anchor;
    if (!found.anchors.insert(anchor).second) found.faults.push_back(std::string{page} + " has the anchor #" + anchor + " twice");
  };
  for (const std::string& line : lines_of(text)) {
    const auto hashes = std::min(line.find_first_not_of('#'), line.size());
    if (hashes > 0 && hashes < line.size() && line[hashes] == ' ') add(slug(std::string_view{line}.substr(hashes + 1)));
    for (const std::string& anchor : matches(written_anchor, line)) add(anchor);
    for (const std::string& code : matches(decision_row, line))
      if (!found.decisions.emplace(code, section).second) found.faults.push_back(std::string{page} + " lists " + code + " twice");
  }
  return found;
}

Faults citation_faults(const References& references, std::string_view path, std::string_view text) {
  const bool is_page = path == page;
  Faults faults;
  std::size_t number = 0;
  for (const std::string& line : lines_of(text)) {
    ++number;
    auto anchors = matches(cited_anchor, line);
    if (is_page) std::ranges::copy(matches(link_into_page, line), std::back_inserter(anchors));
    for (const std::string& anchor : anchors)
      if (!references.anchors.contains(anchor)) faults.push_back(unlisted(path, number, "#" + anchor));
    const std::string prose = prose_of(path, line);
    for (const std::string& code : matches(decision, prose)) {
      const auto listed = references.decisions.find(code);
      if (listed == references.decisions.end())
        faults.push_back(unlisted(path, number, code));
      else if (!is_page && text.find("references.md#" + listed->second) == std::string_view::npos)
        faults.push_back(std::string{path} + ":" + std::to_string(number) + " cites " + code + " without " + std::string{page} +
                         "#" + listed->second);
    }
    for (const std::string& name : matches(before_references, prose)) faults.push_back(unlisted(path, number, '"' + name + '"'));
  }
  return faults;
}

Faults source_faults(std::string_view path, std::string_view text) {
  if (text.find(" CatalogueEntry entries::") == std::string_view::npos) return {};
  const std::string_view head = text.substr(0, text.find("#include"));
  if (head.find("docs/references.md#") != std::string_view::npos) return {};
  return {std::string{path} + " is an algorithm whose head cites no entry of docs/references.md"};
}

}  // namespace rubato::house
