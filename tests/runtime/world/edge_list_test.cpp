#include "runtime/world/edge_list.hpp"

#include <doctest/doctest.h>

#include <sstream>

#include "tests/runtime/world/graphs.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

Graph read(const std::string& text, bool is_directed = true) {
  std::istringstream lines(text);
  return read_edge_list(lines, "net.txt", 5, is_directed);
}

std::string refusal_of(const std::string& text, bool is_directed = true) {
  return refusal([&] { read(text, is_directed); });
}

}  // namespace

TEST_CASE("comments, blanks and line ends of any system are skipped") {
  const Graph graph = read("# a net\n\n0 1   # first\r\n\t 1\t2\r\n4 0");
  CHECK(graph.edges() == std::vector<Edge>{{{0}, {1}}, {{1}, {2}}, {{4}, {0}}});
  CHECK(graph.is_directed());
  CHECK_FALSE(read("1 0\n", false).is_directed());
}

TEST_CASE("a bad line is refused with file, line and what is allowed") {
  CHECK(refusal_of("0 1\n1 5\n") == "net.txt, line 2: \"5\" is no client; allowed are 0 .. 4");
  CHECK(refusal_of("-1 2") == "net.txt, line 1: \"-1\" is no client; allowed are 0 .. 4");
  CHECK(refusal_of("1.0 2") == "net.txt, line 1: \"1.0\" is no client; allowed are 0 .. 4");
  CHECK(refusal_of("99999999999999999999 2") == "net.txt, line 1: \"99999999999999999999\" is no client; allowed are 0 .. 4");
  CHECK(refusal_of("1") == "net.txt, line 1: \"1\" is no edge; expected are two client numbers");
  CHECK(refusal_of("1 2 3") == "net.txt, line 1: \"1 2 3\" is no edge; expected are two client numbers");
  CHECK(refusal_of("2 2") == "net.txt, line 1: client 2 has an edge to itself; a client hears itself without one");
}

TEST_CASE("an edge listed twice is refused with both lines") {
  CHECK(refusal_of("1 2\n# more\n1 2\n") == "net.txt, line 3: the edge between 1 and 2 stands on line 1 already");
  CHECK(refusal_of("2 1\n0 1\n1 2\n", false) ==
        "net.txt, line 3: the edge between 1 and 2 stands on line 1 already; an undirected edge is listed once");
  CHECK(refusal_of("2 1\n1 2\n").empty());
}

TEST_CASE("a file that is not there, or a folder, is refused") {
  CHECK(refusal([] { load_edge_list("/nowhere/net.txt", 5, false); }) ==
        "topology.file: \"/nowhere/net.txt\" cannot be read or is empty; it must be a text file of edges");
  CHECK_FALSE(refusal([] { load_edge_list("/tmp", 5, false); }).empty());
}
