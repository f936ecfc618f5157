// Every source that a comment or a page cites can be looked up in docs/references.md.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/house/citations.hpp"

namespace fs = std::filesystem;
using namespace rubato::house;

namespace {

const fs::path root{RUBATO_SOURCE_DIR};

std::string text_of(const fs::path& path) {
  std::ifstream stream{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

// Texts in which sources are cited. tests/house itself shows citations that do not resolve.
bool may_cite(const std::string& path) {
  constexpr std::array endings{".cpp", ".hpp", ".md", ".toml", ".js", ".html", ".css", ".in", ".py", ".sh", ".txt", ".cmake"};
  return !path.starts_with("tests/house/") &&
         std::ranges::any_of(endings, [&](const char* ending) { return path.ends_with(ending); });
}

template <class Visit>
void visit_texts(Visit visit) {
  // Every folder at the top that belongs to the repository: not .git, not a build tree.
  for (const auto& top : fs::directory_iterator{root}) {
    const std::string name = top.path().filename().string();
    if (top.is_regular_file() && may_cite(name)) visit(name, text_of(top.path()));
    if (!top.is_directory() || name.starts_with('.') || fs::exists(top.path() / "CMakeCache.txt")) continue;
    const bool has_sources = fs::exists(top.path() / "CMakeLists.txt") || name == "docs" || name == "tools" || name == "cmake";
    if (!has_sources) continue;
    for (const auto& entry : fs::recursive_directory_iterator{top.path()}) {
      const std::string path = entry.path().lexically_relative(root).generic_string();
      if (entry.is_regular_file() && may_cite(path)) visit(path, text_of(entry.path()));
    }
  }
}

void require_none(Faults faults) {
  std::ranges::sort(faults);
  std::string list;
  for (const std::string& fault : faults) list.append("\n  ").append(fault);
  CAPTURE(list);
  CHECK(faults.empty());
}

Faults one(std::string sentence) { return {std::move(sentence)}; }

const std::string_view small_page =
    "# References\n"
    "See [DRACO](#draco).\n"
    "### DRACO\n"
    "A paper.\n"
    "#### DRACO decisions\n"
    "| code | printed | here |\n"
    "| DR-1 | one | other |\n"
    "* <a id=\"mnist\"></a>MNIST\n";

}  // namespace

TEST_CASE("every citation of a source or a decision resolves in docs/references.md") {
  const References references = references_in(text_of(root / "docs/references.md"));
  require_none(references.faults);
  REQUIRE(references.decisions.size() > 50);
  Faults faults;
  std::size_t texts = 0, algorithms = 0;
  visit_texts([&](const std::string& path, const std::string& text) {
    ++texts;
    algorithms += path.starts_with("algos/") && text.find("docs/references.md#") != std::string::npos;
    std::ranges::copy(citation_faults(references, path, text), std::back_inserter(faults));
    if (path.starts_with("algos/")) std::ranges::copy(source_faults(path, text), std::back_inserter(faults));
  });
  require_none(faults);
  CHECK(texts > 500);
  CHECK(algorithms > 25);
}

TEST_CASE("a page of references offers its headings, its written anchors and the decisions in its tables") {
  const References references = references_in(small_page);
  CHECK(references.faults.empty());
  CHECK(references.anchors == std::set<std::string, std::less<>>{"references", "draco", "draco-decisions", "mnist"});
  CHECK(references.decisions == std::map<std::string, std::string, std::less<>>{{"DR-1", "draco-decisions"}});
  CHECK(references_in("## AB & Push-Pull\n### FedAvg+\n").anchors == std::set<std::string, std::less<>>{"ab--push-pull", "fedavg"});
}

TEST_CASE("an anchor or a decision that is there twice is answered with a sentence") {
  CHECK(references_in("## NIDS\n### nids\n").faults == one("docs/references.md has the anchor #nids twice"));
  CHECK(references_in("| DR-1 | a | b |\n| DR-1 | c | d |\n").faults == one("docs/references.md lists DR-1 twice"));
}

TEST_CASE("a citation that docs/references.md does not list is answered with a sentence") {
  const References references = references_in(small_page);
  const auto faults = [&](std::string_view path, std::string_view text) { return citation_faults(references, path, text); };
  CHECK(faults("algos/draco.cpp", "// One.\n// Source: docs/references.md#drago\n") ==
        one("algos/draco.cpp:2 cites #drago, which docs/references.md does not list"));
  CHECK(faults("examples/README.md", "[DRACO](../docs/references.md#dracos)\n") ==
        one("examples/README.md:1 cites #dracos, which docs/references.md does not list"));
  CHECK(faults("docs/references.md", "[DRACO](#dragon)\n") ==
        one("docs/references.md:1 cites #dragon, which docs/references.md does not list"));
  CHECK(faults("algos/draco.cpp", "int x;  // DR-16, see docs/references.md#draco-decisions\n") ==
        one("algos/draco.cpp:1 cites DR-16, which docs/references.md does not list"));
  CHECK(faults("algos/pame.cpp", "// t is rounded up (PA-2).\n") ==
        one("algos/pame.cpp:1 cites PA-2, which docs/references.md does not list"));
}

TEST_CASE("a decision cited without the section that lists it is answered with a sentence") {
  const References references = references_in(small_page);
  CHECK(citation_faults(references, "algos/draco.cpp", "// Source: docs/references.md#draco; DR-1 is kept.\n") ==
        one("algos/draco.cpp:1 cites DR-1 without docs/references.md#draco-decisions"));
}

TEST_CASE("a source named as before docs/references.md is answered with a sentence") {
  const References references = references_in(small_page);
  const auto fault = [&](std::string_view path, std::string_view text) { return citation_faults(references, path, text); };
  const std::string rest = ", which docs/references.md does not list";
  CHECK(fault("algos/draco.cpp", "// Source: S4, chapter 3.\n") == one("algos/draco.cpp:1 cites \"S4\"" + rest));
  CHECK(fault("algos/ab.cpp", "// AB as S3 compares with it.\n") == one("algos/ab.cpp:1 cites \"S3\"" + rest));
  CHECK(fault("algos/ab.cpp", "// Source: the Project specification.\n") ==
        one("algos/ab.cpp:1 cites \"Project specification\"" + rest));
  CHECK(fault("algos/ab.cpp", "// Project\n// specification 6.3.\n") == one("algos/ab.cpp:2 cites \"specification 6.3.\"" + rest));
  CHECK(fault("experiment/experiment.hpp", "/// Keys, design section 10.\n") ==
        one("experiment/experiment.hpp:1 cites \"design section 10\"" + rest));
  CHECK(fault("docs/architecture.md", "Mailboxes follow algorithms.md 2.4.\n") ==
        one("docs/architecture.md:1 cites \"algorithms.md\"" + rest));
}

TEST_CASE("an algorithm without a source is answered with a sentence") {
  const std::string entry = "constinit const CatalogueEntry entries::draco{\n";
  const std::string cited = "// DRACO.\n// Source: docs/references.md#draco\n#include \"algos/entries.hpp\"\n";
  CHECK(source_faults("algos/draco.cpp", cited + entry).empty());
  const Faults without = one("algos/draco.cpp is an algorithm whose head cites no entry of docs/references.md");
  CHECK(source_faults("algos/draco.cpp", "// DRACO.\n#include \"algos/entries.hpp\"\n" + entry) == without);
  CHECK(source_faults("algos/draco.cpp", "#include \"algos/entries.hpp\"\n// docs/references.md#draco\n" + entry) == without);
  CHECK(source_faults("algos/gossip.cpp", "// Not in the catalogue.\n").empty());
}

TEST_CASE("citations that resolve, identifiers and strings earn no complaint") {
  const References references = references_in(small_page);
  const std::string_view text =
      "// DR-1 (docs/references.md#draco-decisions), as docs/references.md#draco and docs/references.md have it.\n"
      "template <class S1> void f(const char* code = \"DR-99\");\n"
      "// UTF-8, ISO-8859-1 and XDR-10 are no decisions; the specification is no source with a number.\n";
  CHECK(citation_faults(references, "algos/draco.cpp", text).empty());
}
