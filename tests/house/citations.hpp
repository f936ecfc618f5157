// The sources that the texts of the house cite, and the complaints that a citation earns which nobody can look up.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "tests/house/doors.hpp"

namespace rubato::house {

/// What docs/references.md offers to those who cite.
struct References {
  std::set<std::string, std::less<>> anchors;                 ///< of headings, as GitHub makes them, and <a id="...">
  std::map<std::string, std::string, std::less<>> decisions;  ///< code -> anchor of its section
  Faults faults;                                              ///< anchors and codes that are there twice
};

/// Reads the text of docs/references.md. A decision is listed in a table row that begins with its code.
References references_in(std::string_view text);

/// Citations in one text that do not resolve, and citations of texts that no clone has:
///   * an anchor of references.md that is not there; in references.md itself also of a link into the same page
///   * a decision that is not listed, or cited in a text that does not name the section which lists it
///   * the names that papers had before docs/references.md: "S4", "specification 5.1", algorithms.md
Faults citation_faults(const References& references, std::string_view path, std::string_view text);

/// An algorithm of the catalogue whose head, above its first #include, cites no entry of docs/references.md.
Faults source_faults(std::string_view path, std::string_view text);

}  // namespace rubato::house
