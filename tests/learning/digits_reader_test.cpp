#include "learning/digits_reader.hpp"

#include <doctest/doctest.h>

#include "tests/learning/support.hpp"

using namespace rubato;
using test::contains;
using test::Folder;

namespace {

// 64 times the same brightness, then the digit.
std::string line(const std::string& brightness, const std::string& digit) {
  std::string text;
  for (int i = 0; i < 64; ++i) text += brightness + ",";
  return text + digit;
}

std::string reading(const std::string& text) {
  const Folder folder;
  const auto file = folder.write("digits", text);
  return test::complaint([&] { read_digits<float>(file); });
}

}  // namespace

TEST_CASE("digits become rows of brightnesses from 0 to 1, with any line end") {
  const Folder folder;
  const Samples<float> samples = read_digits<float>(folder.write("d", line("16", "3") + "\r\n" + line("4", "9")));
  CHECK(samples.labels == std::vector<Label>{3, 9});
  REQUIRE(samples.features.rows() == 2);
  CHECK(samples.features.row(0).minCoeff() == 1);
  CHECK(samples.features.row(1).maxCoeff() == 0.25f);
}

TEST_CASE("a faulty line of digits is refused with its number") {
  const std::string good = line("1", "1") + "\n";
  CHECK(contains(reading(good + "1,2,3\n"), "digits, line 2: has 3 fields"));
  CHECK(contains(reading(good + line("17", "1")),
                 "digits, line 2: \"17\" stands where a whole number from 0 to 16 belongs"));
  CHECK(contains(reading(good + line("1", "10")), "\"10\" stands where a whole number from 0 to 9 belongs"));
  CHECK(contains(reading(good + line("1x", "1")), "\"1x\" stands where"));
  CHECK(contains(reading(good + line("-1", "1")), "\"-1\" stands where"));
  CHECK(contains(reading(good + "\n" + good), "digits, line 2: has 1 fields"));
  CHECK(contains(reading(""), "digits: is empty"));
}
