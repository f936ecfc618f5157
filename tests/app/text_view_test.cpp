// Plots and pages of text: they fit, whatever the terminal and the run are.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

#include "app/text/fitted_line.hpp"
#include "app/text/run_view.hpp"
#include "app/text/text_plot.hpp"

using namespace rubato::app;
using nlohmann::json;

namespace {

// Columns that a line takes on a terminal: escape sequences take none.
std::size_t shown_columns(const std::string& line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b')
      while (line[i] != 'm') ++i;
    else
      text += line[i];
  }
  return columns_of(text);
}

TextPlot plot_of(std::vector<double> xs, std::vector<double> ys) {
  const auto text = [](double value) { return std::to_string(static_cast<int>(value)); };
  return {.title = "a title", .xs = std::move(xs), .lines = {{std::move(ys), "\x1b[32m"}}, .y_text = text, .x_text = text};
}

struct FakeRun {
  std::string id = "one", name = "digits";
  std::size_t samples = 40;
  json answer(const std::string& target) const {
    const auto asked = [&](const char* what) { return target.starts_with(std::string("/api/v1/") + what); };
    if (asked("run"))
      return {{"run_id", id},
              {"name", name},
              {"columns", json::array({{{"name", "seconds"}},
                                       {{"name", "accuracy_mean"}},
                                       {{"name", "accuracy_mean_model"}},
                                       {{"name", "accuracy_min"}},
                                       {{"name", "accuracy_min_client"}},
                                       {{"name", "consensus"}}})}};
    if (asked("tick"))
      return {{"state", "running"},
              {"seconds", 40},
              {"until", 305},
              {"left_seconds", 12},
              {"events_per_second", 63e3},
              {"messages", {{"sent", 1000}, {"delivered", 980}, {"lost", 20}}},
              {"staleness", nullptr}};
    if (asked("hosts"))
      return {{"rows", json::array({{{"name", "b"},
                                     {"state", "lost"},
                                     {"silent_seconds", 4.1},
                                     {"self", false},
                                     {"accuracy", 0.875},
                                     {"worst", 0.5},
                                     {"worst_client", 7},
                                     {"view_age", 5.2}}})}};
    if (asked("events")) return {{"next", 1}, {"rows", json::array({{{"what", "join"}, {"seconds", 3}, {"clients", {7}}}})}};
    json rows = json::array();
    const std::size_t first = target.find("after=") == target.npos ? 0 : std::stoul(target.substr(target.find("after=") + 6)) + 1;
    for (std::size_t i = first; i < samples; ++i) rows.push_back({i, 0.1 + 0.02 * static_cast<double>(i), 0.9, 0.1, 14, "nan"});
    return {{"first", first}, {"next", samples}, {"more", false}, {"rows", rows}, {"clients", {0, 14}}, {"accuracies", {0.9, 0.1}}};
  }
};

}  // namespace

TEST_CASE("a plot is never wider than it may be, and only braille where the terminal has UTF-8") {
  rc::check([] {
    const auto columns = *rc::gen::inRange<std::size_t>(24, 200), rows = *rc::gen::inRange<std::size_t>(4, 40);
    const auto ys = *rc::gen::container<std::vector<double>>(rc::gen::element(0.0, 1.0, -5.0, 1e9, double(NAN), double(INFINITY)));
    std::vector<double> xs;
    for (std::size_t i = 0; i < ys.size(); ++i) xs.push_back(static_cast<double>(i));
    const bool has_utf8 = *rc::gen::arbitrary<bool>(), has_colour = *rc::gen::arbitrary<bool>();
    const auto lines = drawn(plot_of(xs, ys), columns, rows, has_utf8, has_colour);
    RC_ASSERT(lines.size() <= rows + 1);
    for (const std::string& line : lines) {
      RC_ASSERT(shown_columns(line) <= columns);
      if (!has_colour) RC_ASSERT(line.find('\x1b') == std::string::npos);
      if (!has_utf8) RC_ASSERT(std::ranges::all_of(line, [](char letter) { return letter > 0; }));
    }
  });
}

TEST_CASE("a line that rises goes from the lower left to the upper right") {
  const auto lines = drawn(plot_of({0, 1}, {0, 9}), 24, 6, false, false);
  REQUIRE(lines.size() == 6);
  CHECK(lines[1].starts_with("9 "));
  CHECK(lines[1].ends_with("*"));
  CHECK(lines[4].starts_with("0 *"));
  CHECK(lines[5].find("0") < lines[5].find("1"));
}

TEST_CASE("a page fits every terminal, and one that is large enough says all that there is") {
  const FakeRun run;
  RunView view([&](const std::string& target) { return run.answer(target).dump(); });
  view.refresh();
  for (std::size_t columns = 20; columns < 200; columns += 7)
    for (std::size_t rows = 1; rows < 60; rows += 3) {
      const auto lines = view.page({columns, rows, true, true});
      CHECK(lines.size() <= rows);
      for (const std::string& line : lines) CHECK(shown_columns(line) <= columns);
    }
  std::string all;
  for (const std::string& line : view.page({120, 40, true, false})) all += line + "\n";
  for (const char* part :
       {"digits", "running", "40 of 305 s", "0:12 left", "worst 10.0 % client 14", "lost 2.0 %", "host b", "silent for 4.1 s",
        "accuracy 87.5 %, worst 50.0 % of client 7 (5 s ago)", "join client 7", "worst clients  14: 10.0 %"})
    CHECK_MESSAGE(all.find(part) != std::string::npos, part);
}

TEST_CASE("a view asks for what is new alone, and begins anew with another run") {
  FakeRun run;
  std::vector<std::string> asked;
  RunView view([&](const std::string& target) {
    asked.push_back(target);
    return run.answer(target).dump();
  });
  view.refresh();
  asked.clear(), run.samples = 50;
  view.refresh();
  CHECK(std::ranges::find(asked, "/api/v1/samples?after=39&run=0") != asked.end());
  asked.clear(), run.id = "two";
  view.refresh();
  CHECK(std::ranges::find(asked, "/api/v1/samples?run=0") != asked.end());
}

TEST_CASE("a name that would steer the terminal is shown as its bytes") {
  FakeRun run;
  run.name = "a\x1b[2Jb";
  RunView view([&](const std::string& target) { return run.answer(target).dump(); });
  view.refresh();
  CHECK(view.page({120, 40, true, false}).front().find('\x1b') == std::string::npos);
}
