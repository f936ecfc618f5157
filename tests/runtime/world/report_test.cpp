#include "runtime/world/report.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/world/topology.hpp"
#include "tests/runtime/world/graphs.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a description names size, connection, degrees and matrices") {
  const std::string text = describe(topologies::star(5, {0}));
  CHECK(holds(text, "clients             5\n"));
  CHECK(holds(text, "links               8, both ways: undirected\n"));
  CHECK(holds(text, "strongly connected  yes\n"));
  CHECK(holds(text, "bipartite           yes\n"));
  CHECK(holds(text, "senders             min 1, mean 1.6, max 4\n"));
  CHECK(holds(text, "metropolis          0           0           yes         0.8             0.2\n"));
  CHECK(holds(text,
              "averaging           topology.mixing = \"averaging\" needs the complete graph; client 1 hears only 1 of 4 others\n"));
  for (const char* kind : {"laplacian", "uniform_row", "uniform_col", "draco_row"}) CHECK(holds(text, std::string(kind) + "  "));
}

TEST_CASE("a graph that falls apart is described with who cannot be reached") {
  const std::string text = describe(Graph(4, true, {{{0}, {1}}, {{2}, {3}}}));
  CHECK(holds(text, "strongly connected  no: the graph falls into 2 parts; no path leads from client 0 to clients 2, 3\n"));
  CHECK(holds(text, "metropolis          topology.mixing = \"metropolis\" needs an undirected graph"));
}

TEST_CASE("a picture shows every client once, on a circle or in a table, and none of too many") {
  const std::string circle = picture(topologies::ring(10));
  for (char digit = '0'; digit <= '9'; ++digit) CHECK(std::count(circle.begin(), circle.end(), digit) == 1);
  CHECK(picture(topologies::complete(3)) == picture(topologies::ring(3)));
  CHECK(picture(topologies::complete(8)).find("receivers (rows) and senders") == 0);
  CHECK(picture(topologies::ring(31)).empty());
  CHECK_FALSE(picture(topologies::ring(1)).empty());
  CHECK(holds(picture(topologies::directed_ring(4)), ":"));
}

TEST_CASE("one matrix is described by its defects, its rate and its gap") {
  const std::string text = describe(weights::metropolis(topologies::star(5, {0})));
  CHECK(holds(text, "symmetric           yes\n"));
  CHECK(holds(text, "smallest weight     0.2\n"));
  CHECK(holds(text, "spectral gap        0.2\n"));
  const std::string uneven = describe(weights::uniform_row(topologies::star(5, {0})));
  CHECK(holds(uneven, "symmetric           no, off by 0.3\n"));
  CHECK(holds(uneven, "spectral gap        -\n"));
}
