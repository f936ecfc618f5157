#include "web/svg.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

#include "tests/web/support.hpp"
#include "web/run_files.hpp"

using namespace rubato;
using namespace rubato::web;
namespace fs = std::filesystem;

namespace {

std::size_t count_of(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("the score of a paper has a stroke for each computation of its stretch and a window for each message merged in it") {
  const TempFolder temp;
  const fs::path folder = run_folder(temp, small_experiment());
  const std::string whole = svg_card(folder, "score", std::pair{0.0, 9.5});
  const Json summary = json_in(folder / "summary.json");
  CHECK(whole.starts_with("<svg xmlns="));
  CHECK(count_of(whole, "stroke=\"#2a6fc9\"") == summary["computations"]);
  CHECK(count_of(whole, "fill-opacity") <= summary["messages"]["delivered"]);
  CHECK(count_of(whole, "fill-opacity") > summary["messages"]["delivered"].get<std::size_t>() * 9 / 10);
  CHECK(count_of(whole, ">×<") == summary["messages"]["lost"]);
  const std::string part = svg_card(folder, "score", std::pair{2.0, 4.0});
  CHECK(count_of(part, "stroke=\"#2a6fc9\"") < count_of(whole, "stroke=\"#2a6fc9\""));
  CHECK(count_of(part, "stroke=\"#6a4fc4\"") == 1);  // the unification at 3 s
}

TEST_CASE("a curve of a paper has a place for each of its samples") {
  const TempFolder temp;
  const fs::path folder = run_folder(temp, small_experiment());
  const std::string loss = svg_card(folder, "loss");
  const std::size_t path = loss.find("<path d=\"");
  const std::string first = loss.substr(path, loss.find("fill", path) - path);
  CHECK(count_of(first, "M") + count_of(first, "L") == Table(folder / "metrics.csv").rows());
  CHECK(loss.find("mean model") != loss.npos);
}

TEST_CASE("a picture that there is not is refused with those that there are") {
  const TempFolder temp;
  const fs::path folder = run_folder(temp, small_experiment());
  CHECK_THROWS_WITH_AS(svg_card(folder, "pie"), "--svg pie: must be one of accuracy, loss, consensus, score",
                       std::invalid_argument);
  CHECK_THROWS_AS(svg_card(folder, "accuracy"), std::invalid_argument);  // nothing is classified
  CHECK_THROWS_AS(svg_card(folder, "score", std::pair{3.0, 2.0}), std::invalid_argument);
}
