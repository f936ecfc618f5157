#include "web/run_files.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <stdexcept>

#include "tests/web/support.hpp"

using namespace rubato::web;

TEST_CASE("a table has its columns and rows, and nan and inf are numbers") {
  const TempFolder temp;
  temp.write("t.csv", "a,b\r\n1,-2.5e3\nnan,inf\n-nan,-inf\n");
  const Table table(temp.file("t.csv"));
  REQUIRE(table.rows() == 3);
  CHECK(table.row(0)[table.column("b")] == -2500);
  CHECK(std::isnan(table.row(1)[0]));
  CHECK(table.row(2)[1] == -INFINITY);
}

TEST_CASE("a table of a head alone has no rows") {
  const TempFolder temp;
  temp.write("t.csv", "a,b\n");
  CHECK(Table(temp.file("t.csv")).rows() == 0);
}

TEST_CASE("a damaged table is refused with its line") {
  const TempFolder temp;
  const auto check = [&](const char* text, const char* sentence) {
    temp.write("t.csv", text);
    CHECK_THROWS_WITH_AS(Table(temp.file("t.csv")), doctest::Contains(sentence), std::invalid_argument);
  };
  check("", "t.csv is empty");
  check("a,b\n1,2\n3\n", "t.csv:3 is damaged");
  check("a,b\n1,2,3\n", "t.csv:2 is damaged");
  check("a,b\n1,two\n", "t.csv:2 is damaged");
  check("a,b\n1,\n", "t.csv:2 is damaged");
}

TEST_CASE("what is missing is named") {
  const TempFolder temp;
  temp.write("t.csv", "a\n1\n");
  CHECK_THROWS_WITH_AS(text_of(temp.file("none.csv")), doctest::Contains("none.csv"), std::invalid_argument);
  CHECK_THROWS_AS(text_of(temp.path()), std::invalid_argument);
  CHECK_THROWS_WITH_AS(Table(temp.file("t.csv")).column("b"), doctest::Contains("has no column b"), std::invalid_argument);
}
