// rubato compare: what it prints, what it leaves, what it returns.
#include <doctest/doctest.h>

#include <csignal>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/app/command.hpp"

namespace fs = std::filesystem;
using namespace rubato::test;
using nlohmann::json;

namespace {

std::string other_experiment(const Folder& folder) {
  std::string text = text_of(small_experiment(folder));
  const std::size_t from = text.find("[algorithm]"), to = text.find("[data]");
  write_text(folder / "other.toml", text.replace(from, to - from, "[algorithm]\nname = \"dpsgd\"\n\n"));
  return folder / "other.toml";
}

}  // namespace

TEST_CASE("compare prints a table of every setting, and leaves it with the curves and a report") {
  const Folder home;
  const Ended ended = run_rubato({"compare", small_experiment(home), other_experiment(home), "--seeds", "3", "--grid",
                                  "algorithm.eta=0.05,0.1", "--target", "0.5", "--out", "both"},
                                 {home.path(), ""});
  CAPTURE(ended.err);
  CHECK(ended.code == 0);
  for (const char* part : {"small algorithm.eta=0.05", "small algorithm.eta=0.1", "other algorithm.eta=0.05", "dpsgd",
                           "loss at seconds", "to accuracy 0.5", "0 of 3", "the comparison is in "})
    CHECK(contains(ended.out, part));
  for (const char* file : {"table.csv", "table.json", "curves.csv", "report.html"}) CHECK(fs::exists(home / "both" / file));
  CHECK(contains(text_of(home / "both/report.html"), "\"bands\""));
  CHECK(json::parse(text_of(home / "both/table.json")).at("settings").size() == 4);
}

TEST_CASE("docs/run-folder.md explains every column and key of a comparison's folder") {
  const Folder home;
  REQUIRE(
      run_rubato({"compare", small_experiment(home), "--seeds", "2", "--target", "0.5", "--quiet", "--out", home / "both"}).code ==
      0);
  const std::string explained = text_of(RUBATO_SOURCE_DIR "/docs/run-folder.md");
  const auto is_explained = [&](const std::string& name) { return contains(explained, "`" + name + "`"); };
  for (const char* table : {"table.csv", "curves.csv"}) {
    CHECK(is_explained(table));
    const std::string text = text_of(home / "both" / table);
    std::istringstream head(text.substr(0, text.find('\n')));
    for (std::string column; std::getline(head, column, ',');) {
      std::string name = column;
      if (name.ends_with("_std")) name.resize(name.size() - 4);
      if (const std::size_t target = name.find("_to_"); target != std::string::npos) name.resize(target);
      if (name.starts_with("reached_")) name = "reached_TARGET";
      CHECK_MESSAGE(is_explained(name), column);
    }
  }
  const json table = json::parse(text_of(home / "both/table.json"));
  const std::function<void(const json&)> check_keys = [&](const json& object) {
    if (!object.is_structured()) return;
    for (const auto& [key, value] : object.items()) {
      if (object.is_object()) CHECK_MESSAGE(is_explained(key), key);
      if (key != "grid") check_keys(value);
    }
  };
  check_keys(table);
}

TEST_CASE("with --json the table is alone on standard output, the same on one thread and on two") {
  const Folder home;
  const Arguments some{"compare", small_experiment(home), "--seeds", "2", "--json", "--axis", "bits", "--threads"};
  Arguments one = some, two = some;
  one.push_back("1"), two.push_back("2");
  json table = json::parse(run_rubato(one).out), other = json::parse(run_rubato(two).out);
  CHECK(contains(table.at("command").get<std::string>(), "compare"));
  for (json* each : {&table, &other}) each->erase("command"), each->erase("started_at");
  CHECK(table == other);
  CHECK(table.at("axis") == "bits");
  CHECK(table.at("settings")[0].at("runs").size() == 2);
}

TEST_CASE("a comparison that cannot be made says why with exit code 2, and leaves foreign folders alone") {
  const Folder home;
  const std::string file = small_experiment(home);
  fs::create_directories(home / "mine");
  write_text(home / "mine/notes.txt", "mine");
  for (const Arguments& wrong : {Arguments{"--axis", "joy"},
                                 {"--target", "2"},
                                 {"--grid", "algorithm.zeta=1"},
                                 {"--grid", "algorithm.eta"},
                                 {"--seeds", "0"},
                                 {"--out", home / "mine"}}) {
    Arguments arguments{"compare", file};
    arguments.insert(arguments.end(), wrong.begin(), wrong.end());
    const Ended ended = run_rubato(arguments);
    CAPTURE(wrong[1]);
    CHECK(ended.code == 2);
    CHECK_FALSE(ended.err.empty());
  }
  CHECK(text_of(home / "mine/notes.txt") == "mine");
}

TEST_CASE("one impossible point of a sweep is in the table and the folder, and the exit code is 2") {
  const Folder home;
  const Ended ended =
      run_rubato({"compare", small_experiment(home), "--seeds", "1", "--grid", "clients.count=6,7", "--set", "topology.kind=torus",
                  "--set", "topology.rows=2", "--set", "topology.columns=3", "--out", home / "both"});
  CAPTURE(ended.err);
  CHECK(ended.code == 2);
  CHECK(contains(ended.out, "small clients.count=7 was refused: "));
  const json settings = json::parse(text_of(home / "both/table.json")).at("settings");
  REQUIRE(settings.size() == 2);
  CHECK(settings[0].at("refusal").is_null());
  CHECK(settings[0].at("runs").size() == 1);
  CHECK(settings[1].at("refusal").get<std::string>().size() > 10);
  CHECK(contains(text_of(home / "both/report.html"), "was refused"));
  CHECK(run_rubato({"check", home / "both"}).code == 0);
}

TEST_CASE("Ctrl-C ends a comparison with what is finished") {
  const Folder home;
  Command command({"compare", small_experiment(home), "--seeds", "4", "--set", "until=1e7", "--out", home / "cut"});
  REQUIRE(becomes_true([&] { return command.catches(SIGINT); }));
  command.send(SIGINT);
  const Ended ended = command.wait();
  CHECK(ended.code == 130);
  CHECK(contains(ended.out, "no run has come to its end"));
  CHECK(fs::exists(home / "cut/report.html"));
}
