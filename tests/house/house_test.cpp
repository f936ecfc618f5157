#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "tests/house/doors.hpp"
#include "tests/house/pages.hpp"

namespace fs = std::filesystem;
using namespace rubato::house;

namespace {

struct File {
  std::string path;  // relative to the repository
  std::string text;
};

std::string text_of(const fs::path& path) {
  std::ifstream stream{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

bool is_ours(const std::string& path) { return !path.starts_with("bench/rivals/"); }

// The files with one of these endings in these folders, in order of their paths.
std::vector<File> files(const std::vector<std::string>& folders, const std::vector<std::string>& endings) {
  const fs::path root{RUBATO_SOURCE_DIR};
  std::vector<File> found;
  for (const std::string& folder : folders)
    for (const auto& entry : fs::recursive_directory_iterator{root / folder}) {
      const std::string path = entry.path().lexically_relative(root).generic_string();
      const bool fits = std::ranges::any_of(endings, [&](const std::string& e) { return path.ends_with(e); });
      if (entry.is_regular_file() && fits && is_ours(path)) found.push_back({path, text_of(entry.path())});
    }
  std::ranges::sort(found, {}, &File::path);
  return found;
}

const std::vector<std::string> rooms_with_code{"runtime", "learning", "algos",  "transports", "experiment", "results", "actors",
                                               "app",     "web",      "rubato", "examples",   "python",     "bench"};

std::string joined(const Faults& faults) {
  std::string all;
  for (const std::string& fault : faults) all.append("\n  ").append(fault);
  return all;
}

template <class Check>
Faults faults_in(const std::vector<File>& texts, Check check) {
  Faults all;
  for (const File& file : texts) std::ranges::copy(check(file.path, file.text), std::back_inserter(all));
  return all;
}

void require_none(const Faults& faults) {
  const std::string list = joined(faults);
  CAPTURE(list);
  CHECK(faults.empty());
}

Faults one(std::string sentence) { return {std::move(sentence)}; }

}  // namespace

TEST_CASE("every include goes through a door") {
  const auto code = files(rooms_with_code, {".hpp", ".cpp"});
  REQUIRE(code.size() > 5);
  require_none(faults_in(code, door_faults));
}

TEST_CASE("folders do not include each other, and none is a cellar") {
  FolderGraph graph;
  for (const File& file : files(rooms_with_code, {".hpp", ".cpp"})) graph.add(file.path, file.text);
  require_none(graph.faults());
}

TEST_CASE("every header says #pragma once") {
  auto folders = rooms_with_code;
  folders.push_back("tests");
  require_none(faults_in(files(folders, {".hpp"}), header_faults));
}

TEST_CASE("every source file includes its own header first") {
  auto code = files({"runtime", "learning", "algos", "transports", "actors", "app", "web"}, {".cpp"});
  std::erase_if(code, [](const File& file) {
    return !fs::exists(fs::path{RUBATO_SOURCE_DIR} / fs::path{file.path}.replace_extension(".hpp"));
  });
  REQUIRE_FALSE(code.empty());
  require_none(faults_in(code, own_header_faults));
}

TEST_CASE("every note says what would settle it, and no text leans on a paper that a clone lacks") {
  auto folders = rooms_with_code;
  folders.insert(folders.end(), {"cmake", "tools"});
  const auto texts = files(folders, {".hpp", ".cpp", ".txt", ".cmake", ".in", ".toml", ".js", ".html"});
  require_none(faults_in(texts, word_faults));
}

TEST_CASE("sentences are about clients, hosts and threads, not about persons") {
  auto folders = rooms_with_code;
  folders.insert(folders.end(), {"cmake", "docs", "tools"});
  require_none(faults_in(files(folders, {".hpp", ".cpp", ".in", ".js", ".html", ".toml", ".md", ".txt", ".cmake"}), person_faults));
  CHECK(person_faults("docs/a.md", "One client waits.\nNobody waits for was_anybody_away.\n") ==
        one("docs/a.md:2 says nobody; a sentence is about the thing: which client, host, thread or file?"));
}

TEST_CASE("the link line of every room is its list of doors") {
  std::istringstream lines{text_of(RUBATO_LINK_LINES)};  // folder, then the targets it links
  std::size_t rooms_seen = 0;
  for (std::string line; std::getline(lines, line); ++rooms_seen) {
    std::istringstream words{line};
    std::string folder;
    words >> folder;
    require_none(link_faults(folder, {std::istream_iterator<std::string>{words}, {}}));
  }
  CHECK(rooms_seen >= 2);
}

TEST_CASE("every path and every link of the documentation leads somewhere") {
  auto pages = files({"docs", "examples", "bench"}, {".md"});
  pages.push_back({"README.md", text_of(fs::path{RUBATO_SOURCE_DIR} / "README.md")});
  REQUIRE(pages.size() > 10);
  require_none(faults_in(
      pages, [](const std::string& path, const std::string& text) { return page_faults(RUBATO_SOURCE_DIR, path, text); }));
}

TEST_CASE("beside every line about what is believed of hosts stands a test that exists") {
  std::string tests;
  for (const File& file : files({"tests"}, {".cpp", ".py"})) tests += file.text;
  require_none(trust_faults(text_of(fs::path{RUBATO_SOURCE_DIR} / "docs/trust.md"), tests));
  const std::string_view page =
      "| field | test |\n| --- | --- |\n| a | b |\n| a | room: \"one two\", \"three\"; attack: \"four\" |\n";
  CHECK(trust_faults(page, "TEST_CASE(\n    \"one \"\n    \"two\") {\n").size() == 3);
  CHECK(trust_faults(page, "TEST_CASE(\"one two\") TEST_CASE(\"three\")\n    \"four\": act,\n") ==
        one("docs/trust.md:3 names no test"));
}

TEST_CASE("a pod of the Kubernetes example sees its own secret key alone, and one that is done is not started again") {
  const std::string pods = text_of(fs::path{RUBATO_SOURCE_DIR} / "examples/cluster/kubernetes.yaml");
  std::istringstream lines{pods};
  int mounts = 0;
  for (std::string line; std::getline(lines, line);)
    if (line.find("name: secret-keys, mountPath") != line.npos) {
      ++mounts;
      CHECK(line.find("subPathExpr: $(POD_NAME).secret") != line.npos);
    }
  CHECK(mounts == 1);
  CHECK(pods.find("sleep infinity") != pods.npos);
}

TEST_CASE("a closed door is answered with a sentence") {
  CHECK(door_faults("algos/draco.cpp", "#include \"transports/frame.hpp\"\n") ==
        one("algos/draco.cpp includes transports/frame.hpp; algos may include learning, runtime, runtime/protocols and "
            "runtime/world"));
  CHECK(door_faults("runtime/mailbox.hpp", "  #  include <rubato/actors/virtual/client_actor.hpp>") ==
        one("runtime/mailbox.hpp includes actors/virtual/client_actor.hpp; runtime may include only the standard "
            "library"));
  CHECK(door_faults("runtime/world/graph.hpp", "#include \"runtime/protocols/push.hpp\"") ==
        one("runtime/world/graph.hpp includes runtime/protocols/push.hpp; runtime/world may include runtime"));
  CHECK(door_faults("experiment/experiment.cpp", "#include \"experiment/file/keys.hpp\"").size() == 1);
  CHECK(door_faults("results/curve.cpp", "#include \"actors/core/client_pool.hpp\"").size() == 1);
  CHECK(door_faults("actors/core/reporter.hpp", "#include \"actors/run.hpp\"").size() == 1);
  CHECK(door_faults("transports/open.cpp", "#include \"tests/support/world.hpp\"") ==
        one("transports/open.cpp includes tests/support/world.hpp; transports may include runtime"));
  CHECK(door_faults("learning/model.hpp", "#include \"types.hpp\"") ==
        one("learning/model.hpp includes types.hpp; begin with the room, as in \"runtime/time.hpp\""));
  CHECK(door_faults("examples/first.cpp", "#include \"runtime/time.hpp\"") ==
        one("examples/first.cpp includes runtime/time.hpp; a user writes <rubato/runtime/time.hpp>"));
  CHECK(door_faults("rubato/run.hpp", "#include \"results/summary.hpp\"") ==
        one("rubato/run.hpp includes results/summary.hpp; rubato may include actors and experiment/file"));
}

TEST_CASE("a library is named only in its own place") {
  CHECK(door_faults("learning/models/mlp.cpp", "#include <caf/all.hpp>") ==
        one("learning/models/mlp.cpp includes caf/all.hpp; CAF is named only in actors/core/caf.hpp, *_actor.hpp and "
            "*_actor.cpp"));
  CHECK(door_faults("actors/core/run_control.hpp", "#include <caf/all.hpp>").size() == 1);
  CHECK(door_faults("actors/virtual/conductor_actor.cpp", "#include <caf/all.hpp>").empty());
  CHECK(door_faults("actors/run.cpp", "#include <boost/asio.hpp>").size() == 1);
  CHECK(door_faults("actors/wall/clock.cpp", "#include <boost/asio.hpp>").empty());
  CHECK(door_faults("transports/in_process.cpp", "#include <zmq.hpp>").size() == 1);
  CHECK(door_faults("transports/zmq.cpp", "#include <zmq.hpp>").empty());
  CHECK(door_faults("runtime/random.hpp", "#include <Random123/philox.h>").size() == 1);
  CHECK(door_faults("runtime/random.cpp", "#include <Random123/philox.h>").empty());
  CHECK(door_faults("runtime/payload.hpp", "#include <Eigen/Core>").size() == 1);
  CHECK(door_faults("results/curve.cpp", "#include <Eigen/Core>").size() == 1);
  CHECK(door_faults("app/run.cpp", "#include <Eigen/Core>").size() == 1);
  CHECK(door_faults("experiment/experiment.cpp", "#include <toml++/toml.h>").size() == 1);
  CHECK(door_faults("actors/virtual/client_actor.cpp", "#include <CLI/CLI.hpp>").size() == 1);
  CHECK(door_faults("algos/draco.cpp", "#include <doctest/doctest.h>").size() == 1);
  CHECK(door_faults("app/run.cpp", "#include <folly/String.h>") ==
        one("app/run.cpp includes folly/String.h; no door leads there (tests/house/doors.cpp lists them)"));
}

TEST_CASE("an open door is open") {
  CHECK(door_faults("actors/virtual/virtual_run.cpp",
                    "#include <vector>\n#include \"actors/core/caf.hpp\"\n#include \"algos/catalogue.hpp\"\n"
                    "#include \"experiment/build/timing.hpp\"\n#include <rubato/runtime/time.hpp>\n// #include <CLI/CLI.hpp>\n")
            .empty());
  CHECK(door_faults("examples/first.cpp", "#include <rubato/run.hpp>\n#include <rubato/results/summary.hpp>\n").empty());
  CHECK(door_faults("tests/algos/draco_test.cpp", "#include \"transports/frame.hpp\"\n#include <caf/all.hpp>").empty());
}

TEST_CASE("folders that include each other, and cellars, are found") {
  FolderGraph graph;
  graph.add("learning/model.hpp", "#include \"learning/data/table.hpp\"\n#include \"runtime/random.hpp\"\n");
  graph.add("learning/data/table.hpp", "#include \"learning/types.hpp\"\n");
  CHECK(graph.faults() == one("learning and learning/data include each other: learning/model.hpp includes "
                              "learning/data/table.hpp, and learning/data/table.hpp includes learning/types.hpp"));
  FolderGraph full;
  for (int i = 0; i < 51; ++i)
    full.add("algos/a" + std::to_string(i) + ".cpp", ""), full.add("results/a" + std::to_string(i) + ".cpp", "");
  CHECK(full.faults() == one("results has 51 files; at most 50 belong in a folder, but for algos, where a file is an algorithm"));
}

TEST_CASE("a header without its guard, a note without its end and a paper nobody has are found") {
  CHECK(header_faults("runtime/time.hpp", "// Time.\nint x;\n").size() == 1);
  CHECK(header_faults("runtime/time.hpp", "// Time.\n#pragma once\nint x;\n").empty());
  CHECK(own_header_faults("runtime/time.cpp", "#include <cmath>\n#include \"runtime/time.hpp\"\n").size() == 1);
  CHECK(own_header_faults("runtime/time.cpp", "#include \"runtime/time.hpp\"\n#include <cmath>\n").empty());
  const std::string note = std::string{"// TO"} + "DO";
  CHECK(word_faults("runtime/time.cpp", "int x;\n" + note + ": later\n") ==
        one("runtime/time.cpp:2 says " + note.substr(3) + " without what would settle it"));
  CHECK(word_faults("runtime/time.cpp", note + ": gone when CAF can pin a worker to a core").empty());
  CHECK(word_faults("runtime/mailbox.hpp", "// algorithms.md 2.4").size() == 1);
}

TEST_CASE("a path that is not there is found") {
  const auto faults = [](std::string_view text) { return page_faults(RUBATO_SOURCE_DIR, "docs/a.md", text); };
  CHECK(faults("`runtime/mailbox`, `runtime/mailbox.hpp`, `runtime/world/`, `tools/test -R x`, `algos/NAME.cpp`, `runs/a`\n"
               "[references](references.md#draco) [house](../tests/house/doors.cpp) [elsewhere](https://a.b/c)\n"
               "```\n`runtime/nothing`\n```\n")
            .empty());
  CHECK(faults("one\n`runtime/mailbocks`\n") == one("docs/a.md:2 names runtime/mailbocks, which does not exist"));
  CHECK(faults("`runtime/mailbox.cpp2`").size() == 1);
  CHECK(faults("`runtime/wurld/`").size() == 1);
  CHECK(faults("[here](nothing.md#there)") == one("docs/a.md:1 names nothing.md, which does not exist"));
}

TEST_CASE("a link line that differs from the doors is answered with a sentence") {
  CHECK(link_faults("algos", {"rubato::learning", "rubato::runtime", "Eigen3::Eigen"}).empty());
  CHECK(link_faults("algos", {"rubato::learning"}) ==
        one("algos does not link rubato::runtime; its doors are learning and runtime"));
  CHECK(link_faults("algos", {"rubato::learning", "rubato::runtime", "rubato::transports"}) ==
        one("algos links rubato::transports; its doors are learning and runtime"));
  CHECK(link_faults("runtime", {"CAF::core"}) == one("runtime links CAF::core; no file in there may include it"));
  CHECK(link_faults("runtime/world", {"rubato::runtime"}).empty());
  CHECK(link_faults("app", {"rubato::actors", "CLI11::CLI11"}).empty());
}
